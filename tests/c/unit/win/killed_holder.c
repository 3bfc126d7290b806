/* Proves: in a fault-tolerant job, the lock of a member's memory (win/lock.h) becomes free if its holder is killed
 * after any instruction of acquiring or releasing it. A wait for the lock of a failed holder ends with an error, later
 * requests succeed, and the locks of live members stay held.
 *
 * sanitizer: address (one thread)
 */
#include "../killed.h"

#include "win/lock.h"

enum { MEMBERS = 5, VICTIM = 2, OTHER = 3, TARGET = 1 };

static struct gompi_win *w;
static struct gompi_win_member *m;

static gompi_a32 *shared_locks_of(int origin) { return &w->shared_locks[TARGET * MEMBERS + origin]; }

static void fresh(void) {
	w = unit_window(MEMBERS, unit_memory(4096), 64, true);
	m = gompi_member(w, TARGET);
}

static bool try(bool exclusive) { return gompi_lock_try_newcomer(w, TARGET, exclusive); }
static int wait_for(bool exclusive) { return gompi_lock_wait(w, TARGET, exclusive, "lock"); }

static void is_free(const char *when, long n) {
	CHECK(gompi_load(&m->lock) % LOCK_QUEUED == 0, "%s, %ld: lock word %#llx", when, n,
	      (unsigned long long)gompi_load(&m->lock));
	for (int i = 0; i < MEMBERS; i++)
		CHECK(gompi_load(shared_locks_of(i)) == 0, "%s, %ld: member %d has a shared lock", when, n, i);
}

static void fail(int process) {
	gompi_store(&gompi_cell(process)->state, GOMPI_STATE_FAILED);
	gompi_store(&gompi_node_header()->failed_count, 1);
}

static void revive(void) {
	gompi_store(&gompi_node_header()->failed_count, 0);
	gompi_store(&gompi_cell(VICTIM)->state, 0);
	gompi_store(&gompi_cell(OTHER)->state, 0);
}

/* --- Which locks can be held at the same time */

static void states(void) {
	fresh();
	CHECK(try(false), "no reader alone");
	gompi_store(shared_locks_of(OTHER), 1);
	CHECK(!try(true), "a writer among readers");
	gompi_unlock_any(w, TARGET, false);
	CHECK(!try(true), "a writer beside a reader");
	CHECK(try(false), "a second reader");
	gompi_unlock_any(w, TARGET, false);
	gompi_store(shared_locks_of(OTHER), 0);
	is_free("after the readers", 0);
	CHECK(try(true), "no writer alone");
	CHECK(!try(true) && !try(false), "somebody beside a writer");
	gompi_unlock_any(w, TARGET, true);
	is_free("after the writer", 0);
	gompi_store(&m->lock, LOCK_WRITER | OTHER);
	CHECK(!try(true) && !try(false), "somebody beside another writer");
}

/* --- Words that a failed process leaves */

static void fabricated(bool holds_exclusive, bool exclusive) {
	fresh();
	if (holds_exclusive)
		gompi_store(&m->lock, LOCK_WRITER | VICTIM);
	else
		gompi_store(shared_locks_of(VICTIM), 1);
	fail(VICTIM);
	CHECK(wait_for(exclusive) == MPI_ERR_PROC_ABORTED, "a wait for a dead holder succeeded");
	is_free("after the wait", 0);
	CHECK(wait_for(exclusive) == MPI_SUCCESS, "a later wait failed");
	gompi_unlock_any(w, TARGET, exclusive);
	is_free("after the later wait", 0);
	revive();
}

static void of_live_members(void) {
	fresh();
	gompi_store(&m->lock, 7 * LOCK_QUEUED + (LOCK_WRITER | OTHER));
	fail(VICTIM);
	CHECK(gompi_lock_release_failed(w, TARGET) == 0, "released the lock of a live writer");
	CHECK(gompi_load(&m->lock) == 7 * LOCK_QUEUED + (LOCK_WRITER | OTHER), "the word has changed");
	fail(OTHER);
	CHECK(gompi_lock_release_failed(w, TARGET) == 1 && gompi_load(&m->lock) == 7 * LOCK_QUEUED,
	      "the lock word is %#llx", (unsigned long long)gompi_load(&m->lock));
	revive();
	fail(VICTIM);
	gompi_store(shared_locks_of(VICTIM), 1);
	gompi_store(shared_locks_of(OTHER), 1);
	CHECK(gompi_lock_release_failed(w, TARGET) == 2, "not released the lock of the dead reader");
	CHECK(gompi_load(shared_locks_of(OTHER)) == 1 && !try(true), "released the lock of a live reader");
	revive();
}

/* --- Kills after each instruction */

static bool victim_exclusive, exclusive;
static int found_held;

static void locks_and_unlocks(void) {
	w->local_rank = w->me = VICTIM;
	if (!try(victim_exclusive))
		_exit(1);
	gompi_unlock_any(w, TARGET, victim_exclusive);
}

static void check_after_kill(long n) {
	int rc = try(exclusive) ? MPI_SUCCESS : wait_for(exclusive);
	if (rc == MPI_SUCCESS) {
		gompi_unlock_any(w, TARGET, exclusive);
		gompi_lock_release_failed(w, TARGET);
	} else {
		CHECK(rc == MPI_ERR_PROC_ABORTED, "%ld: class %d", n, rc);
		found_held++;
	}
	is_free("after a kill", n);
}

static void killed(bool victim, bool survivor) {
	victim_exclusive = victim, exclusive = survivor;
	found_held = 0;
	fresh();
	unit_each_instruction(locks_and_unlocks, VICTIM, check_after_kill, w->shared, unit_control(MEMBERS, MEMBERS));
	CHECK((found_held > 0) == (victim || survivor), "killed with the lock %d times", found_held);
}

int main(void) {
	unit_node(MEMBERS);
	gompi_node.is_fault_tolerant = true;
	unit_hurry = true;
	states();
	of_live_members();
	for (int i = 0; i < 4; i++) {
		if (i != 0) /* not two readers */
			fabricated(i & 1, i & 2);
		killed(i & 1, i & 2);
	}
	return unit_end();
}
