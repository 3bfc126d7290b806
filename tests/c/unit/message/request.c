/* Proves: a lookup of a request handle (message/request.c) finds the request in any VCI, until the request is freed. A
 * lookup of the request id in a record does the same, so a late or forged answer finds no request. base/table.c tests
 * other properties of handles. */
#include "../unit.h"

#include "message/call.h"
#include "message/engine.h"

static struct gompi_messages *m;

static uint32_t next(uint32_t *x) { return (*x = *x * 1664525 + 1013904223) >> 8; }

static void open_one(void) {
	size_t cells = 4096 + 4096, rings = (size_t)GOMPI_VCI_COUNT * GOMPI_INBOX_SIZE;
	char *control = unit_memory(cells + rings);
	m = gompi_engine_open(&(struct gompi_engine_config){.control = control,
							    .rings = control + cells,
							    .cell_stride = 4096,
							    .ring_stride = rings,
							    .n = 1,
							    .processes = unit_processes(1, NULL, NULL)});
	if (m == NULL)
		abort();
	gompi_store_release(&gompi_app_messages, m);
}

static void close_one(void) {
	gompi_store_release(&gompi_app_messages, NULL);
	gompi_engine_close(m);
}

static struct gompi_request *make(int vci, uintptr_t *handle) {
	struct gompi_vci *l = &m->vci[vci];
	gompi_vci_lock(l);
	struct gompi_request *r = gompi_request_alloc(l);
	bool fine = r != NULL && gompi_request_add_handle(r);
	gompi_vci_unlock(l);
	if (!fine)
		abort();
	*handle = gompi_request_handle(r);
	return r;
}

static void end(struct gompi_request *r) {
	struct gompi_vci *l = r->vci;
	gompi_vci_lock(l);
	gompi_request_drop_handle(r);
	gompi_request_release(r);
	gompi_vci_unlock(l);
}

static struct gompi_request *request_for(uintptr_t handle) { return gompi_request_of((MPI_Request)handle); }

/* Allocates requests in all VCIs and looks them up. */
static void in_vcis(void) {
	enum { EACH = 200 };
	static struct gompi_request *live[EACH * GOMPI_VCI_COUNT];
	static uintptr_t handle[EACH * GOMPI_VCI_COUNT];
	open_one();
	CHECK(request_for((uintptr_t)GOMPI_KIND_REQUEST << GOMPI_KIND_BITS) == NULL, "a handle before there is any");
	for (int i = 0; i < EACH * GOMPI_VCI_COUNT; i++) {
		live[i] = make(i % GOMPI_VCI_COUNT, &handle[i]);
		CHECK(handle[i] >> GOMPI_KIND_BITS == GOMPI_KIND_REQUEST, "handle %#zx", (size_t)handle[i]);
	}
	for (int i = 0; i < EACH * GOMPI_VCI_COUNT; i++)
		CHECK(request_for(handle[i]) == live[i], "handle %d leads elsewhere", i);
	for (int i = 0; i < EACH * GOMPI_VCI_COUNT; i++) {
		end(live[i]);
		CHECK(request_for(handle[i]) == NULL, "handle %d was given back", i);
	}
	close_one();
}

/* --- Request ids in records */

static void id_tables(void) {
	enum { MAX_REQUESTS = 10000, OLD = 50000, ROUNDS = 40 };
	static struct gompi_request requests[MAX_REQUESTS];
	static uint64_t id[MAX_REQUESTS], old[OLD];
	struct gompi_id_table s = {0};
	uint32_t x = 3;
	int olds = 0;
	CHECK(gompi_id_find(&s, 1ULL << 32) == NULL, "a number before there is any");
	for (int round = 0; round < ROUNDS; round++) {
		int n = round % 3 == 0 ? MAX_REQUESTS : 1 + (int)(next(&x) % 100);
		for (int i = 0; i < n; i++) {
			id[i] = gompi_id_add(&s, &requests[i]);
			CHECK(id[i] >> 32 != 0, "the upper half of id %#llx is 0", (unsigned long long)id[i]);
		}
		CHECK(gompi_load(&s.used) == n, "%d are in use", (int)gompi_load(&s.used));
		for (int i = 0; i < n; i++)
			CHECK(gompi_id_find(&s, id[i]) == &requests[i], "round %d: number %d", round, i);
		for (int i = 0; i < olds && i < OLD; i++)
			CHECK(gompi_id_find(&s, old[i]) == NULL, "round %d: an old number", round);
		for (int i = 0; i < 1000; i++) /* looks up random ids */
			gompi_id_find(&s, (uint64_t)next(&x) << 40 ^ (uint64_t)next(&x) << 20 ^ next(&x));
		CHECK(gompi_id_find(&s, id[0] ^ 1ULL << 63) == NULL, "another generation");
		for (int i = n - 1; i >= 0; i--) {
			int k = (i * 7 + 3) % n; /* each request once: n and 7 are coprime */
			if (n % 7 == 0)
				k = i;
			gompi_id_remove(&s, id[k]);
			CHECK(gompi_id_find(&s, id[k]) == NULL, "round %d: a number that was given back", round);
			old[olds++ % OLD] = id[k];
		}
		CHECK(gompi_load(&s.used) == 0, "%d are in use", (int)gompi_load(&s.used));
		if (n == MAX_REQUESTS)
			CHECK(s.entries == NULL && s.capacity == 0, "the table is not freed");
	}
	free(s.entries);
}

int main(void) {
	unit_node(1);
	in_vcis();
	id_tables();
	return unit_end();
}
