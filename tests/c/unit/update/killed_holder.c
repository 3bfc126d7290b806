/* Proves: in a fault-tolerant job, the lock that accumulates take (update/mode.h) becomes free if its holder is killed
 * after any instruction of acquiring or releasing it. The lock of a live process stays held.
 *
 * sanitizer: address (one thread)
 */
#include "../killed.h"

#include "update/mode.h"

enum { PROCESSES = 3, VICTIM = 2 };

static struct gompi_win *w;
static struct gompi_win_member *m;

static void locks_and_unlocks(void) {
	if (gompi_accumulate_lock(w, 0) != MPI_SUCCESS)
		_exit(1);
	gompi_accumulate_unlock(w, 0, false);
}

static int found_held;

static void check_after_kill(long n) {
	int rc = gompi_accumulate_lock(w, 0);
	if (rc != MPI_SUCCESS) {
		found_held++;
		CHECK(rc == MPI_ERR_PROC_ABORTED, "%ld: class %d", n, rc);
		CHECK(gompi_load(&m->accumulate_state) == 0, "%ld: word %#x", n, gompi_load(&m->accumulate_state));
		CHECK(gompi_accumulate_lock(w, 0) == MPI_SUCCESS, "%ld: no lock after the error", n);
	}
	gompi_accumulate_unlock(w, 0, false);
}

/* Kills the victim in a lock that waits for small updates (if mode is 0), or in a later one. */
static void killed(uint32_t mode) {
	found_held = 0;
	gompi_store(&m->accumulate_state, mode);
	unit_each_instruction(locks_and_unlocks, VICTIM, check_after_kill, w->shared,
			      unit_control(PROCESSES, PROCESSES));
	CHECK(found_held > 0, "never killed with the lock");
}

int main(void) {
	unit_node(PROCESSES);
	gompi_node.is_fault_tolerant = true;
	unit_hurry = true;
	w = unit_window(PROCESSES, unit_memory(4096), 64, true);
	m = gompi_member(w, 0);
	killed(0);
	killed(ACCUMULATE_BULK);
	return unit_end();
}
