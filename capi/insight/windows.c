// The table of counted windows. The handle of a window may differ between members. So a window is identified by its
// first member, its number of members, and an ordinal. The ordinal counts the windows with the same first member and
// number of members.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "insight/pmpi.h"
#include "insight/count.h"

static pthread_mutex_t windows_mutex = PTHREAD_MUTEX_INITIALIZER; // guards additions to the table

static struct gompi_insight_window *find_counted_window(MPI_Win win) {
	struct gompi_insight_part *part = gompi_insight_part;
	for (uint32_t i = gompi_load_acquire(&part->windows); i-- > 0;) // pairs with the release in add_window
		if (gompi_load(&part->window[i].handle) == (uintptr_t)win)
			return &part->window[i];
	return NULL;
}

// Finds the part of the first member, and the number of members of a communicator.
static void query_members(MPI_Comm comm, int32_t *leader, uint32_t *members) {
	MPI_Group group = MPI_GROUP_NULL;
	int n = 0;
	if (GOMPI_CALL_PMPI(MPI_Comm_group, comm, &group) != MPI_SUCCESS)
		return;
	int *parts = gompi_insight_group_parts(group, &n);
	(void)GOMPI_CALL_PMPI(MPI_Group_free, &group);
	if (parts != NULL && n > 0)
		*leader = parts[0];
	*members = n;
	free(parts);
}

// Makes the MPI library, if it is gompirma, count the operations on a window by their path.
static void enable_path_counts(MPI_Win win, uint32_t entry) {
	__typeof__(MPIX_Gompirma_win_count) *count = gompi_insight_next_symbol("MPIX_Gompirma_win_count");
	if (count != NULL && count(win, gompi_insight_part->paths[entry]) == MPI_SUCCESS)
		gompi_insight_part->window[entry].has_paths = 1;
}

// Adds a window to the table. The last entry is reserved: it collects the counts of all windows that have no entry of
// their own.
static void add_window(MPI_Win win, MPI_Comm comm) {
	struct gompi_insight_part *part = gompi_insight_part;
	int32_t leader = -1;
	uint32_t members = 0, n = gompi_load(&part->windows), ordinal = 0;
	enable_path_counts(win, n);
	if (n == GOMPI_INSIGHT_MAX_WINDOWS - 1)
		return;
	query_members(comm, &leader, &members);
	for (uint32_t i = 0; i < n; i++)
		ordinal += part->window[i].first_rank == leader && part->window[i].members == members;
	struct gompi_insight_window *w = &part->window[n];
	w->first_rank = leader;
	w->members = members;
	w->ordinal = ordinal;
	gompi_store(&w->handle, (uintptr_t)win);
	gompi_store_release(&part->windows,
			    n + 1); // pairs with the acquire in find_counted_window, and in core/insight
}

// Returns the counters of a window. Returns the counters of the last entry if the window is not in the table.
struct gompi_insight_use *gompi_insight_window_uses(struct gompi_insight_thread *t, MPI_Win win) {
	uint32_t age = gompi_load(&gompi_insight_generation);
	struct gompi_insight_window *w = find_counted_window(win);
	size_t at = w != NULL ? w - gompi_insight_part->window : GOMPI_INSIGHT_MAX_WINDOWS - 1;
	struct gompi_insight_use *uses = t->slot->windows[at];
	t->windows[(uintptr_t)win % GOMPI_INSIGHT_CACHED_WINDOWS] =
		(struct gompi_insight_cached_window){win, age, uses};
	return uses;
}

void gompi_insight_window_created(MPI_Win win, MPI_Comm comm) {
	pthread_mutex_lock(&windows_mutex);
	if (win != MPI_WIN_NULL && find_counted_window(win) == NULL)
		add_window(win, comm);
	pthread_mutex_unlock(&windows_mutex);
	// invalidates entries that threads cached for this handle before
	gompi_add_seq_cst(&gompi_insight_generation, 1);
}

void gompi_insight_window_named(MPI_Win win, const char *name) {
	struct gompi_insight_window *w = find_counted_window(win);
	if (w == NULL)
		return;
	size_t n = strnlen(name, sizeof w->label - 1);
	memcpy(w->label, name, n);
	w->label[n] = 0;
}

void gompi_insight_window_freed(MPI_Win win) {
	struct gompi_insight_window *w = find_counted_window(win);
	if (w != NULL)
		gompi_store(&w->handle, 0);
	gompi_add_seq_cst(&gompi_insight_generation, 1);
}
