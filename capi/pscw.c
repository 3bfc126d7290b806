// MPI_Win_post, start, complete, wait, test (MPI-5.0 12.5.2): general active target synchronization.
//
// A target posts by moving on the byte that it has for each origin; the origin's start waits for it. An origin
// completes by adding one to the target's counter; the target's wait waits until the counter has moved on by the size
// of its group.
#include <stdlib.h>

#include "_cgo_export.h"
#include "agent.h"
#include "epoch.h"
#include "poll.h"
#include "win_table.h"
#include "z_entry.h"

gompi_a64 gompi_groups_version;

void gompi_groups_changed(void) { atomic_fetch_add(&gompi_groups_version, 1); }

// Fills in g for group. The verdict's class.
static int look_up(struct gompi_win *w, MPI_Group group, struct gompi_win_group *g, struct gompi_verdict *v) {
	uint64_t version = atomic_load(&gompi_groups_version);
	if (g->handle == (uintptr_t)group && g->version == version && g->ranks != NULL)
		return MPI_SUCCESS;
	int *ranks = malloc(sizeof *ranks * w->n);
	if (ranks == NULL)
		return gompi_wrong(v, MPI_ERR_NO_MEM, "%u ranks", w->n);
	int n = gompi_win_group_ranks((uintptr_t)w->handle, (uintptr_t)group, (uintptr_t)ranks, (int)w->n);
	if (n < 0) {
		free(ranks);
		return n == -MPI_ERR_GROUP
			       ? gompi_wrong(v, MPI_ERR_GROUP, "%#lx is no group", (unsigned long)(uintptr_t)group)
			       : gompi_wrong(v, -n, "the group has a member that is not in the window's group");
	}
	free(g->ranks);
	*g = (struct gompi_win_group){(uintptr_t)group, version, ranks, n};
	return MPI_SUCCESS;
}

int gompi_win_post(MPI_Group group, int assert, MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_post");
	int known = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT;
	if (assert & ~known)
		return gompi_win_error(win, "MPI_Win_post", MPI_ERR_ASSERT,
				       "assertion %d has bits other than MPI_MODE_NOCHECK, NOSTORE and NOPUT (%d)",
				       assert, known);
	if (atomic_load(&w->exposure) != 0 ||
	    gompi_access_after[gompi_access_number(atomic_load(&w->access))][EPOCH_POST] == 0xff)
		return gompi_epoch_error(w, "MPI_Win_post");
	struct gompi_verdict v;
	if (look_up(w, group, &w->post_group, &v) != MPI_SUCCESS)
		return gompi_win_refuse(win, "MPI_Win_post", &v);
	w->completes_due += (uint32_t)w->post_group.size;
	atomic_store(&w->exposure, (uint32_t)w->post_group.size + 1);
	for (int i = 0; i < w->post_group.size; i++) {
		_Atomic uint8_t *posts = gompi_posts(w, w->post_group.ranks[i], w->me);
		// release: this process' stores to its window are before it; pairs with the acquire in posted
		atomic_store_explicit(posts, (uint8_t)(atomic_load_explicit(posts, memory_order_relaxed) + 1),
				      memory_order_release);
	}
	gompi_full_fence();
	for (int i = 0; i < w->post_group.size; i++)
		gompi_wake(&gompi_member(w, w->post_group.ranks[i])->access_wait);
	return MPI_SUCCESS;
}

struct post_wait {
	struct gompi_win *w;
	int target;
	uint8_t seen;
};

static bool posted(void *arg) {
	struct post_wait *p = arg;
	return atomic_load_explicit(gompi_posts(p->w, p->w->me, p->target), memory_order_acquire) != p->seen;
}

