// Updating mapped window memory: what an accumulate-type call does at its target, whichever way it has come.
#ifndef GOMPI_UPDATE_H
#define GOMPI_UPDATE_H

#include "datatype/atomic.h"
#include "datatype/simple.h"
#include "update/mode.h"
#include "win/operation.h"

// One operation under way on the memory of its target. Begin, any number of updates of pieces, end.
struct gompi_update {
	struct gompi_win *w;
	const struct gompi_operation *operation; // of which kind, target, op and compare count
	MPI_Datatype element;                    // predefined
	// Set by begin:
	uint64_t size; // of an element that instructions cover, else 0
	uint64_t most; // elements that may be updated with the lock before it is given to others
	uint64_t left; // that may still be updated before, or before a small update's mark is taken away for a moment
	bool small;    // no lock would be needed
	enum gompi_hold holds;
};

// Prepares for the update of so many elements altogether, of which the first lies at to: either with the memory's lock
// or so that each element is updated by an instruction. All others lie at multiples of the element's size from it, or
// the memory is locked for each piece that does not. The window's mpi_accumulate_granularity, if it has one, says for
// how many bytes the lock is taken at a time; up to GOMPI_FEW elements it says that there shall be no lock where
// instructions do, single bytes excepted. 0, or MPI_ERR_PROC_ABORTED.
int gompi_update_begin(struct gompi_update *u, uint64_t elements, const char *to);
// Updates n elements at to with those at origin; old values go to result unless that is NULL. 0, or
// MPI_ERR_PROC_ABORTED: a process has died that had the lock, and not all elements are updated.
int gompi_update(struct gompi_update *u, char *to, const void *origin, void *result, uint64_t n);
// Gives back what begin and the updates have taken, also after an error.
void gompi_update_end(struct gompi_update *u);

// Returns true if elements that do not lie together are better updated in an array of up to GOMPI_GATHER bytes, copied
// there and back: the memory is locked, and stays so until the end, and they have no gaps, which must not be written.
enum { GOMPI_GATHER = 4096 };
static inline bool gompi_update_gathers(const struct gompi_update *u) {
	return u->holds == HOLD_LOCK && u->most == UINT64_MAX && gompi_simple(u->element) != 0;
}

// Updates n elements of a predefined type that lie together at to in the target's memory, at any address, and are
// there as a whole: the same without a description of the operation. Returns true if it has; if not, nothing is done:
// the operation is not defined, or the window has a granularity, or whoever had the lock died.
bool gompi_update_together(struct gompi_win *w, int target, char *to, const void *origin, void *result, MPI_Count n,
			   MPI_Datatype type, MPI_Op op);

#endif
