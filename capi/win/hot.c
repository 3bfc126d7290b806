#include "win/hot.h"

#include "base/wait.h"

void gompi_hot_told(struct gompi_win *w) {
	if (!gompi_member(w, w->me)->may_move)
		return; // nobody has a reason to say so
	if (gompi_swap_total(&w->hot, 1) == 0)
		gompi_add_total(&gompi_hot, 1);
	gompi_or_total(&w->flush_more, FLUSH_HOT);
	gompi_hot_ring();
}

bool gompi_hot_take(uintptr_t handle) {
	struct gompi_win *w = gompi_win_get((MPI_Win)handle);
	if (w == NULL || gompi_load(&w->hot) == 0)
		return false;
	gompi_and_total(&w->flush_more, ~(uint32_t)FLUSH_HOT);
	if (gompi_swap_total(&w->hot, 0) == 0)
		return false;
	gompi_sub_total(&gompi_hot, 1);
	return true;
}

bool gompi_hot_begin(uintptr_t handle) {
	enum { LOOKS = 1000 }; // at system calls of others, which take a microsecond each unless they move much
	struct gompi_win *w = gompi_win_get((MPI_Win)handle);
	if (w == NULL)
		return false;
	struct gompi_win_member *m = gompi_member(w, w->me);
	gompi_store_total(&m->place, GOMPI_MOVES);
	gompi_full_fence(); // pairs with gompi_hot_write
	for (int i = 0; gompi_load_total(&m->writers) != 0; i++) {
		if (i == LOOKS) {
			gompi_store_total(&m->place, GOMPI_PRIVATE);
			return false;
		}
		int64_t now = gompi_now_ns();
		gompi_yield_long(&now);
	}
	return true;
}

void gompi_hot_end(uintptr_t handle, uint32_t place, int64_t heap, uint32_t again) {
	struct gompi_win *w = gompi_win_get((MPI_Win)handle);
	if (w == NULL)
		return;
	struct gompi_win_member *m = gompi_member(w, w->me);
	gompi_store(&m->heap, (uint64_t)heap);
	gompi_store_total(&m->place, place); // a release: heap and the memory's new place are before it
	if (place == GOMPI_PRIVATE && again != 0) {
		gompi_store(&m->used, 0);
		gompi_store_total(&m->hot_at, again);
	}
}