int gompi_win_start(MPI_Group group, int assert, MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_start");
	if (assert & ~MPI_MODE_NOCHECK)
		return gompi_win_error(win, "MPI_Win_start", MPI_ERR_ASSERT,
				       "assertion %d: only 0 and MPI_MODE_NOCHECK (%d) are possible", assert,
				       MPI_MODE_NOCHECK);
	if (gompi_access_after[gompi_access_number(atomic_load(&w->access))][EPOCH_START] == 0xff)
		return gompi_epoch_error(w, "MPI_Win_start");
	struct gompi_verdict v;
	if (look_up(w, group, &w->start_group, &v) != MPI_SUCCESS)
		return gompi_win_refuse(win, "MPI_Win_start", &v);
	if (!gompi_epoch_move(w, EPOCH_START, 0))
		return gompi_epoch_error(w, "MPI_Win_start");
	for (int i = 0; i < w->start_group.size; i++) {
		int target = w->start_group.ranks[i];
		struct gompi_target *t = &w->targets[target];
		uint32_t state = atomic_load_explicit(&t->state, memory_order_relaxed);
		struct post_wait p = {w, target, (uint8_t)(state >> TARGET_POSTS_SHIFT)};
		if (!(assert &MPI_MODE_NOCHECK)) {
			struct gompi_waiting what = {"MPI_Win_start", gompi_member(w, target)->process, w->handle};
			int rc = gompi_await(&gompi_member(w, w->me)->access_wait, posted, &p, &what);
			if (rc)
				return gompi_wait_error(w, "MPI_Win_start", rc);
		}
		// With MPI_MODE_NOCHECK the post has been made, or will be, before this epoch ends: it is used up all
		// the same.
		state = (state & (((uint32_t)1 << TARGET_POSTS_SHIFT) - 1)) | (uint32_t)(uint8_t)(p.seen + 1)
										      << TARGET_POSTS_SHIFT;
		atomic_store_explicit(&t->state, state | TARGET_STARTED, memory_order_relaxed);
	}
	return MPI_SUCCESS;
}

int gompi_win_complete(MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_complete");
	if (!(atomic_load_explicit(&w->access, memory_order_relaxed) & ACCESS_START))
		return gompi_epoch_error(w, "MPI_Win_complete");
	int rc = MPI_SUCCESS;
	for (int i = 0; i < w->start_group.size; i++) {
		int target = w->start_group.ranks[i], flushed = gompi_agent_flush(w, target, "MPI_Win_complete");
		if (flushed != MPI_SUCCESS)
			rc = flushed;
		atomic_fetch_and_explicit(&w->targets[target].state, ~(uint32_t)TARGET_STARTED, memory_order_relaxed);
		struct gompi_win_member *m = gompi_member(w, target);
		// seq_cst: this epoch's operations are before it (pairs with the acquire in completed), and it is the
		// barrier before the look at who sleeps
		atomic_fetch_add_explicit(&m->completed, 1, memory_order_seq_cst);
		gompi_wake(&m->exposure_wait);
	}
	gompi_epoch_move(w, EPOCH_COMPLETE, 0);
	return rc == MPI_SUCCESS ? rc : gompi_wait_error(w, "MPI_Win_complete", rc);
}

static bool completed(void *arg) {
	struct gompi_win *w = arg;
	return (int32_t)(atomic_load_explicit(&gompi_member(w, w->me)->completed, memory_order_acquire) -
			 w->completes_due) >= 0;
}

int gompi_win_wait(MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_wait");
	if (atomic_load(&w->exposure) == 0)
		return gompi_win_error(win, "MPI_Win_wait", MPI_ERR_RMA_SYNC,
				       "no exposure epoch is open: there was no MPI_Win_post");
	struct gompi_waiting what = {"MPI_Win_wait", -1, w->handle};
	int rc = gompi_await(&gompi_member(w, w->me)->exposure_wait, completed, w, &what);
	atomic_store(&w->exposure, 0);
	return rc == MPI_SUCCESS ? rc : gompi_wait_error(w, "MPI_Win_wait", rc);
}

int gompi_win_test(MPI_Win win, int *flag) {
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_test");
	if (flag == NULL)
		return gompi_win_error(win, "MPI_Win_test", MPI_ERR_ARG, "flag is NULL");
	if (atomic_load(&w->exposure) == 0)
		return gompi_win_error(win, "MPI_Win_test", MPI_ERR_RMA_SYNC,
				       "no exposure epoch is open: there was no MPI_Win_post");
	*flag = completed(w);
	if (*flag) {
		atomic_store(&w->exposure, 0);
	} else {
		gompi_serve(); // a program that loops over MPI_Win_test must not starve those who wait for this process
		gompi_polled();
	}
	return MPI_SUCCESS;
}
