// The windows that are counted. One is known by its first member, its size, and which of those it is, so that all
// members know it by the same; its handle is different in each.

#include <pthread.h>
#include <string.h>

#include "insight/ask.h"
#include "insight/count.h"

static pthread_mutex_t windows_mutex = PTHREAD_MUTEX_INITIALIZER; // guards what the table gets

static struct gompi_insight_window *window_of(MPI_Win win) {
	struct gompi_insight_part *part = gompi_insight_part;
	for (uint32_t i = gompi_load_acquire(&part->windows); i-- > 0;) // pairs with the release in enter_window
		if (gompi_load(&part->window[i].handle) == (uintptr_t)win)
			return &part->window[i];
	return NULL;
}

// Finds out who is in the communicator of a window. Without a world there is nothing by which members know each other.
static void ask_members(MPI_Comm comm, int32_t *leader, uint32_t *members) {
	MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
	int started = 0, n = 0, first = 0, at = -1;
	if (GOMPI_ASK(MPI_Comm_group, comm, &group) != MPI_SUCCESS)
		return;
	if (GOMPI_ASK(MPI_Group_size, group, &n) == MPI_SUCCESS && n > 0 &&
	    GOMPI_ASK(MPI_Initialized, &started) == MPI_SUCCESS && started &&
	    GOMPI_ASK(MPI_Comm_group, MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
		if (GOMPI_ASK(MPI_Group_translate_ranks, group, 1, &first, world, &at) == MPI_SUCCESS && at >= 0)
			*leader = at;
		(void)GOMPI_ASK(MPI_Group_free, &world);
	}
	(void)GOMPI_ASK(MPI_Group_free, &group);
	*members = n;
}

// Has the library count operations on a window at an entry by the way that they take, if it is gompirma.
static void count_ways(MPI_Win win, uint32_t entry) {
	__typeof__(MPIX_Gompirma_win_count) *count = gompi_insight_symbol("MPIX_Gompirma_win_count");
	if (count != NULL && count(win, gompi_insight_part->ways[entry]) == MPI_SUCCESS)
		gompi_insight_part->window[entry].ways = 1;
}

// Gives a window an entry, but not the last one, which stands for all that have none.
static void enter_window(MPI_Win win, MPI_Comm comm) {
	struct gompi_insight_part *part = gompi_insight_part;
	int32_t leader = -1;
	uint32_t members = 0, n = gompi_load(&part->windows), ordinal = 0;
	count_ways(win, n);
	if (n == GOMPI_INSIGHT_MAX_WINDOWS - 1)
		return;
	ask_members(comm, &leader, &members);
	for (uint32_t i = 0; i < n; i++)
		ordinal += part->window[i].leader == leader && part->window[i].members == members;
	struct gompi_insight_window *w = &part->window[n];
	w->leader = leader;
	w->members = members;
	w->ordinal = ordinal;
	gompi_store(&w->handle, (uintptr_t)win);
	gompi_store_release(&part->windows, n + 1); // pairs with the acquire in window_of, and in core/insight
}

// A window that was not seen when it was made is among all others.
struct gompi_insight_use *gompi_insight_find_window(struct gompi_insight_thread *t, MPI_Win win) {
	uint32_t age = gompi_load(&gompi_insight_age);
	struct gompi_insight_window *w = window_of(win);
	size_t at = w != NULL ? w - gompi_insight_part->window : GOMPI_INSIGHT_MAX_WINDOWS - 1;
	struct gompi_insight_use *uses = t->slot->windows[at];
	t->windows[(uintptr_t)win % GOMPI_INSIGHT_KNOWN] = (struct gompi_insight_known){win, age, uses};
	return uses;
}

void gompi_insight_window_made(MPI_Win win, MPI_Comm comm) {
	pthread_mutex_lock(&windows_mutex);
	if (win != MPI_WIN_NULL && window_of(win) == NULL)
		enter_window(win, comm);
	pthread_mutex_unlock(&windows_mutex);
	gompi_add_total(&gompi_insight_age, 1); // the handle may have been looked for before
}

void gompi_insight_window_named(MPI_Win win, const char *name) {
	struct gompi_insight_window *w = window_of(win);
	if (w == NULL)
		return;
	size_t n = strnlen(name, sizeof w->label - 1);
	memcpy(w->label, name, n);
	w->label[n] = 0;
}

void gompi_insight_window_freed(MPI_Win win) {
	struct gompi_insight_window *w = window_of(win);
	if (w != NULL)
		gompi_store(&w->handle, 0);
	gompi_add_total(&gompi_insight_age, 1);
}
