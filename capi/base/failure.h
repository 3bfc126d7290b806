// Failed processes of the job, and the waits that cannot complete because of them.
#ifndef GOMPI_FAILURE_H
#define GOMPI_FAILURE_H

#include "base/wait.h"

enum {
	GOMPI_NONE_FAILED = -1,           // no process has failed
	GOMPI_UNKNOWN_FAILED = INT32_MAX, // a process has failed; its number is unknown
};

// Returns true if the process with this number, on this or another node, is known to have failed.
bool gompi_is_failed(int rank);

// Returns true if the process has failed or is unreachable: another process has reserved an entry in its memory and
// never filled it. The calling wait owns *stuck and zeroes it before the first call.
bool gompi_is_unreachable(int rank, struct gompi_stuck_entry *stuck);

// Returns the number of the first process that is known to have failed, GOMPI_UNKNOWN_FAILED or GOMPI_NONE_FAILED.
int gompi_first_failed(void);

// Records that a process of another node has failed, and the cause (enum gompi_failure_cause). Returns false if that
// was already recorded. Wakes no thread.
bool gompi_record_failure(int rank, uint32_t cause);

// Returns a failed process that the wait depends on, so that the wait cannot complete; GOMPI_NONE_FAILED if none
// of them has failed. The wait owns *stuck and zeroes it before the first call. Checks each member of the object.
// gompi_failed_for_wait checks them only after a process has failed.
int gompi_find_failed_for_wait(const struct gompi_wait_desc *desc, struct gompi_stuck_entry *stuck);
static inline int gompi_failed_for_wait(const struct gompi_wait_desc *desc, struct gompi_stuck_entry *stuck) {
	return __builtin_expect(gompi_load(&gompi_node_header()->failed_count) == 0, 1)
		       ? GOMPI_NONE_FAILED
		       : gompi_find_failed_for_wait(desc, stuck);
}

// Records for this thread which failed process ended a wait. The next gompi_failure_text (error_status.h) reports it.
void gompi_note_failed(int rank);

#endif
