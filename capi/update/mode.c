// Modes of accumulates and the changes between them; see mode.h.
#define _GNU_SOURCE
#include "update/mode.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/tuning.h"
#include "base/go_callbacks.h"
#include "base/wait.h"

_Thread_local struct gompi_activity *gompi_my_activity __attribute__((tls_model("initial-exec")));
_Thread_local uint32_t gompi_my_owner_id __attribute__((tls_model("initial-exec")));

// After this number of consecutive small updates under the lock, the memory returns to SMALL mode. The time that these
// updates have lost against SMALL mode is then about the cost of a later change to BULK, some 10 us.
enum { MIN_SMALL_STREAK = 256 };

// The lock costs some 10 ns more than ownership, and to revoke ownership costs some 10 us. A thread needs
// STREAK_PER_TRANSFER consecutive updates for each counted transfer before it becomes the owner. A revocation counts as
// REVOKE_TRANSFERS transfers, a hand-over of the lock from one thread to another as one transfer.
enum { REVOKE_TRANSFERS = 16, STREAK_PER_TRANSFER = 16, MAX_TRANSFER_COUNT = 256 };

static pthread_key_t activity_key;
static pthread_once_t activity_once = PTHREAD_ONCE_INIT;

// The owners of the activity flags, so that gompi_activities_release can release them.
static pthread_mutex_t activity_mu = PTHREAD_MUTEX_INITIALIZER;
static struct activity_owner {
	struct gompi_activity **activity;
	uint32_t *owner_id;
} activity_owners[GOMPI_ACTIVITY_SLOTS];

void gompi_activities_release(void) {
	pthread_mutex_lock(&activity_mu);
	for (int i = 0; i < GOMPI_ACTIVITY_SLOTS; i++)
		if (activity_owners[i].activity != NULL)
			*activity_owners[i].activity = NULL, *activity_owners[i].owner_id = 0;
	memset(activity_owners, 0, sizeof activity_owners);
	pthread_mutex_unlock(&activity_mu);
}

// Releases a thread's activity flag when the thread ends; activity_used has a bit for each flag. Does nothing in a
// forked child, because the parent's thread that called fork() continues to use the flag.
static void release_activity(void *activity) {
	struct gompi_cell *c = gompi_my_cell();
	if (getpid() != gompi_load(&c->pid))
		return;
	pthread_mutex_lock(&activity_mu);
	if (gompi_my_activity == activity) { // else gompi_activities_release has released the flag
		activity_owners[(struct gompi_activity *)activity - c->activity] = (struct activity_owner){0};
		gompi_and_seq_cst(&c->activity_used, ~(1u << ((struct gompi_activity *)activity - c->activity)));
	}
	pthread_mutex_unlock(&activity_mu);
}

static void init_activity_key(void) { pthread_key_create(&activity_key, release_activity); }

void gompi_activity_acquire(void) {
	if (!gompi_node.has_membarrier)
		return;
	pthread_once(&activity_once, init_activity_key);
	struct gompi_cell *c = gompi_my_cell();
	uint32_t used = gompi_load_seq_cst(&c->activity_used);
	for (;;) {
		int i = __builtin_ctz(~used);
		if (i >= GOMPI_ACTIVITY_SLOTS)
			return;
		if (gompi_cas_weak_seq_cst(&c->activity_used, &used, used | 1u << i)) {
			gompi_my_activity = &c->activity[i];
			gompi_my_owner_id =
				ACCUMULATE_OWNED | (uint32_t)(gompi_node.local_index * GOMPI_ACTIVITY_SLOTS + i)
							   << ACCUMULATE_OWNER_SHIFT;
			pthread_setspecific(activity_key, gompi_my_activity);
			pthread_mutex_lock(&activity_mu);
			activity_owners[i] = (struct activity_owner){&gompi_my_activity, &gompi_my_owner_id};
			pthread_mutex_unlock(&activity_mu);
			return;
		}
	}
}

