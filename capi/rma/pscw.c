// MPI_Win_post, start, complete, wait, test (MPI-5.0 12.5.2): general active target synchronization.
//
// A target posts by incrementing a byte for each origin. MPI_Win_start waits at each origin until the byte of this
// origin changes. For a target on another node, MPI_Win_start does not wait. Instead, a start record precedes the first
// operation of the epoch, and the operations wait at the target until it has posted. An origin completes by adding one
// to the target's counter. MPI_Win_wait waits until the counter has grown by the size of the group of MPI_Win_post.
#include <stdlib.h>

#include "base/failure.h"
#include "base/poll.h"
#include "base/wait.h"
#include "group/group.h"
#include "rma/z_calls.h"
#include "transport/transport.h"
#include "win/epoch.h"
#include "win/win_table.h"

// Looks up the ranks of `group` and stores them in *g. Uses the ranks in `cached` if they are still valid. Otherwise *g
// owns new memory, which the caller must pass to cache_group or free_group. Returns 0 or the class of the error status.
static int find_group(struct gompi_win *w, MPI_Group group, const struct gompi_win_group *cached,
		      struct gompi_win_group *g, struct gompi_error_status *v) {
	uint64_t version = gompi_load_seq_cst(&gompi_groups_version);
	if (cached->handle == (uintptr_t)group && cached->version == version && cached->ranks != NULL) {
		*g = *cached;
		return MPI_SUCCESS;
	}
	const struct gompi_group *members = gompi_group_get(group);
	if (members == NULL)
		return gompi_set_error(v, MPI_ERR_GROUP,
				       group == MPI_GROUP_NULL ? "the group is MPI_GROUP_NULL"
							       : "%#lx is not a group, or has been freed",
				       (unsigned long)(uintptr_t)group);
	int n = members->ranks.n, *ranks = malloc(sizeof *ranks * ((size_t)n + 1));
	if (ranks == NULL)
		return gompi_set_error(v, MPI_ERR_NO_MEM, "out of memory for the ranks of a group of %d processes", n);
	for (int i = 0; i < n; i++) {
		ranks[i] = gompi_ranks_find(&w->members, gompi_ranks_at(&members->ranks, i));
		if (ranks[i] < 0) {
			free(ranks);
			return gompi_set_error(v, MPI_ERR_RANK,
					       "the group contains a process that is not a member of the window (rank "
					       "%d of the group)",
					       i);
		}
	}
	*g = (struct gompi_win_group){(uintptr_t)group, version, ranks, n};
	return MPI_SUCCESS;
}

// Stores g as the cached group and frees the ranks of the previous group.
static void cache_group(struct gompi_win_group *cached, const struct gompi_win_group *g) {
	if (cached->ranks != g->ranks)
		free(cached->ranks);
	*cached = *g;
}

// Frees the ranks of g unless they are the cached ranks.
static void free_group(const struct gompi_win_group *cached, const struct gompi_win_group *g) {
	if (cached->ranks != g->ranks)
		free(g->ranks);
}

int gompi_win_post(MPI_Group group, int assert, MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	struct gompi_win_group g;
	struct gompi_error_status v;
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_post");
	int accepted = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT;
	int class = gompi_check_assert(assert, accepted, "MPI_MODE_NOCHECK, NOSTORE and NOPUT", &v);
	if (class == MPI_SUCCESS)
		class = gompi_epoch_check(w, EPOCH_POST, &v);
	if (class == MPI_SUCCESS)
		class = find_group(w, group, &w->post_group, &g, &v);
	if (class != MPI_SUCCESS)
		return gompi_win_raise(win, "MPI_Win_post", &v);
	if (gompi_epoch_enter_call(w, EPOCH_POST, GOMPI_ALL, &v) != MPI_SUCCESS) {
		free_group(&w->post_group, &g);
		return gompi_win_raise(win, "MPI_Win_post", &v);
	}
	cache_group(&w->post_group, &g);
	w->expected_completes += (uint32_t)g.size;
	gompi_store_seq_cst(&w->exposure, (uint32_t)g.size + 1);
	int rc = MPI_SUCCESS;
	for (int i = 0; i < g.size; i++) {
		int posted = gompi_transport_to(w, g.ranks[i])->post(w, g.ranks[i], "MPI_Win_post");
		rc = rc == MPI_SUCCESS ? posted : rc;
	}
	return rc == MPI_SUCCESS ? rc : gompi_win_raise_class(w, "MPI_Win_post", rc);
}
GOMPI_ENTRY(MPI_Win_post, gompi_win_post);

struct post_wait {
	struct gompi_win *w;
	int target;
	uint8_t seen_posts;
};

static bool has_posted(void *arg) {
	struct post_wait *p = arg;
	return gompi_load_acquire(gompi_post_counter(p->w, p->w->me, p->target)) != p->seen_posts;
}

