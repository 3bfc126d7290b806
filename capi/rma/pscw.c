// MPI_Win_post, start, complete, wait, test (MPI-5.0 12.5.2): general active target synchronization.
//
// A target posts by incrementing the byte that it has for each origin; the origin's start waits for the change. For a
// target on another node, start does not wait: a notification precedes the first operation of the epoch, and the
// operations wait for the post at the target. An origin completes by adding one to the target's counter. The target's
// wait waits until the counter has grown by the size of its group.
#include <stdlib.h>

#include "base/loss.h"
#include "base/poll.h"
#include "base/wait.h"
#include "group/group.h"
#include "rma/z_calls.h"
#include "transport/transport.h"
#include "win/epoch.h"
#include "win/win_table.h"

// Looks up the ranks of group. Uses the cached group `kept` if it is still valid; otherwise the result owns new memory,
// which the caller passes to keep_group or drop_group. Returns 0 or the class of the error status.
static int find_group(struct gompi_win *w, MPI_Group group, const struct gompi_win_group *kept,
		      struct gompi_win_group *g, struct gompi_verdict *v) {
	uint64_t version = gompi_load_total(&gompi_groups_version);
	if (kept->handle == (uintptr_t)group && kept->version == version && kept->ranks != NULL) {
		*g = *kept;
		return MPI_SUCCESS;
	}
	const struct gompi_group *members = gompi_group_get(group);
	if (members == NULL)
		return gompi_error(v, MPI_ERR_GROUP,
				   group == MPI_GROUP_NULL ? "the group is MPI_GROUP_NULL"
							   : "%#lx is not a group, or has been freed",
				   (unsigned long)(uintptr_t)group);
	int n = members->ranks.n, *ranks = malloc(sizeof *ranks * ((size_t)n + 1));
	if (ranks == NULL)
		return gompi_error(v, MPI_ERR_NO_MEM, "out of memory for %d ranks", n);
	for (int i = 0; i < n; i++) {
		ranks[i] = gompi_ranks_find(&w->members, gompi_ranks_at(&members->ranks, i));
		if (ranks[i] < 0) {
			free(ranks);
			return gompi_error(v, MPI_ERR_RANK,
					   "the group has a process that does not belong to the window");
		}
	}
	*g = (struct gompi_win_group){(uintptr_t)group, version, ranks, n};
	return MPI_SUCCESS;
}

// Stores g as the cached group and frees the ranks of the former one.
static void keep_group(struct gompi_win_group *kept, const struct gompi_win_group *g) {
	if (kept->ranks != g->ranks)
		free(kept->ranks);
	*kept = *g;
}

// Frees the ranks of g unless they are the cached ones.
static void drop_group(const struct gompi_win_group *kept, const struct gompi_win_group *g) {
	if (kept->ranks != g->ranks)
		free(g->ranks);
}

int gompi_win_post(MPI_Group group, int assert, MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	struct gompi_win_group g;
	struct gompi_verdict v;
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_post");
	int known = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT;
	int class = gompi_check_assert(assert, known, "MPI_MODE_NOCHECK, NOSTORE and NOPUT", &v);
	if (class == MPI_SUCCESS)
		class = gompi_epoch_check(w, EPOCH_POST, &v);
	if (class == MPI_SUCCESS)
		class = find_group(w, group, &w->post_group, &g, &v);
	if (class != MPI_SUCCESS)
		return gompi_win_refuse(win, "MPI_Win_post", &v);
	if (gompi_epoch(w, EPOCH_POST, GOMPI_ALL, &v) != MPI_SUCCESS) {
		drop_group(&w->post_group, &g);
		return gompi_win_refuse(win, "MPI_Win_post", &v);
	}
	keep_group(&w->post_group, &g);
	w->completes_due += (uint32_t)g.size;
	gompi_store_total(&w->exposure, (uint32_t)g.size + 1);
	int rc = MPI_SUCCESS;
	for (int i = 0; i < g.size; i++) {
		int posted = gompi_transport_to(w, g.ranks[i])->post(w, g.ranks[i], "MPI_Win_post");
		rc = rc == MPI_SUCCESS ? posted : rc;
	}
	return rc == MPI_SUCCESS ? rc : gompi_wait_error(w, "MPI_Win_post", rc);
}
GOMPI_ENTRY(MPI_Win_post, gompi_win_post);

struct post_wait {
	struct gompi_win *w;
	int target;
	uint8_t seen;
};

static bool posted(void *arg) {
	struct post_wait *p = arg;
	return gompi_load_acquire(gompi_posts(p->w, p->w->me, p->target)) != p->seen;
}