static void wake_sleepers(struct gompi_win_member *m, uint32_t old_word) {
	if (old_word & ACCUMULATE_SLEEPERS)
		syscall(SYS_futex, &m->accumulate_state, FUTEX_WAKE, 1 << 30, NULL, NULL, 0);
}

// Releases the lock if the holder that `word` identifies has failed. Returns a failed process of the window, or
// GOMPI_NONE_FAILED if the holder has not failed. The mode becomes SMALL: so the next holder waits for small updates
// that the failed process has not waited for.
static int release_failed(const struct gompi_win *w, struct gompi_win_member *m, uint32_t word) {
	const int process = (int)((word >> ACCUMULATE_OWNER_SHIFT) / GOMPI_ACTIVITY_SLOTS);
	if (gompi_load_seq_cst(&gompi_cell(process)->state) != GOMPI_STATE_FAILED)
		return GOMPI_NONE_FAILED;
	if (gompi_cas_strong(&m->accumulate_state, &word, 0))
		wake_sleepers(m, word);
	return gompi_win_failed_local(w);
}

// Acquires the lock in the accumulate_state word of m. Stores the word's former value in *old_word. Blocks. Returns 0
// or MPI_ERR_PROC_ABORTED.
static int lock_word(const struct gompi_win *w, struct gompi_win_member *m, uint32_t *old_word) {
	gompi_a32 *word = &m->accumulate_state;
	const uint32_t locked = ACCUMULATE_LOCKED | ACCUMULATE_BULK |
				(uint32_t)(gompi_node.local_index * GOMPI_ACTIVITY_SLOTS) << ACCUMULATE_OWNER_SHIFT;
	for (int spins = 0;; spins++) {
		uint32_t v = gompi_load(word);
		if (!(v & ACCUMULATE_LOCKED)) {
			// seq_cst: acquires the stores that the last holder released by its unlock, and precedes the
			// membarrier(2) in gompi_accumulate_lock
			if (gompi_cas_weak_seq_cst(word, &v, locked)) {
				*old_word = v;
				return 0;
			}
			continue;
		}
		if (spins < GOMPI_MODE_POLLS && !gompi_node.policy.is_oversubscribed) {
			gompi_pause();
			continue;
		}
		if (spins < 2 * GOMPI_MODE_POLLS) {
			sched_yield();
			continue;
		}
		if (gompi_failure_count() != 0) {
			int failed = gompi_node.is_fault_tolerant ? release_failed(w, m, v) : gompi_win_failed_local(w);
			gompi_note_failed(failed);
			if (failed != GOMPI_NONE_FAILED)
				return MPI_ERR_PROC_ABORTED;
		}
		if ((v & ACCUMULATE_SLEEPERS) || gompi_cas_weak_seq_cst(word, &v, v | ACCUMULATE_SLEEPERS)) {
			gompi_futex_wait(word, v | ACCUMULATE_SLEEPERS, gompi_node.policy.max_sleep_ns);
			gompi_go_callbacks.find_failed();
		}
	}
}

// Waits while the thread with activity flag k of process i is in an update that it began before the membarrier(2).
// Returns false if process i has failed during that update.
static bool wait_for_activity(int i, int k) {
	struct gompi_activity *activity = &gompi_cell(i)->activity[k];
	uint64_t first = gompi_load_acquire(&activity->seq);
	if (first % 2 == 0)
		return true;
	for (int spins = 0; gompi_load_acquire(&activity->seq) == first; spins++) {
		if (spins < GOMPI_MODE_POLLS && !gompi_node.policy.is_oversubscribed) {
			gompi_pause();
		} else {
			sched_yield();
			if (spins % GOMPI_ACTIVITY_POLLS == GOMPI_ACTIVITY_POLLS - 1)
				gompi_go_callbacks.find_failed();
			if (gompi_load_seq_cst(&gompi_cell(i)->state) == GOMPI_STATE_FAILED)
				return gompi_load_acquire(&activity->seq) != first;
		}
	}
	return true;
}

