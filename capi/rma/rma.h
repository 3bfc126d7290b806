// The common parts of the communication calls: the fast check and, for the slow path, the description of an operation.
//
// Each call first checks for the common case: valid window and rank, open epoch, mapped target, equal predefined types
// and counts, in bounds. Otherwise it describes itself in a struct gompi_operation and calls gompi_rma_slow_path
// (slow_path.c), which either executes it or reports the error.
#ifndef GOMPI_RMA_H
#define GOMPI_RMA_H

#include "datatype/datatype.h"
#include "datatype/memory.h"
#include "datatype/predefined.h"
#include "base/status.h"
#include "win/operation.h"
#include "win/win.h"

// Executes r and stores its request, or reports its error through the window's error handler. Returns the result of the
// call.
int gompi_rma_slow_path(const struct gompi_operation *r);

// Executes a put or a get of any datatypes if all arguments are valid and all of the target's buffer is mapped in this
// process. Returns true on success (typed.c).
bool gompi_typed_direct(struct gompi_win *w, bool put, const void *address, MPI_Count local_count,
			MPI_Datatype local_type, int rank, MPI_Aint disp, MPI_Count target_count,
			MPI_Datatype target_type);

// Returns *a | *b. Compilers do not fuse a relaxed load with the operation on it.
static inline uint32_t gompi_load_or(const gompi_a32 *a, const gompi_a32 *b) {
	uint32_t bits = gompi_load(a);
#if defined(__x86_64__)
	__asm__ __volatile__("orl %1, %0" : "+r"(bits) : "m"(*b) : "cc");
#else
	bits |= gompi_load(b);
#endif
	return bits;
}

// Stores the address of [disp, disp + count elements of size bytes) in the memory of rank, and the number of bytes.
// Returns false if the fast path cannot handle it: no open epoch, not mapped, out of bounds, or an invalid argument.
static inline bool gompi_resolve_direct(struct gompi_win *w, int rank, MPI_Aint disp, MPI_Count count, int64_t size,
					char **address, int64_t *bytes) {
	if (__builtin_expect(w == NULL || (uint32_t)rank >= w->n, 0))
		return false;
	struct gompi_target *t = &w->targets[(uint32_t)rank];
	// The bits of both words that open an epoch to this target are the same (win.h).
	int64_t offset;
	if (__builtin_expect((gompi_load_or(&w->access, &t->state) & TARGET_ACCESS) == 0 ||
				     __builtin_mul_overflow((int64_t)disp, (int64_t)t->disp_unit, &offset) ||
				     __builtin_mul_overflow(count, size, bytes),
			     0))
		return false;
	// Negative offsets become huge here. 8 bytes, the most common size, have a separate limit.
	if (__builtin_expect(*bytes == 8, 1)) {
		if (__builtin_expect((uint64_t)offset >= t->offset_limit_8b, 0))
			return false;
	} else if ((uint64_t)offset > t->mapped_bytes || (uint64_t)*bytes > t->mapped_bytes - (uint64_t)offset) {
		return false;
	}
	*address = t->base + offset;
	return true;
}

// Resolves an address as gompi_resolve_direct does, in memory of which only a range is mapped (gompi_mapped_range).
// gompi_resolve_direct fails there. Returns false for zero bytes.
bool gompi_resolve_partial_slow(struct gompi_win *w, int rank, MPI_Aint disp, MPI_Count count, int64_t size,
				char **address, int64_t *bytes);
// Does the work of gompi_resolve_partial_slow inline. w must be a window.
static inline bool gompi_resolve_partial_range(struct gompi_win *w, int rank, MPI_Aint disp, MPI_Count count,
					       int64_t size, char **address, int64_t *bytes) {
	if (w->mapped_ranges == NULL || (uint32_t)rank >= w->n)
		return false;
	struct gompi_target *t = &w->targets[rank];
	const struct gompi_mapped_range p = gompi_mapped_range_of(w, rank);
	uint32_t open = gompi_load(&t->state) | gompi_load(&w->access);
	int64_t offset;
	if ((open & TARGET_ACCESS) == 0 || __builtin_mul_overflow((int64_t)disp, (int64_t)t->disp_unit, &offset) ||
	    __builtin_mul_overflow(count, size, bytes) || *bytes <= 0)
		return false;
	*address = t->base + offset;
	return offset >= (int64_t)p.from && offset <= (int64_t)p.to && (uint64_t)*bytes <= p.to - (uint64_t)offset;
}

#endif
