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

#include "base/loss.h"
#include "base/tuning.h"
#include "base/up.h"
#include "base/wait.h"

_Thread_local struct gompi_mark *gompi_my_mark __attribute__((tls_model("initial-exec")));
_Thread_local uint32_t gompi_my_claim __attribute__((tls_model("initial-exec")));

// After this number of consecutive small updates under the lock, the memory returns to SMALL mode: by then the change
// back to BULK, some 10 us, has paid off.
enum { SMALL_IN_A_ROW = 256 };

// The lock costs some 10 ns more than ownership, and to revoke ownership costs some 10 us. A thread needs ROW_PER_TURN
// consecutive updates for each counted transfer before it becomes the owner. A revocation counts as REVOKED_TURNS
// transfers, a hand-over of the lock from one thread to another as one.
enum { REVOKED_TURNS = 16, ROW_PER_TURN = 16, MOST_TURNS = 256 };

static pthread_key_t mark_key;
static pthread_once_t mark_once = PTHREAD_ONCE_INIT;

// The owners of the activity flags, so that gompi_marks_forget can release them.
static pthread_mutex_t mark_mu = PTHREAD_MUTEX_INITIALIZER;
static struct mark_owner {
	struct gompi_mark **mark;
	uint32_t *claim;
} owner[GOMPI_MARK_SLOTS];

void gompi_marks_forget(void) {
	pthread_mutex_lock(&mark_mu);
	for (int i = 0; i < GOMPI_MARK_SLOTS; i++)
		if (owner[i].mark != NULL)
			*owner[i].mark = NULL, *owner[i].claim = 0;
	memset(owner, 0, sizeof owner);
	pthread_mutex_unlock(&mark_mu);
}

// Releases a thread's activity flag when the thread ends; marks_used has a bit for each flag. In a forked child, the
// thread that forked has the flag of its twin in the parent, which continues to use it.
static void mark_give_back(void *mark) {
	struct gompi_cell *c = gompi_my_cell();
	if (getpid() != gompi_load(&c->pid))
		return;
	pthread_mutex_lock(&mark_mu);
	if (gompi_my_mark == mark) { // otherwise the flag belongs to another node
		owner[(struct gompi_mark *)mark - c->marks] = (struct mark_owner){0};
		gompi_and_total(&c->marks_used, ~(1u << ((struct gompi_mark *)mark - c->marks)));
	}
	pthread_mutex_unlock(&mark_mu);
}

static void mark_init(void) { pthread_key_create(&mark_key, mark_give_back); }

void gompi_mark_get(void) {
	if (!gompi_node.membarrier)
		return;
	pthread_once(&mark_once, mark_init);
	struct gompi_cell *c = gompi_my_cell();
	uint32_t used = gompi_load_total(&c->marks_used);
	for (;;) {
		int i = __builtin_ctz(~used);
		if (i >= GOMPI_MARK_SLOTS)
			return;
		if (gompi_change_total(&c->marks_used, &used, used | 1u << i)) {
			gompi_my_mark = &c->marks[i];
			gompi_my_claim = ACCUMULATE_OWNED | (uint32_t)(gompi_node.me * GOMPI_MARK_SLOTS + i)
								    << ACCUMULATE_OWNER_SHIFT;
			pthread_setspecific(mark_key, gompi_my_mark);
			pthread_mutex_lock(&mark_mu);
			owner[i] = (struct mark_owner){&gompi_my_mark, &gompi_my_claim};
			pthread_mutex_unlock(&mark_mu);
			return;
		}
	}
}

// Acquires the lock in an `accumulate` word; stores its former value in *was. Blocks. Returns 0 or
// MPI_ERR_PROC_ABORTED.
static int lock_word(const struct gompi_win *w, gompi_a32 *word, uint32_t *was) {
	for (int spins = 0;; spins++) {
		uint32_t v = gompi_load(word);
		if (!(v & ACCUMULATE_LOCKED)) {
			// seq_cst: pairs with the unlock, and comes before the membarrier(2)
			if (gompi_change_total(word, &v, ACCUMULATE_LOCKED | ACCUMULATE_BULK)) {
				*was = v;
				return 0;
			}
			continue;
		}
		if (spins < GOMPI_MODE_LOOKS && !gompi_node.policy.oversubscribed) {
			gompi_pause();
			continue;
		}
		if (spins < 2 * GOMPI_MODE_LOOKS) {
			sched_yield();
			continue;
		}
		if (gompi_load_total(&gompi_header()->broken) != 0) {
			int lost = gompi_win_lost_here(w);
			gompi_loss_note(lost);
			if (lost != GOMPI_NOBODY)
				return MPI_ERR_PROC_ABORTED;
		}
		if ((v & ACCUMULATE_SLEEPERS) || gompi_change_total(word, &v, v | ACCUMULATE_SLEEPERS)) {
			gompi_sleep_on(word, v | ACCUMULATE_SLEEPERS, gompi_node.policy.slice);
			gompi_up.find_dead();
		}
	}
}

