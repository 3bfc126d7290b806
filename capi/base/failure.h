// Failed processes of the job, and the waits that cannot complete because of them.
#ifndef GOMPI_FAILURE_H
#define GOMPI_FAILURE_H

#include "base/wait.h"

enum {
	GOMPI_NONE_FAILED = -1,           // no process has failed
	GOMPI_UNKNOWN_FAILED = INT32_MAX, // a process has failed; its number is unknown
	GOMPI_REVOKED = INT32_MAX - 1,    // no process has failed, but the communicator of a wait has been revoked
};

// Returns true if the process with this number, on this or another node, is known to have failed.
bool gompi_is_failed(int rank);

// Returns true if the process has failed, or can receive nothing because an entry of its ring or inbox is stuck: a
// sender has reserved the entry and never filled it. `*stuck` keeps state between the calls of one wait. The wait
// zeroes `*stuck` before its first call.
bool gompi_is_unreachable(int rank, struct gompi_stuck_entry *stuck);

// Returns the number of the first process that is known to have failed, GOMPI_UNKNOWN_FAILED or GOMPI_NONE_FAILED.
int gompi_first_failed(void);

// Notes in the node header that a process of another node has failed, and the cause (enum gompi_failure_cause). If the
// failure is noted already, replaces its cause only if the new cause is GOMPI_FAILED_NODE_TIMEOUT. If all entries are
// used, only sets failed_overflow. Returns true if the node header has changed. Wakes no thread.
bool gompi_record_failure(int rank, uint32_t cause);

// Notes that a process of another job has failed, or one of this job after MPI_Finalize. Only this process knows it.
// Returns false if it has been noted before.
bool gompi_record_foreign_failure(int number);
// Notes that all processes of the other job of process `number` have called MPI_Finalize, so the end of their
// connections is no failure. A wait for such a process itself ends, but not a wait for other members of its group.
void gompi_record_job_end(int number);
// Notes that process `number` of this job ends after MPI_Finalize, so the end of its connection is no failure. A wait
// for this process alone ends, but not a wait for other members of its group. Only this process knows it.
void gompi_record_process_end(int number);
// Returns the number of failures and ends of processes that this process knows.
static inline uint32_t gompi_failure_count(void) {
	return gompi_load_acquire(&gompi_node_header()->failed_count) +
	       gompi_load_acquire(&gompi_node.processes->failed_count);
}

// Returns a failed or unreachable process on which the wait depends, or GOMPI_NONE_FAILED. The argument `stuck` is as
// in gompi_is_unreachable. gompi_find_failed_for_wait may check every member of the object; gompi_failed_for_wait calls
// that function only if a process has failed.
int gompi_find_failed_for_wait(const struct gompi_wait_desc *desc, struct gompi_stuck_entry *stuck);
static inline int gompi_failed_for_wait(const struct gompi_wait_desc *desc, struct gompi_stuck_entry *stuck) {
	return __builtin_expect(gompi_failure_count() == 0, 1) ? GOMPI_NONE_FAILED
							       : gompi_find_failed_for_wait(desc, stuck);
}

// Implements find_failed (struct gompi_wait_desc) for a wait that continues whichever processes fail.
int gompi_ignore_failures(const void *of, struct gompi_stuck_entry *place);

// Stores, for this thread, the number of the failed process that ended a wait. The next gompi_failure_text
// (error_status.h) reports it.
void gompi_note_failed(int rank);

#endif
