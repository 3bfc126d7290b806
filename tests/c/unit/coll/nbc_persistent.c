/* Proves: all members find the same shared-memory area for each persistent collective (coll/nbc_persistent.h). This
 * holds in whatever order each member closes other areas, and however far one member is ahead. An area belongs to one
 * collective until all members have closed it; then it is cleared for the next collective. If there is no free table
 * entry or no memory, all members use messages for the collective. All memory is released. */
#include "../unit.h"

#include "coll/nbc_persistent.h"

enum { MAX_RANKS = 6, NUMBERS = 3000, LIVE = 90, BLOCKS = 400 };

static int n, max_live;
static struct gompi_nbc *parents[MAX_RANKS];

/* The area that each member uses for each collective, by the number of the collective. NULL if the member uses
 * messages. */
static void *areas_of[MAX_RANKS][NUMBERS + 1];

static char *block[BLOCKS];
static gompi_a32 taken, given, refuse_interval;

static uint64_t alloc_test_block(uintptr_t owner, uint64_t bytes) {
	uint32_t i = gompi_add(&taken, 1), every = gompi_load(&refuse_interval);
	(void)owner;
	if (every > 0 && i % every == 0) {
		gompi_add(&given, 1);
		return 0;
	}
	if (i >= BLOCKS)
		abort();
	block[i] = unit_memory(bytes);
	return (uint64_t)i << 12 | 1;
}

static void *open_block(uintptr_t owner, uint64_t name, uint64_t bytes) {
	(void)owner, (void)bytes;
	return block[name >> 12];
}

static void free_test_block(uintptr_t owner, uint64_t name, uint64_t bytes) {
	(void)owner, (void)name, (void)bytes;
	gompi_add(&given, 1);
}

static unsigned draw(unsigned *state, unsigned below) {
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8) % below;
}

/* Checks that each member's part of the area is still empty, or was written for the collective that owns the area. */
static void check_owner(const struct gompi_nbc *b) {
	for (int i = 0; i < b->n; i++) {
		uint64_t there = gompi_load_acquire(&b->member[i].header[0].number);
		CHECK(there == 0 || there == b->number, "area of %d has the data of %d", (int)b->number, (int)there);
	}
}

static void member(int me) {
	struct gompi_nbc *live[LIVE];
	unsigned random_state = 77U * (unsigned)me + 5;
	int count = 0;
	for (uint64_t number = 1; number <= NUMBERS; number++) {
		bool messages;
		struct gompi_nbc *b = gompi_nbc_persistent_open(parents[me], number, &messages);
		CHECK(messages == (b == NULL), "number %d: an area and messages", (int)number);
		areas_of[me][number] = b != NULL ? (void *)b->member : NULL;
		if (b != NULL) {
			CHECK(gompi_load(&b->member[me].header[0].number) == 0, "the area of %d is not zero",
			      (int)number);
			gompi_store_release(&b->member[me].header[0].number, number);
			check_owner(b);
			live[count++] = b;
		}
		while (count == max_live ||
		       (count > 0 && draw(&random_state, 4 * (unsigned)max_live) < (unsigned)count)) {
			int k = (int)draw(&random_state, (unsigned)count);
			check_owner(live[k]);
			gompi_nbc_persistent_close(live[k]);
			live[k] = live[--count];
		}
		if (draw(&random_state, 16) == 0)
			sched_yield();
	}
	while (count > 0)
		gompi_nbc_persistent_close(live[--count]);
}

static void run(int members, int live, unsigned refused) {
	int32_t peers[MAX_RANKS] = {0};
	n = members, max_live = live;
	unit_node(1);
	gompi_go_callbacks.alloc_block = alloc_test_block, gompi_go_callbacks.map_block = open_block,
	gompi_go_callbacks.free_block = free_test_block;
	gompi_store(&taken, 0), gompi_store(&given, 0), gompi_store(&refuse_interval, refused);
	size_t bytes = (size_t)n * sizeof(struct gompi_nbc_member) + sizeof(struct gompi_nbc_table);
	char *memory = unit_memory(bytes);
	for (int i = 0; i < n; i++)
		if ((parents[i] = gompi_nbc_open(memory, n, i, peers, 0)) == NULL)
			abort();
	unit_threads(n, member);
	int areas = 0;
	for (int k = 1; k <= NUMBERS; k++) {
		areas += areas_of[0][k] != NULL;
		for (int i = 1; i < n; i++)
			CHECK(areas_of[i][k] == areas_of[0][k], "number %d: member %d has another area than member 0",
			      k, i);
	}
	CHECK(areas > NUMBERS / 100, "%d members had only %d areas", n, areas);
	CHECK(live < GOMPI_NBC_MAX_PERSISTENT || areas < NUMBERS, "there were never too many");
	gompi_nbc_persistent_reset(parents[0]);
	CHECK(gompi_load(&taken) == gompi_load(&given), "%u blocks taken, %u given back", gompi_load(&taken),
	      gompi_load(&given));
	for (size_t i = 0; i < bytes; i++)
		CHECK(memory[i] == 0, "byte %d of the communicator's memory is not zero", (int)i);
	for (int i = 0; i < n; i++)
		gompi_nbc_close(parents[i]);
}

int main(void) {
	for (int members = 1; members <= MAX_RANKS; members++) {
		run(members, 3, 0);
		run(members, LIVE, 0);
	}
	run(3, 20, 3);
	return unit_end();
}
