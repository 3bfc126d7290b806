// The two modes of accumulates and the way from one to the other; see mode.h.
#define _GNU_SOURCE
#include "update/mode.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/tuning.h"
#include "base/up.h"
#include "base/wait.h"

_Thread_local struct gompi_mark *gompi_my_mark __attribute__((tls_model("initial-exec")));

// After so many small updates in a row under the lock the memory goes back to SMALL mode: by then the way back to BULK,
// some 10 us, is paid for.
enum { SMALL_IN_A_ROW = 256 };

static pthread_key_t mark_key;
static pthread_once_t mark_once = PTHREAD_ONCE_INIT;

// A thread's line goes back when the thread ends: a bit for each line in marks_used. In a forked child the thread that
// forked has the line of its twin in the parent, which goes on using it.
static void mark_give_back(void *mark) {
	struct gompi_cell *c = gompi_my_cell();
	if (getpid() != gompi_load(&c->pid))
		return;
	gompi_and_total(&c->marks_used, ~(1u << ((struct gompi_mark *)mark - c->marks)));
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
			pthread_setspecific(mark_key, gompi_my_mark);
			return;
		}
	}
}

static int lock_word(gompi_a32 *word, uint32_t *was) {
	for (int spins = 0;; spins++) {
		uint32_t v = gompi_load(word);
		if (!(v & ACCUMULATE_LOCKED)) {
			// seq_cst: pairs with the unlock, and is before the membarrier
			if (gompi_change_total(word, &v, v | ACCUMULATE_LOCKED | ACCUMULATE_BULK)) {
				*was = v;
				return 0;
			}
			continue;
		}
		if (spins < GOMPI_MODE_LOOKS && !gompi_node.policy.crowded) {
			gompi_pause();
			continue;
		}
		if (spins < 2 * GOMPI_MODE_LOOKS) {
			sched_yield();
			continue;
		}
		if (gompi_load_total(&gompi_header()->broken) != 0)
			return MPI_ERR_PROC_ABORTED;
		if ((v & ACCUMULATE_SLEEPERS) || gompi_change_total(word, &v, v | ACCUMULATE_SLEEPERS)) {
			gompi_sleep_on(word, v | ACCUMULATE_SLEEPERS, gompi_node.policy.slice);
			gompi_up.find_dead();
		}
	}
}

// Waits until no thread of process i is in a small update that it began before the membarrier.
static void wait_for_marks(int i) {
	struct gompi_cell *c = gompi_cell(i);
	uint32_t used = gompi_load_total(&c->marks_used) & ((1u << GOMPI_MARK_SLOTS) - 1);
	for (; used != 0; used &= used - 1) {
		gompi_a64 *seq = &c->marks[__builtin_ctz(used)].seq;
		uint64_t first = gompi_load_acquire(seq);
		if (first % 2 == 0)
			continue;
		for (int spins = 0; gompi_load_acquire(seq) == first; spins++) {
			if (spins < GOMPI_MODE_LOOKS && !gompi_node.policy.crowded) {
				gompi_pause();
			} else {
				sched_yield();
				if (gompi_load_total(&gompi_header()->broken) != 0)
					return; // whoever died in an update will not end it
			}
		}
	}
}

int gompi_accumulate_lock(struct gompi_win *w, int rank) {
	struct gompi_win_member *m = gompi_member(w, rank);
	uint32_t was;
	int rc = lock_word(&m->accumulate, &was);
	if (rc || (was & ACCUMULATE_BULK))
		return rc;
	if (gompi_node.membarrier)
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
	// Accumulates of members on other nodes are applied by a process here.
	for (int i = 0; i < w->local_n; i++)
		wait_for_marks(gompi_on_node(gompi_member(w, gompi_win_local(w, i))->peer));
	gompi_store(&m->accumulate_small, 0);
	return 0;
}

void gompi_accumulate_unlock(struct gompi_win *w, int rank, bool small) {
	struct gompi_win_member *m = gompi_member(w, rank);
	uint32_t count = small ? gompi_load(&m->accumulate_small) + 1 : 0;
	gompi_store(&m->accumulate_small, count);
	uint32_t to = count >= SMALL_IN_A_ROW && gompi_node.membarrier ? 0 : ACCUMULATE_BULK;
	if (gompi_swap_total(&m->accumulate, to) & ACCUMULATE_SLEEPERS)
		syscall(SYS_futex, &m->accumulate, FUTEX_WAKE, 1 << 30, NULL, NULL, 0);
}
