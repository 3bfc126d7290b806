// Updates of mapped window memory: the part of an accumulate-type call at its target, whatever path the call has taken.
#ifndef GOMPI_UPDATE_H
#define GOMPI_UPDATE_H

#include "datatype/atomic.h"
#include "datatype/predefined.h"
#include "update/mode.h"
#include "win/operation.h"

// An operation in progress on the memory of its target. The caller calls gompi_update_begin, then gompi_update any
// number of times, then gompi_update_end.
struct gompi_update {
	struct gompi_win *w;
	const struct gompi_operation *operation; // only its kind, target, op and compare are used
	MPI_Datatype element;                    // predefined type of the elements
	// Set by gompi_update_begin:
	uint64_t atomic_bytes; // bytes of an element if atomic instructions cover it, else 0
	uint64_t max_elements; // maximum number of elements to update before the lock is released to other threads
	// number of elements that may still be updated before the lock is released or, in a small update, before the
	// activity flag is cleared briefly
	uint64_t elements_left;
	bool needs_no_lock; // atomic instructions can update all elements without the lock
	enum gompi_hold hold;
};

// Prepares the update of `elements` elements. The first element is at `to`. Acquires the memory's lock, or begins an
// update in which an atomic instruction updates each element. All further elements must be at multiples of the
// element's size from `to`; otherwise gompi_update acquires the lock for them. The window's mpi_accumulate_granularity,
// if set, limits the number of bytes per acquisition of the lock. If the granularity is at most GOMPI_ATOMIC_MAX_COUNT
// elements, atomic instructions update the elements without the lock. This requires that such instructions exist for
// the elements, and that the elements are longer than one byte. Returns 0 or MPI_ERR_PROC_ABORTED.
int gompi_update_begin(struct gompi_update *u, uint64_t elements, const char *to);
// Updates n elements at `to` with the elements at `origin`. Stores the old values in `result` unless `result` is NULL.
// Returns 0, or MPI_ERR_PROC_ABORTED if the lock holder has failed; then some elements are not updated.
int gompi_update(struct gompi_update *u, char *to, const void *origin, void *result, uint64_t n);
// Releases the lock, or clears the activity flag. Must be called also after an error.
void gompi_update_end(struct gompi_update *u);

// Returns true if non-contiguous elements are better copied to an array of up to GOMPI_GATHER_BYTES bytes, updated
// there, and copied back. This requires that the lock is held until the end of the operation. It also requires that the
// elements have no gaps, because gaps must not be written.
enum { GOMPI_GATHER_BYTES = 4096 };
static inline bool gompi_update_can_gather(const struct gompi_update *u) {
	return u->hold == HOLD_LOCK && u->max_elements == UINT64_MAX && gompi_simple_bytes(u->element) != 0;
}

// Updates n contiguous elements of a predefined type at `to` in the target's mapped memory, at any alignment, without a
// description of the operation. Returns true on success. Returns false, without an update, if the operation is not
// defined for the type, or if the window's granularity is at most GOMPI_ATOMIC_MAX_COUNT elements. Also returns false
// if the lock holder has failed. If the window has a granularity, earlier segments may then have been updated already.
bool gompi_update_contiguous(struct gompi_win *w, int target, char *to, const void *origin, void *result, MPI_Count n,
			     MPI_Datatype type, MPI_Op op);

#endif
