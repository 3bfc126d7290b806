/* Proves: handles of requests (message/request.c) lead to their request and to no other: not those that were given
 * back, however many have been made since, while the tables grow under threads that look; a number comes again
 * late. So do the numbers that records refer to: an answer that is late or made up finds nothing. */
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

/* --- Against a plain table */

static void against_plain(void) {
	enum { MOST = 5000, STEPS = 300000, OLD = 20000 };
	static struct gompi_request *live[MOST];
	static uintptr_t handle[MOST], old[OLD];
	int n = 0, olds = 0;
	uint32_t x = 5;
	open_one();
	CHECK(of((uintptr_t)GOMPI_REQUEST << 27) == NULL, "a handle before there is any");
	for (int step = 0; step < STEPS; step++) {
		int most = step / 20000 % 3 == 0 ? 10 : step / 20000 % 3 == 1 ? MOST : 300;
		if (n < most && (n == 0 || next(&x) % 2 == 0)) {
			live[n] = make((int)(next(&x) % GOMPI_LANES), &handle[n]);
			CHECK(handle[n] >> 27 == GOMPI_REQUEST, "handle %#zx", (size_t)handle[n]);
			n++;
		} else {
			int i = (int)(next(&x) % (uint32_t)n);
			CHECK(of(handle[i]) == live[i], "step %d: a handle leads elsewhere", step);
			end(live[i]);
			CHECK(of(handle[i]) == NULL, "step %d: a handle that was given back", step);
			old[olds++ % OLD] = handle[i];
			n--;
			live[i] = live[n], handle[i] = handle[n];
		}
		if (olds > 0) {
			uintptr_t h = old[next(&x) % (uint32_t)(olds < OLD ? olds : OLD)];
			CHECK(of(h) == NULL, "step %d: an old handle", step);
		}
		if (step % 10007 == 0)
			for (int i = 0; i < n; i++)
				CHECK(of(handle[i]) == live[i], "step %d: handle %d", step, i);
	}
	for (uint32_t k = 0; k < 100000; k++) /* made up */
		of((uintptr_t)GOMPI_REQUEST << 27 | (next(&x) << 12 ^ next(&x)) % (1U << 27));
	while (n > 0)
		end(live[--n]);
	close_one();
}

/* One after the other, with some that stay: no handle comes again soon. */
static void late(void) {
	enum { KEPT = 100, ROUNDS = 3000000, NUMBERS = 1 << GOMPI_REQUEST_NUMBER_BITS };
	uint8_t *used = calloc(1, NUMBERS / 8);
	struct gompi_request *kept[KEPT], *r;
	uintptr_t h;
	open_one();
	for (int i = 0; i < KEPT; i++)
		kept[i] = make(1, &h);
	for (int i = 0; i < ROUNDS; i++) {
		r = make(1, &h);
		uint32_t number = (uint32_t)h % NUMBERS;
		if (used[number / 8] >> number % 8 & 1) {
			CHECK(0, "number %u came again after at most %d others", number, i);
			break;
		}
		used[number / 8] |= (uint8_t)(1 << number % 8);
		end(r);
	}
	for (int i = 0; i < KEPT; i++)
		end(kept[i]);
	close_one();
	free(used);
}

/* --- Threads that look while the table grows */

enum { LOOKERS = 3, WATCHED = 50, GROWTH = 20000 };
static struct gompi_request *watched[WATCHED];
static uintptr_t watched_handle[WATCHED];
static gompi_a32 grown;

static void look(int i) {
	if (i == LOOKERS) {
		static struct gompi_request *more[GROWTH];
		uintptr_t h;
		for (int k = 0; k < GROWTH; k++) {
			more[k] = make(2, &h);
			if (k % 3 == 0) {
				end(more[k]);
				more[k] = NULL;
			}
		}
		for (int k = 0; k < GROWTH; k++)
			if (more[k] != NULL)
				end(more[k]);
		gompi_store(&grown, 1);
		return;
	}
	do
		for (int k = 0; k < WATCHED; k++)
			CHECK(of(watched_handle[k]) == watched[k], "handle %d leads elsewhere while the table grows",
			      k);
	while (gompi_load(&grown) == 0);
}

static void growth(void) {
	open_one();
	for (int i = 0; i < WATCHED; i++)
		watched[i] = make(2, &watched_handle[i]);
	unit_threads(LOOKERS + 1, look);
	for (int i = 0; i < WATCHED; i++)
		end(watched[i]);
	close_one();
}

/* --- Numbers */

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
		for (int i = 0; i < 1000; i++) /* made up */
			gompi_number_get(&s, (uint64_t)next(&x) << 40 ^ (uint64_t)next(&x) << 20 ^ next(&x));
		CHECK(gompi_number_get(&s, id[0] ^ 1ULL << 63) == NULL, "another generation");
		for (int i = n - 1; i >= 0; i--) {
			int k = (i * 7 + 3) % n; /* some order; all of them if n and 7 have no common divisor */
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
	against_plain();
	late();
	growth();
	numbers();
	return unit_end();
}
