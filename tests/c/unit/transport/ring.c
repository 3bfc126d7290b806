/* Proves: operations that several threads send through a ring (transport/ring.h) are applied exactly once, and those of
 * each thread in order. This holds whichever thread serves the ring, and also when the ring is full. Replies reach
 * their origin, and a flush ends. If another process overwrites a packet while it is applied, only the result of this
 * packet is affected. No byte outside of the window changes, because the target validates a copy of the packet's fields
 * and then uses that copy. */
#include "../unit.h"

#include "transport/ring.h"
#include "transport/transport.h"

enum { ORIGINS = 4, ROUNDS = 3000, FLIPS = 200000, SIZE = 4096 };

static struct gompi_win *w;
static int64_t *numbers; /* the window; [0] is a counter of all origins, [i] a value of origin i */
static gompi_a32 over;

static int send(enum gompi_packet_kind kind, MPI_Op op, uint64_t offset, const void *from, void *back, uint64_t bytes) {
	struct gompi_operation operation = {.call = "test", .target = 0, .op = op};
	struct gompi_outgoing o = {.operation = &operation,
				   .kind = kind,
				   .offset = offset,
				   .type = kind >= PACKET_ACCUMULATE ? MPI_INT64_T : MPI_BYTE,
				   .origin = from,
				   .result = back,
				   .element_bytes = kind >= PACKET_ACCUMULATE ? 8 : 1,
				   .bytes = bytes,
				   .wants_reply = back != NULL};
	return gompi_ring_send(w, &o);
}

/* Serves the ring in thread 0; the other threads are origins. */
static void exchange(int i) {
	if (i == 0) {
		while (gompi_load_acquire(&over) < ORIGINS)
			if (!gompi_ring_serve())
				sched_yield();
		return;
	}
	uint64_t mine = 8 * (uint64_t)i;
	for (int64_t k = 1; k <= ROUNDS; k++) {
		int64_t one = 1, was = -1, result = -1;
		/* a put, a fetch that must return the value put, and a sum for which the origin does not wait */
		CHECK(send(PACKET_PUT, MPI_OP_NULL, mine, &k, NULL, 8) == MPI_SUCCESS, "put");
		CHECK(send(PACKET_FETCH, MPI_NO_OP, mine, NULL, &was, 8) == MPI_SUCCESS && was == k, "%lld, not %lld",
		      (long long)was, (long long)k);
		CHECK(send(PACKET_ACCUMULATE, MPI_SUM, 0, &one, NULL, 8) == MPI_SUCCESS, "sum");
		if (k % 100 == 0) {
			/* more puts than the ring has cells, without a wait: the last one must win */
			for (int64_t m = 0; m < 2 * GOMPI_RING_CELLS; m++)
				send(PACKET_PUT, MPI_OP_NULL, mine, &m, NULL, 8);
			CHECK(gompi_ring_flush(w, 0, "test") == MPI_SUCCESS, "wait");
			CHECK(send(PACKET_GET, MPI_OP_NULL, mine, NULL, &result, 8) == MPI_SUCCESS &&
				      result == 2 * GOMPI_RING_CELLS - 1,
			      "%lld is there after %d puts", (long long)result, 2 * GOMPI_RING_CELLS);
		}
	}
	CHECK(gompi_ring_flush(w, GOMPI_ALL, "test") == MPI_SUCCESS, "wait");
	gompi_add_seq_cst(&over, 1);
}

#ifndef __SANITIZE_THREAD__ /* the thread sanitizer would rightly report flips as a data race */
static struct gompi_ring_cell *cells(void) {
	return (struct gompi_ring_cell *)((struct gompi_ring *)(void *)gompi_node.operation_rings)->cells;
}

/* Sends operations and serves the ring in thread 0. Meanwhile thread 1 writes random values into the cells. */
static void flips(int i) {
	static const uint64_t wild[] = {0, 1, 8, 976, 977, 4095, 4096, 4097, 1 << 20, INT64_MAX, UINT64_MAX - 7};
	uint64_t state = 3, number = sizeof wild / sizeof *wild;
	char data[512];
	memset(data, i, sizeof data);
	for (int k = 0; i == 0 && k < FLIPS; k++) {
		send(k % 2 == 0 ? PACKET_PUT : PACKET_ACCUMULATE, k % 2 == 0 ? MPI_OP_NULL : MPI_SUM,
		     (uint64_t)(k % 7) * 512, data, NULL, k % 3 == 0 ? 8 : sizeof data);
		gompi_ring_serve();
	}
	if (i == 0)
		gompi_store_release(&over, ORIGINS + 1);
	while (i == 1 && gompi_load_acquire(&over) <= ORIGINS)
		for (int c = 0; c < GOMPI_RING_CELLS; c++) {
			struct gompi_packet *m =
				&((struct gompi_ring_cell *)(void *)((char *)cells() + c * GOMPI_RING_CELL))->packet;
			uint64_t x = wild[check_random(&state) % number];
			switch (check_random(&state) % 4) {
			case 0:
				m->head.length = (uint16_t)x;
				break;
			case 1:
				m->bytes = x;
				break;
			case 2:
				m->offset = x;
				break;
			default:
				m->head.kind = (uint8_t)(check_random(&state) % 10 | (x & 0xc0));
			}
			__asm__ volatile("" ::: "memory");
		}
}
#endif

int main(void) {
	unit_types();
	for (int oversubscribed = 0; oversubscribed < 2; oversubscribed++) {
		unit_node(1);
		gompi_node.policy.is_oversubscribed = oversubscribed;
		unit_hurry = unit_sleep_forever = true;
		gompi_ring_open();
		char *memory = unit_memory(SIZE);
		w = unit_window(1, memory, SIZE, false);
		numbers = (int64_t *)(void *)memory;
		gompi_store(&over, 0);
		unit_threads(1 + ORIGINS, exchange);
		CHECK(numbers[0] == ORIGINS * ROUNDS, "%lld, not %d", (long long)numbers[0], ORIGINS * ROUNDS);
#ifndef __SANITIZE_THREAD__
		unit_threads(2, flips);
#endif
		unit_hurry = unit_sleep_forever = false;
	}
	return unit_end();
}
