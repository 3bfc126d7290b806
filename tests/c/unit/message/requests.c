/* Proves: the handle of a request (message/request.c) leads to its request, in whichever lane that is, until the
 * request ends (base/table.c tests the rest). The same holds for the numbers that records refer to: a late or forged
 * answer finds no request. */
#include "../unit.h"

#include "message/call.h"
#include "message/engine.h"

static struct gompi_messages *m;

static uint32_t next(uint32_t *x) { return (*x = *x * 1664525 + 1013904223) >> 8; }

static void open_one(void) {
	size_t cells = 4096 + 4096, rings = (size_t)GOMPI_LANES * GOMPI_INBOX_SIZE;
	char *control = unit_memory(cells + rings);
	m = gompi_engine_open(&(struct gompi_engine_place){.control = control,
							   .rings = control + cells,
							   .cell_stride = 4096,
							   .ring_stride = rings,
							   .n = 1,
							   .processes = unit_processes(1, NULL, NULL)});
	if (m == NULL)
		abort();
	gompi_store_release(&gompi_messages_here, m);
}

static void close_one(void) {
	gompi_store_release(&gompi_messages_here, NULL);
	gompi_engine_close(m);
}

static struct gompi_request *make(int lane, uintptr_t *handle) {
	struct gompi_lane *l = &m->lane[lane];
	gompi_lane_take(l);
	struct gompi_request *r = gompi_request_take(l);
	bool fine = r != NULL && gompi_request_add(r);
	gompi_lane_give(l);
	if (!fine)
		abort();
	*handle = gompi_request_handle(r);
	return r;
}

static void end(struct gompi_request *r) {
	struct gompi_lane *l = r->lane;
	gompi_lane_take(l);
	gompi_request_remove(r);
	gompi_request_give(r);
	gompi_lane_give(l);
}

static struct gompi_request *of(uintptr_t handle) { return gompi_request_of((MPI_Request)handle); }

/* Uses all lanes at once. */
static void in_lanes(void) {
	enum { EACH = 200 };
	static struct gompi_request *live[EACH * GOMPI_LANES];
	static uintptr_t handle[EACH * GOMPI_LANES];
	open_one();
	CHECK(of((uintptr_t)GOMPI_KIND_REQUEST << GOMPI_KIND_BITS) == NULL, "a handle before there is any");
	for (int i = 0; i < EACH * GOMPI_LANES; i++) {
		live[i] = make(i % GOMPI_LANES, &handle[i]);
		CHECK(handle[i] >> GOMPI_KIND_BITS == GOMPI_KIND_REQUEST, "handle %#zx", (size_t)handle[i]);
	}
	for (int i = 0; i < EACH * GOMPI_LANES; i++)
		CHECK(of(handle[i]) == live[i], "handle %d leads elsewhere", i);
	for (int i = 0; i < EACH * GOMPI_LANES; i++) {
		end(live[i]);
		CHECK(of(handle[i]) == NULL, "handle %d was given back", i);
	}
	close_one();
}

/* --- Numbers in records */

static void numbers(void) {
	enum { MOST = 10000, OLD = 50000, ROUNDS = 40 };
	static struct gompi_request requests[MOST];
	static uint64_t id[MOST], old[OLD];
	struct gompi_numbers s = {0};
	uint32_t x = 3;
	int olds = 0;
	CHECK(gompi_number_get(&s, 1ULL << 32) == NULL, "a number before there is any");
	for (int round = 0; round < ROUNDS; round++) {
		int n = round % 3 == 0 ? MOST : 1 + (int)(next(&x) % 100);
		for (int i = 0; i < n; i++) {
			id[i] = gompi_number_add(&s, &requests[i]);
			CHECK(id[i] >> 32 != 0, "number %#llx says that there is none", (unsigned long long)id[i]);
		}
		CHECK(gompi_load(&s.used) == n, "%d are in use", (int)gompi_load(&s.used));
		for (int i = 0; i < n; i++)
			CHECK(gompi_number_get(&s, id[i]) == &requests[i], "round %d: number %d", round, i);
		for (int i = 0; i < olds && i < OLD; i++)
			CHECK(gompi_number_get(&s, old[i]) == NULL, "round %d: an old number", round);
		for (int i = 0; i < 1000; i++) /* random numbers */
			gompi_number_get(&s, (uint64_t)next(&x) << 40 ^ (uint64_t)next(&x) << 20 ^ next(&x));
		CHECK(gompi_number_get(&s, id[0] ^ 1ULL << 63) == NULL, "another generation");
		for (int i = n - 1; i >= 0; i--) {
			int k = (i * 7 + 3) % n; /* a permutation if n and 7 are coprime */
			if (n % 7 == 0)
				k = i;
			gompi_number_remove(&s, id[k]);
			CHECK(gompi_number_get(&s, id[k]) == NULL, "round %d: a number that was given back", round);
			old[olds++ % OLD] = id[k];
		}
		CHECK(gompi_load(&s.used) == 0, "%d are in use", (int)gompi_load(&s.used));
		if (n == MOST)
			CHECK(s.at == NULL && s.room == 0, "so many places are not kept");
	}
	free(s.at);
}

int main(void) {
	unit_node(1);
	in_lanes();
	numbers();
	return unit_end();
}