// Waits until the member `target` has posted, and marks it as started. Does not wait if the target is on another node,
// or if `check` is false (MPI_MODE_NOCHECK). Returns 0 or MPI_ERR_PROC_ABORTED.
static int start_target(struct gompi_win *w, int target, bool check) {
	struct gompi_target *t = &w->targets[target];
	uint32_t state = gompi_load(&t->state);
	struct post_wait p = {w, target, (uint8_t)(state >> TARGET_POSTS_SHIFT)};
	if (gompi_win_is_remote(w, target)) {
		gompi_store(&t->state, state | TARGET_STARTED);
		return MPI_SUCCESS;
	}
	if (check) {
		struct gompi_wait_desc waiting = {.call = "MPI_Win_start",
						  .peer = gompi_win_peer(w, target),
						  .object = w->handle,
						  .reason = GOMPI_FOR_POST};
		int rc = gompi_await(&gompi_member(w, w->me)->access_wait, has_posted, &p, &waiting);
		if (rc != MPI_SUCCESS)
			return rc;
	}
	// With MPI_MODE_NOCHECK the target posts before this epoch ends. Its post is consumed without a wait.
	state = (state & (((uint32_t)1 << TARGET_POSTS_SHIFT) - 1)) | (uint32_t)(uint8_t)(p.seen_posts + 1)
									      << TARGET_POSTS_SHIFT;
	gompi_store(&t->state, state | TARGET_STARTED);
	return MPI_SUCCESS;
}

int gompi_win_start(MPI_Group group, int assert, MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	struct gompi_win_group g;
	struct gompi_error_status v;
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_start");
	int class = gompi_check_assert(assert, MPI_MODE_NOCHECK, "MPI_MODE_NOCHECK", &v);
	if (class == MPI_SUCCESS)
		class = gompi_epoch_check(w, EPOCH_START, &v);
	if (class == MPI_SUCCESS)
		class = find_group(w, group, &w->start_group, &g, &v);
	if (class != MPI_SUCCESS)
		return gompi_win_raise(win, "MPI_Win_start", &v);
	if (gompi_epoch_enter_call(w, EPOCH_START, GOMPI_ALL, &v) != MPI_SUCCESS) {
		free_group(&w->start_group, &g);
		return gompi_win_raise(win, "MPI_Win_start", &v);
	}
	cache_group(&w->start_group, &g);
	for (int i = 0; i < g.size; i++) {
		int rc = start_target(w, g.ranks[i], (assert &MPI_MODE_NOCHECK) == 0);
		if (rc != MPI_SUCCESS)
			return gompi_win_raise_class(w, "MPI_Win_start", rc);
	}
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Win_start, gompi_win_start);

int gompi_win_complete(MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	struct gompi_error_status v;
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_complete");
	if (gompi_epoch_enter_call(w, EPOCH_COMPLETE, GOMPI_ALL, &v) != MPI_SUCCESS)
		return gompi_win_raise(win, "MPI_Win_complete", &v);
	int rc = MPI_SUCCESS;
	for (int i = 0; i < w->start_group.size; i++) {
		int target = w->start_group.ranks[i];
		gompi_and(&w->targets[target].state, ~(uint32_t)TARGET_STARTED);
		int complete_rc = gompi_transport_to(w, target)->complete(w, target, "MPI_Win_complete");
		rc = rc == MPI_SUCCESS ? complete_rc : rc;
	}
	gompi_epoch_leave_call(w, EPOCH_COMPLETE);
	return rc == MPI_SUCCESS ? rc : gompi_win_raise_class(w, "MPI_Win_complete", rc);
}
GOMPI_ENTRY(MPI_Win_complete, gompi_win_complete);

static bool exposure_completed(void *arg) {
	struct gompi_win *w = arg;
	return (int32_t)(gompi_load_acquire(&gompi_member(w, w->me)->complete_count) - w->expected_completes) >= 0;
}

// Returns a failed process that keeps the open exposure epoch from ending, or GOMPI_NONE_FAILED.
static int failed_exposure_origin(const void *of, struct gompi_stuck_entry *place) {
	const struct gompi_win *w = of;
	for (int i = 0; i < w->post_group.size; i++) {
		struct gompi_wait_desc waiting = {.peer = gompi_win_peer(w, w->post_group.ranks[i])};
		int failed = gompi_failed_for_wait(&waiting, place);
		if (failed != GOMPI_NONE_FAILED)
			return failed;
	}
	return GOMPI_NONE_FAILED;
}

int gompi_win_wait(MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	struct gompi_error_status v;
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_wait");
	if (gompi_epoch_enter_call(w, EPOCH_WAIT, GOMPI_ALL, &v) != MPI_SUCCESS)
		return gompi_win_raise(win, "MPI_Win_wait", &v);
	struct gompi_wait_desc waiting = {.call = "MPI_Win_wait",
					  .peer = -1,
					  .object = w->handle,
					  .reason = GOMPI_FOR_COMPLETE,
					  .find_failed = failed_exposure_origin,
					  .find_failed_arg = w};
	int rc = gompi_await(&gompi_member(w, w->me)->exposure_wait, exposure_completed, w, &waiting);
	gompi_store_seq_cst(&w->exposure, 0);
	return rc == MPI_SUCCESS ? rc : gompi_win_raise_class(w, "MPI_Win_wait", rc);
}
GOMPI_ENTRY(MPI_Win_wait, gompi_win_wait);

int gompi_win_test(MPI_Win win, int *flag) {
	struct gompi_win *w = gompi_win_get(win);
	struct gompi_error_status v;
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_test");
	if (flag == NULL) {
		gompi_set_error(&v, MPI_ERR_ARG, "flag is NULL");
		return gompi_win_raise(win, "MPI_Win_test", &v);
	}
	if (gompi_epoch_enter_call(w, EPOCH_TEST, GOMPI_ALL, &v) != MPI_SUCCESS)
		return gompi_win_raise(win, "MPI_Win_test", &v);
	*flag = exposure_completed(w);
	if (*flag) {
		gompi_store_seq_cst(&w->exposure, 0);
	} else {
		// A program that loops over MPI_Win_test must not starve processes that wait for this one.
		gompi_serve();
		gompi_poll_idle();
	}
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Win_test, gompi_win_test);
