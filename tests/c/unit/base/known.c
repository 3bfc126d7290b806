/* Proves: threads that ask about an object at once (base/known.h) find one slot, which stays while they read it, though
 * others have it forgotten meanwhile; what has been forgotten is not found; a slot that is not needed is used again,
 * and no more are given out than may be. */
#include "../unit.h"

#include "base/known.h"

struct slot {
	uintptr_t handle;
	gompi_a32 ended; /* 1: nobody may read it */
	struct slot *next;
};

enum { HANDLES = 7, ROUNDS = 20000, READERS = 3, MOST = 5 };

static gompi_a32 gone; /* objects that there are not, one bit each */

static bool tell(uintptr_t handle);
static bool (*ask)(uintptr_t) = tell;
static void end(void *slot) {
	gompi_store(&((struct slot *)slot)->ended, 1);
	free(slot);
}

static struct gompi_known changing = {.table = {&gompi_table_nothing}, .ask = &ask, .end = end, .changes = true};

static bool tell(uintptr_t handle) {
	if (gompi_load(&gone) >> handle & 1)
		return false;
	struct slot *s = calloc(1, sizeof *s);
	s->handle = handle;
	return gompi_known_keep(&changing, handle, s);
}

static void read_or_forget(int i) {
	for (int k = 0; k < ROUNDS; k++) {
		uintptr_t h = (uintptr_t)(k % HANDLES);
		if (i == READERS) {
			gompi_known_forget(&changing, h);
			continue;
		}
		const struct slot *s = gompi_known_read(&changing, h);
		CHECK(s != NULL && s->handle == h, "round %d: another object", k);
		CHECK(gompi_load((gompi_a32 *)&s->ended) == 0, "round %d: an object that was ended", k);
		gompi_known_done(&changing);
	}
}

static void threads(void) {
	unit_threads(READERS + 1, read_or_forget);
	gompi_store(&gone, ~0U);
	for (uintptr_t h = 0; h < HANDLES; h++) {
		gompi_known_forget(&changing, h);
		CHECK(gompi_known_read(&changing, h) == NULL, "%d is found", (int)h);
		CHECK(gompi_known_get(&changing, h) == NULL, "%d is found", (int)h);
	}
}

static void limited(void) {
	static struct gompi_known k = {.table = {&gompi_table_nothing},
				       .most = MOST,
				       .spares = {sizeof(struct slot), offsetof(struct slot, next), NULL}};
	for (int round = 0; round < 3; round++) {
		for (uintptr_t h = 0; h < MOST; h++) {
			CHECK(gompi_known_keep(&k, h, gompi_known_take(&k)), "no memory");
			CHECK(gompi_table_get(&k.table, h) != NULL, "%d is not found", (int)h);
		}
		CHECK(gompi_known_take(&k) == NULL, "one more than may be");
		for (uintptr_t h = 0; h < MOST; h++)
			gompi_known_forget(&k, h);
		struct slot *first = gompi_known_take(&k), *second = gompi_known_take(&k);
		CHECK(gompi_known_keep(&k, 1, first) && gompi_known_keep(&k, 1, second), "no memory");
		CHECK(gompi_table_get(&k.table, 1) == first, "the second slot of an object is found");
		CHECK(gompi_known_take(&k) == second, "the second slot is not used again");
		gompi_known_give(&k, second);
		gompi_known_forget(&k, 1);
	}
}

int main(void) {
	threads();
	limited();
	return unit_end();
}