// Waits for the small updates of all threads of process i. If process i has failed during such an update, no element is
// half updated, so the failure does no harm.
static void wait_for_activities(int i) {
	uint32_t used = gompi_load_seq_cst(&gompi_cell(i)->activity_used) & ((1u << GOMPI_ACTIVITY_SLOTS) - 1);
	for (; used != 0; used &= used - 1)
		wait_for_activity(i, __builtin_ctz(used));
}

// Waits until an owner whose ownership is revoked has left its update. Returns false if its process failed during that
// update.
static bool wait_for_owner(uint32_t owner_id) {
	uint32_t at = owner_id >> ACCUMULATE_OWNER_SHIFT;
	return wait_for_activity((int)(at / GOMPI_ACTIVITY_SLOTS), (int)(at % GOMPI_ACTIVITY_SLOTS));
}

int gompi_accumulate_lock(struct gompi_win *w, int rank) {
	struct gompi_win_member *m = gompi_member(w, rank);
	if (gompi_my_activity == NULL)
		gompi_activity_acquire();
	const uint32_t owner_id = gompi_my_owner_id;
	uint32_t old_word, transfers = 0;
	int rc = lock_word(w, m, &old_word);
	if (rc != MPI_SUCCESS)
		return rc;
	if (old_word == 0) {
		gompi_node_membarrier();
		// Members on other nodes need no check, because a process of this node applies their accumulates.
		for (int i = 0; i < w->local_size; i++)
			wait_for_activities(gompi_local_index(gompi_member(w, gompi_win_rank_of_local(w, i))->peer));
		gompi_store(&m->accumulate_small_streak, 0);
	} else if ((old_word & ACCUMULATE_OWNED) && old_word != owner_id) {
		gompi_node_membarrier();
		if (!wait_for_owner(old_word)) {
			// otherwise the lock stays held, as if the failed process held it
			if (gompi_node.is_fault_tolerant)
				wake_sleepers(m, gompi_swap_seq_cst(&m->accumulate_state, ACCUMULATE_BULK));
			return MPI_ERR_PROC_ABORTED;
		}
		gompi_store(&m->accumulate_small_streak, 0);
		transfers = REVOKE_TRANSFERS;
	}
	uint32_t last = gompi_load(&m->accumulate_last_owner);
	gompi_store(&m->accumulate_lock_streak,
		    last == owner_id && owner_id != 0 ? gompi_load(&m->accumulate_lock_streak) + 1 : 0);
	if (last != owner_id) {
		gompi_store(&m->accumulate_last_owner, owner_id);
		transfers += last != 0 && owner_id != 0;
	}
	if (transfers != 0 && (transfers += gompi_load(&m->accumulate_transfers)) <= MAX_TRANSFER_COUNT)
		gompi_store(&m->accumulate_transfers, transfers);
	return MPI_SUCCESS;
}

// Returns the value of accumulate_state after an update under the lock, and updates the counts.
static uint32_t next_mode(struct gompi_win_member *m, bool small) {
	uint32_t count = small ? gompi_load(&m->accumulate_small_streak) + 1 : 0;
	gompi_store(&m->accumulate_small_streak, count);
	if (count >= MIN_SMALL_STREAK && gompi_node.has_membarrier)
		return 0;
	uint32_t transfers = gompi_load(&m->accumulate_transfers);
	if (gompi_my_owner_id == 0 || gompi_load(&m->accumulate_lock_streak) < transfers * STREAK_PER_TRANSFER)
		return ACCUMULATE_BULK;
	gompi_store(&m->accumulate_transfers, transfers / 2);
	return gompi_my_owner_id;
}

void gompi_accumulate_unlock(struct gompi_win *w, int rank, bool small) {
	struct gompi_win_member *m = gompi_member(w, rank);
	wake_sleepers(m, gompi_swap_seq_cst(&m->accumulate_state, next_mode(m, small)));
}

void gompi_owner_release(struct gompi_win_member *m) {
	uint32_t owner_id = gompi_my_owner_id;
	gompi_cas_strong(&m->accumulate_state, &owner_id, 0); // fails if another thread has acquired the lock
}
