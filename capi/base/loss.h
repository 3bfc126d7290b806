// Failed processes of the job, and the waits that cannot complete because of them.
#ifndef GOMPI_LOSS_H
#define GOMPI_LOSS_H

#include "base/wait.h"

enum {
	GOMPI_NOBODY = -1,          // no process has failed
	GOMPI_SOMEBODY = INT32_MAX, // a process has failed; its number is unknown
};

// Returns true if the process with this number, on this or another node, is known to have failed.
bool gompi_is_lost(int rank);

// Returns true if the process has failed or is unreachable: another process has reserved an entry in its memory and
// never filled it. The calling wait owns *place and zeroes it before the first call.
bool gompi_is_gone(int rank, struct gompi_stuck *place);

// Returns the number of the first process that is known to have failed, GOMPI_SOMEBODY or GOMPI_NOBODY.
int gompi_first_lost(void);

// Records that a process of another node has failed, and the reason (enum gompi_lost_why). Returns false if that was
// already recorded. Wakes no thread.
bool gompi_lose(int rank, uint32_t why);

// Returns a failed process that the wait depends on, so that the wait cannot complete; GOMPI_NOBODY if there is none.
// The wait owns *place and zeroes it before the first call. Checks each member of the object; costs nothing while no
// process has failed.
int gompi_loss_found(const struct gompi_waiting *what, struct gompi_stuck *place);
static inline int gompi_loss_to(const struct gompi_waiting *what, struct gompi_stuck *place) {
	return __builtin_expect(gompi_load(&gompi_header()->broken) == 0, 1) ? GOMPI_NOBODY
									     : gompi_loss_found(what, place);
}

// Records for this thread which failed process ended a wait. The next gompi_lost_text (verdict.h) reports it.
void gompi_loss_note(int rank);

#endif
