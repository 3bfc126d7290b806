// What the communication calls share: the fast check and, for everything it does not take, one description of an
// operation.
//
// Each call looks at the common case first: valid window and rank, open epoch, target mapped here, equal predefined
// types and counts, in bounds. If any of that does not hold it describes itself in a struct gompi_operation and leaves
// the rest to gompi_rma_do (do.c), which finds out why, and either does it or says what is wrong.
#ifndef GOMPI_RMA_H
#define GOMPI_RMA_H

#include "datatype/datatype.h"
#include "datatype/memory.h"
#include "datatype/simple.h"
#include "base/status.h"
#include "win/operation.h"
#include "win/win.h"

// Does r and gives its request, or reports what is wrong with it through the window's error handler. What the call
// returns.
int gompi_rma_do(const struct gompi_operation *r);

// Does a put, or a get, of any datatypes if all is as it should be and the target's memory is mapped here, all of it.
// Returns true if it has (typed.c).
bool gompi_typed_here(struct gompi_win *w, bool put, const void *address, MPI_Count mine_count, MPI_Datatype mine_type,
		      int rank, MPI_Aint disp, MPI_Count target_count, MPI_Datatype target_type);

// Bits that are set in either word; compilers do not make one instruction of a relaxed load and what is done with it.
static inline uint32_t gompi_either(const gompi_a32 *a, const gompi_a32 *b) {
	uint32_t bits = gompi_load(a);
#if defined(__x86_64__)
	__asm__ __volatile__("orl %1, %0" : "+r"(bits) : "m"(*b) : "cc");
#else
	bits |= gompi_load(b);
#endif
	return bits;
}

// Finds the address of [disp, disp + count elements of size bytes) in the memory of rank, and the number of bytes.
// false if the fast path cannot have it: no epoch, not mapped, out of bounds, or any of the arguments is not what it
// should be.
static inline bool gompi_direct(struct gompi_win *w, int rank, MPI_Aint disp, MPI_Count count, int64_t size,
				char **address, int64_t *bytes) {
	if (__builtin_expect(w == NULL || (uint32_t)rank >= w->n, 0))
		return false;
	struct gompi_target *t = &w->targets[(uint32_t)rank];
	// The bits of both words that open an epoch to this target are the same ones (win.h).
	int64_t offset;
	if (__builtin_expect((gompi_either(&w->access, &t->state) & TARGET_ACCESS) == 0 ||
				     __builtin_mul_overflow((int64_t)disp, (int64_t)t->disp_unit, &offset) ||
				     __builtin_mul_overflow(count, size, bytes),
			     0))
		return false;
	// What is negative becomes huge here. Eight bytes, the commonest number, have a limit of their own.
	if (__builtin_expect(*bytes == 8, 1)) {
		if (__builtin_expect((uint64_t)offset >= t->reach8, 0))
			return false;
	} else if ((uint64_t)offset > t->reach || (uint64_t)*bytes > t->reach - (uint64_t)offset) {
		return false;
	}
	*address = t->base + offset;
	return true;
}

// The same for memory that is mapped here in part (gompi_part); where gompi_direct fails. No bytes: false.
bool gompi_direct_part(struct gompi_win *w, int rank, MPI_Aint disp, MPI_Count count, int64_t size, char **address,
		       int64_t *bytes);
// The same without a call, where w is a window.
static inline bool gompi_direct_here(struct gompi_win *w, int rank, MPI_Aint disp, MPI_Count count, int64_t size,
				     char **address, int64_t *bytes) {
	if (w->parts == NULL || (uint32_t)rank >= w->n)
		return false;
	struct gompi_target *t = &w->targets[rank];
	const struct gompi_part p = gompi_part_of(w, rank);
	uint32_t open = gompi_load(&t->state) | gompi_load(&w->access);
	int64_t offset;
	if ((open & TARGET_ACCESS) == 0 || __builtin_mul_overflow((int64_t)disp, (int64_t)t->disp_unit, &offset) ||
	    __builtin_mul_overflow(count, size, bytes) || *bytes <= 0)
		return false;
	*address = t->base + offset;
	return offset >= (int64_t)p.from && offset <= (int64_t)p.to && (uint64_t)*bytes <= p.to - (uint64_t)offset;
}

#endif
