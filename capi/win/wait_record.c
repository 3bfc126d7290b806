// The description of a window in the wait record of a thread that is about to sleep (struct gompi_wait_record).
#include "base/wait.h"
#include "win/win.h"
#include "win/win_table.h"

// Stores the origins of the open exposure epoch, and how many of them have not called MPI_Win_complete.
static void fill_exposure_wait(const struct gompi_win *w, struct gompi_wait_details *t) {
	const struct gompi_win_group *g = &w->post_group;
	struct gompi_ranks origins = {0};
	for (int i = 0; i < g->size; i++)
		if (!gompi_ranks_append(&origins, gompi_win_peer(w, g->ranks[i]), g->size))
			break; // out of memory: only the members so far are reported
	gompi_fill_wait_ranks(t, &origins);
	gompi_ranks_release(&origins);
	t->pending_count = (int32_t)(w->expected_completes - gompi_load(&gompi_member(w, w->me)->complete_count));
}

bool gompi_win_fill_wait_record(const struct gompi_wait_desc *waiting, struct gompi_wait_details *t) {
	const MPI_Win win = (MPI_Win)(uintptr_t)waiting->object;
	const struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return false;
	t->id = w->handle;
	if (waiting->reason == GOMPI_FOR_COMPLETE)
		fill_exposure_wait(w, t);
	else
		gompi_fill_wait_ranks(t, &w->members);
	gompi_win_name(win, t->name);
	return true;
}