// Waits until the thread of process i with activity flag k is not in an update that it began before the membarrier(2).
// Returns false if it has died in that update.
static bool wait_for_mark(int i, int k) {
	struct gompi_mark *mark = &gompi_cell(i)->marks[k];
	uint64_t first = gompi_load_acquire(&mark->seq);
	if (first % 2 == 0)
		return true;
	for (int spins = 0; gompi_load_acquire(&mark->seq) == first; spins++) {
		if (spins < GOMPI_MODE_LOOKS && !gompi_node.policy.oversubscribed) {
			gompi_pause();
		} else {
			sched_yield();
			if (spins % GOMPI_MARK_LOOKS == GOMPI_MARK_LOOKS - 1)
				gompi_up.find_dead();
			if (gompi_load_total(&gompi_cell(i)->state) == GOMPI_STATE_DEAD)
				return gompi_load_acquire(&mark->seq) != first;
		}
	}
	return true;
}

// Waits for the small updates of all threads of process i. A thread that died in one has left each element whole.
static void wait_for_marks(int i) {
	uint32_t used = gompi_load_total(&gompi_cell(i)->marks_used) & ((1u << GOMPI_MARK_SLOTS) - 1);
	for (; used != 0; used &= used - 1)
		wait_for_mark(i, __builtin_ctz(used));
}

// Waits until an owner whose ownership is revoked has left its update. Returns false if it died in that update.
static bool wait_for_owner(uint32_t claim) {
	uint32_t at = claim >> ACCUMULATE_OWNER_SHIFT;
	return wait_for_mark((int)(at / GOMPI_MARK_SLOTS), (int)(at % GOMPI_MARK_SLOTS));
}

int gompi_accumulate_lock(struct gompi_win *w, int rank) {
	struct gompi_win_member *m = gompi_member(w, rank);
	if (gompi_my_mark == NULL)
		gompi_mark_get();
	const uint32_t claim = gompi_my_claim;
	uint32_t was, turns = 0;
	int rc = lock_word(w, &m->accumulate, &was);
	if (rc != MPI_SUCCESS)
		return rc;
	if (was == 0) {
		gompi_node_barrier();
		// A process of this node applies the accumulates of members on other nodes.
		for (int i = 0; i < w->local_n; i++)
			wait_for_marks(gompi_on_node(gompi_member(w, gompi_win_local(w, i))->peer));
		gompi_store(&m->accumulate_small, 0);
	} else if ((was & ACCUMULATE_OWNED) && was != claim) {
		gompi_node_barrier();
		if (!wait_for_owner(was))
			return MPI_ERR_PROC_ABORTED; // the lock stays held, as if the dead process held it
		gompi_store(&m->accumulate_small, 0);
		turns = REVOKED_TURNS;
	}
	uint32_t last = gompi_load(&m->accumulate_last);
	gompi_store(&m->accumulate_row, last == claim && claim != 0 ? gompi_load(&m->accumulate_row) + 1 : 0);
	if (last != claim) {
		gompi_store(&m->accumulate_last, claim);
		turns += last != 0 && claim != 0;
	}
	if (turns != 0 && (turns += gompi_load(&m->accumulate_turns)) <= MOST_TURNS)
		gompi_store(&m->accumulate_turns, turns);
	return MPI_SUCCESS;
}

// Returns the value of the word after an update under the lock, and updates the counts.
static uint32_t next_mode(struct gompi_win_member *m, bool small) {
	uint32_t count = small ? gompi_load(&m->accumulate_small) + 1 : 0;
	gompi_store(&m->accumulate_small, count);
	if (count >= SMALL_IN_A_ROW && gompi_node.membarrier)
		return 0;
	uint32_t turns = gompi_load(&m->accumulate_turns);
	if (gompi_my_claim == 0 || gompi_load(&m->accumulate_row) < turns * ROW_PER_TURN)
		return ACCUMULATE_BULK;
	gompi_store(&m->accumulate_turns, turns / 2);
	return gompi_my_claim;
}

void gompi_accumulate_unlock(struct gompi_win *w, int rank, bool small) {
	struct gompi_win_member *m = gompi_member(w, rank);
	if (gompi_swap_total(&m->accumulate, next_mode(m, small)) & ACCUMULATE_SLEEPERS)
		syscall(SYS_futex, &m->accumulate, FUTEX_WAKE, 1 << 30, NULL, NULL, 0);
}

void gompi_owner_gives_up(struct gompi_win_member *m) {
	uint32_t claim = gompi_my_claim;
	gompi_change_once(&m->accumulate, &claim, 0); // unless a thread is acquiring the lock
}
