// Processes of the job that are lost, and the waits that cannot end for that reason.
#ifndef GOMPI_LOSS_H
#define GOMPI_LOSS_H

#include "base/wait.h"

enum {
	GOMPI_NOBODY = -1,          // no process is
	GOMPI_SOMEBODY = INT32_MAX, // one is, and it is not known which
};

// Returns true if a process of this node or another, by its number, is known to be lost.
bool gompi_is_lost(int rank);

// Returns true if a process is lost, or cannot be reached since another process has left a place in its memory
// unfilled. place belongs to the wait that asks, and is zeroed before its first call.
bool gompi_is_gone(int rank, struct gompi_stuck *place);

// Returns the rank of the first that is known to be, GOMPI_SOMEBODY or GOMPI_NOBODY.
int gompi_first_lost(void);

// Records that a process of another node is lost, and why (enum gompi_lost_why). Returns false if that was known.
// Nobody is woken.
bool gompi_lose(int rank, uint32_t why);

// Returns the process whose loss keeps a wait from ever ending, one that the wait depends on; GOMPI_NOBODY: there is
// none. place is the wait's, zeroed before its first call. It costs a look at each member of the object; 0 where nobody
// is lost at all.
int gompi_loss_found(const struct gompi_waiting *what, struct gompi_stuck *place);
static inline int gompi_loss_to(const struct gompi_waiting *what, struct gompi_stuck *place) {
	return __builtin_expect(gompi_load(&gompi_header()->broken) == 0, 1) ? GOMPI_NOBODY
									     : gompi_loss_found(what, place);
}

// Remembers for this thread whose loss has ended a wait, for the next gompi_lost_text (verdict.h).
void gompi_loss_note(int rank);

#endif
