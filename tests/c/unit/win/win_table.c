/* Proves: the library keeps the memory of the descriptors (win/win_table.c) of only the last few freed windows. It
 * keeps this memory so that an erroneous late call finds valid memory. Window descriptors are reused.
 *
 * sanitizer: address (one thread)
 */
#include "../unit.h"

enum { WINDOWS = 100, ROUNDS = 5, MAX_CACHED = 16 };

static struct gompi_win *seen[WINDOWS * ROUNDS];

/* Returns the number of different descriptors among the first n in `seen`. */
static int count_descriptors(int n) {
	int different = 0;
	for (int i = 0; i < n; i++) {
		bool again = false;
		for (int k = 0; k < i && !again; k++)
			again = seen[k] == seen[i];
		different += !again;
	}
	return different;
}

int main(void) {
	static char memory[64];
	unit_node(1);
	for (int round = 0; round < ROUNDS; round++) {
		struct gompi_win **w = seen + (ptrdiff_t)round * WINDOWS;
		for (int i = 0; i < WINDOWS; i++)
			w[i] = unit_window(64, memory, 1, true);
		for (int i = 0; i < WINDOWS; i++)
			gompi_win_close(w[i]->handle);
		int cached_count = 0;
		for (int i = 0; i < WINDOWS; i++)
			cached_count += w[i]->targets != NULL;
		CHECK(cached_count <= MAX_CACHED, "round %d: %d freed windows keep their memory", round, cached_count);
		CHECK(w[WINDOWS - 1]->targets != NULL && w[WINDOWS - 1]->n == 64,
		      "round %d: the last window's memory is freed at once", round);
	}
	int used = count_descriptors(WINDOWS * ROUNDS);
	CHECK(used <= WINDOWS + MAX_CACHED, "%d descriptors for %d windows at a time", used, WINDOWS);
	return unit_end();
}
