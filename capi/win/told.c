// The description of a window in the wait record of a thread that is about to sleep (struct gompi_wait_record).
#include "base/wait.h"
#include "win/win.h"
#include "win/win_table.h"

// Stores the processes that the open exposure epoch is for, and how many of them have not completed it.
static void tell_exposure(const struct gompi_win *w, struct gompi_told *t) {
	const struct gompi_win_group *g = &w->post_group;
	struct gompi_ranks who = {0};
	for (int i = 0; i < g->size; i++)
		if (!gompi_ranks_append(&who, gompi_win_peer(w, g->ranks[i]), g->size))
			break; // out of memory: only the members so far are reported
	gompi_tell_ranks(t, &who);
	gompi_ranks_drop(&who);
	t->lacks = (int32_t)(w->completes_due - gompi_load(&gompi_member(w, w->me)->completed));
}

bool gompi_win_tell(const struct gompi_waiting *what, struct gompi_told *t) {
	const MPI_Win win = (MPI_Win)(uintptr_t)what->object;
	const struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return false;
	t->id = w->handle;
	if (what->reason == GOMPI_FOR_COMPLETE)
		tell_exposure(w, t);
	else
		gompi_tell_ranks(t, &w->members);
	gompi_win_name(win, t->name);
	return true;
}