// Waits until target has posted, and marks it as started. Returns 0 or MPI_ERR_PROC_ABORTED. Does not wait for a target
// on another node.
static int start_target(struct gompi_win *w, int target, bool check) {
	struct gompi_target *t = &w->targets[target];
	uint32_t state = gompi_load(&t->state);
	struct post_wait p = {w, target, (uint8_t)(state >> TARGET_POSTS_SHIFT)};
	if (gompi_win_elsewhere(w, target)) {
		gompi_store(&t->state, state | TARGET_STARTED);
		return MPI_SUCCESS;
	}
	if (check) {
		struct gompi_waiting what = {.call = "MPI_Win_start",
					     .peer = gompi_win_peer(w, target),
					     .object = w->handle,
					     .reason = GOMPI_FOR_POST};
		int rc = gompi_await(&gompi_member(w, w->me)->access_wait, posted, &p, &what);
		if (rc != MPI_SUCCESS)
			return rc;
	}
	// With MPI_MODE_NOCHECK the post has been made, or will be made before this epoch ends. It is consumed all the
	// same.
	state = (state & (((uint32_t)1 << TARGET_POSTS_SHIFT) - 1)) | (uint32_t)(uint8_t)(p.seen + 1)
									      << TARGET_POSTS_SHIFT;
	gompi_store(&t->state, state | TARGET_STARTED);
	return MPI_SUCCESS;
}

int gompi_win_start(MPI_Group group, int assert, MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	struct gompi_win_group g;
	struct gompi_verdict v;
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_start");
	int class = gompi_check_assert(assert, MPI_MODE_NOCHECK, "MPI_MODE_NOCHECK", &v);
	if (class == MPI_SUCCESS)
		class = gompi_epoch_check(w, EPOCH_START, &v);
	if (class == MPI_SUCCESS)
		class = find_group(w, group, &w->start_group, &g, &v);
	if (class != MPI_SUCCESS)
		return gompi_win_refuse(win, "MPI_Win_start", &v);
	if (gompi_epoch(w, EPOCH_START, GOMPI_ALL, &v) != MPI_SUCCESS) {
		drop_group(&w->start_group, &g);
		return gompi_win_refuse(win, "MPI_Win_start", &v);
	}
	keep_group(&w->start_group, &g);
	for (int i = 0; i < g.size; i++) {
		int rc = start_target(w, g.ranks[i], (assert &MPI_MODE_NOCHECK) == 0);
		if (rc != MPI_SUCCESS)
			return gompi_wait_error(w, "MPI_Win_start", rc);
	}
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Win_start, gompi_win_start);

int gompi_win_complete(MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	struct gompi_verdict v;
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_complete");
	if (gompi_epoch(w, EPOCH_COMPLETE, GOMPI_ALL, &v) != MPI_SUCCESS)
		return gompi_win_refuse(win, "MPI_Win_complete", &v);
	int rc = MPI_SUCCESS;
	for (int i = 0; i < w->start_group.size; i++) {
		int target = w->start_group.ranks[i];
		gompi_and(&w->targets[target].state, ~(uint32_t)TARGET_STARTED);
		int last = gompi_transport_to(w, target)->complete(w, target, "MPI_Win_complete");
		rc = rc == MPI_SUCCESS ? last : rc;
	}
	gompi_epoch_over(w, EPOCH_COMPLETE);
	return rc == MPI_SUCCESS ? rc : gompi_wait_error(w, "MPI_Win_complete", rc);
}
GOMPI_ENTRY(MPI_Win_complete, gompi_win_complete);

static bool completed(void *arg) {
	struct gompi_win *w = arg;
	return (int32_t)(gompi_load_acquire(&gompi_member(w, w->me)->completed) - w->completes_due) >= 0;
}

// Returns a failed process that keeps the open exposure epoch from ending, or GOMPI_NOBODY.
static int loss_to_exposure(const void *of, struct gompi_stuck *place) {
	const struct gompi_win *w = of;
	for (int i = 0; i < w->post_group.size; i++) {
		struct gompi_waiting what = {.peer = gompi_win_peer(w, w->post_group.ranks[i])};
		int lost = gompi_loss_to(&what, place);
		if (lost != GOMPI_NOBODY)
			return lost;
	}
	return GOMPI_NOBODY;
}

int gompi_win_wait(MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	struct gompi_verdict v;
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_wait");
	if (gompi_epoch(w, EPOCH_WAIT, GOMPI_ALL, &v) != MPI_SUCCESS)
		return gompi_win_refuse(win, "MPI_Win_wait", &v);
	struct gompi_waiting what = {.call = "MPI_Win_wait",
				     .peer = -1,
				     .object = w->handle,
				     .reason = GOMPI_FOR_COMPLETE,
				     .lost = loss_to_exposure,
				     .of = w};
	int rc = gompi_await(&gompi_member(w, w->me)->exposure_wait, completed, w, &what);
	gompi_store_total(&w->exposure, 0);
	return rc == MPI_SUCCESS ? rc : gompi_wait_error(w, "MPI_Win_wait", rc);
}
GOMPI_ENTRY(MPI_Win_wait, gompi_win_wait);

int gompi_win_test(MPI_Win win, int *flag) {
	struct gompi_win *w = gompi_win_get(win);
	struct gompi_verdict v;
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_test");
	if (flag == NULL) {
		gompi_error(&v, MPI_ERR_ARG, "flag is NULL");
		return gompi_win_refuse(win, "MPI_Win_test", &v);
	}
	if (gompi_epoch(w, EPOCH_TEST, GOMPI_ALL, &v) != MPI_SUCCESS)
		return gompi_win_refuse(win, "MPI_Win_test", &v);
	*flag = completed(w);
	if (*flag) {
		gompi_store_total(&w->exposure, 0);
	} else {
		// A program that loops over MPI_Win_test must not starve processes that wait for this one.
		gompi_serve();
		gompi_polled();
	}
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Win_test, gompi_win_test);
