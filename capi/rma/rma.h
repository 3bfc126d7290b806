// The common parts of the communication calls: the fast check and, for the slow path, the description of an operation.
//
// Each call first checks for the common case: valid window and rank, open epoch, mapped target, equal predefined types
// and counts, in bounds. The functions of direct.c handle other valid arguments if the call can complete without a
// struct gompi_checked_op. For all other calls, the functions of direct.c fill in a struct gompi_operation and call
// gompi_rma_slow_path (slow_path.c), which executes the call or reports the error.
#ifndef GOMPI_RMA_H
#define GOMPI_RMA_H

#include "datatype/datatype.h"
#include "datatype/memory.h"
#include "datatype/predefined.h"
#include "base/status.h"
#include "win/operation.h"
#include "win/win.h"

// Executes the operation r, or reports its error through the window's error handler. Stores the request of a
// request-based operation. Sets the fields `call`, rma_request and `path` of r. Returns the result of the MPI call.
int gompi_rma_slow_path(struct gompi_operation *r);

// Reports the failed execution of the operation r on w through the window's error handler. Returns the result of the
// MPI call.
__attribute__((cold)) int gompi_rma_raise(struct gompi_win *w, const struct gompi_operation *r, int class);

// Returns *a | *b. It is written in assembly, because compilers do not fuse a relaxed load with the operation on the
// loaded value. In C, a put or get would need one more instruction (TestInstructions).
static inline uint32_t gompi_load_or(const gompi_a32 *a, const gompi_a32 *b) {
	uint32_t bits = gompi_load(a);
#if defined(__x86_64__)
	__asm__ __volatile__("orl %1, %0" : "+r"(bits) : "m"(*b) : "cc");
#else
	bits |= gompi_load(b);
#endif
	return bits;
}

// Stores the address of `count` elements of `size` bytes at displacement `disp` in the memory of `rank`, and the number
// of bytes. Returns false if the fast path cannot handle the access: no open epoch, not mapped, out of bounds, or an
// invalid argument.
static inline bool gompi_resolve_direct(struct gompi_win *w, int rank, MPI_Aint disp, MPI_Count count, int64_t size,
					char **address, int64_t *bytes) {
	if (__builtin_expect(w == NULL || (uint32_t)rank >= w->n, 0))
		return false;
	struct gompi_target *t = &w->targets[(uint32_t)rank];
	// An epoch to this target is open if either word has a bit of TARGET_ACCESS: in w->access, the same bits are
	// ACCESS_FENCE and ACCESS_LOCK_ALL (win.h).
	int64_t offset;
	if (__builtin_expect((gompi_load_or(&w->access, &t->state) & TARGET_ACCESS) == 0 ||
				     __builtin_mul_overflow((int64_t)disp, (int64_t)t->disp_unit, &offset) ||
				     __builtin_mul_overflow(count, size, bytes),
			     0))
		return false;
	// The conversion to uint64_t makes negative offsets huge, so that the comparisons reject them. Accesses of 8
	// bytes, the most common size, have a separate limit, which saves an addition.
	if (__builtin_expect(*bytes == 8, 1)) {
		if (__builtin_expect((uint64_t)offset >= t->offset_limit_8b, 0))
			return false;
	} else if ((uint64_t)offset > t->mapped_bytes || (uint64_t)*bytes > t->mapped_bytes - (uint64_t)offset) {
		return false;
	}
	*address = t->base + offset;
	return true;
}

// Resolves an address like gompi_resolve_direct, for at least one byte in memory that is only partly mapped
// (gompi_mapped_range; direct.c).
bool gompi_resolve_partial(struct gompi_win *w, int rank, MPI_Aint disp, MPI_Count count, int64_t size, char **address,
			   int64_t *bytes);

// Resolves an address by gompi_resolve_direct or, if the memory is only partly mapped, by gompi_resolve_partial.
// Returns false also for 0 bytes.
static inline bool gompi_resolve_mapped(struct gompi_win *w, int rank, MPI_Aint disp, MPI_Count count, int64_t size,
					char **address, int64_t *bytes) {
	return gompi_resolve_direct(w, rank, disp, count, size, address, bytes)
		       ? *bytes != 0
		       : gompi_resolve_partial(w, rank, disp, count, size, address, bytes);
}

// Executes an accumulate-type call other than MPI_Compare_and_swap that its fast path does not handle (direct.c).
int gompi_accumulate_slow(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
			  int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
			  MPI_Op op, MPI_Win win, void *result_addr, MPI_Count result_count,
			  MPI_Datatype result_datatype, enum gompi_rma_kind kind, bool returns_request,
			  MPI_Request *request);

// Executes a put or get that gompi_move does not handle itself (direct.c).
int gompi_move_slow(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
		    MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
		    enum gompi_rma_kind kind, bool returns_request, MPI_Request *request);

// Executes a put or get. The parameters have the order of MPI_Put. Calls gompi_move_slow in two places: with a single
// call, compilers keep more values in registers, and a put or get needs 8 % more instructions (TestInstructions).
static inline __attribute__((always_inline)) int
gompi_move(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
	   MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
	   enum gompi_rma_kind kind, bool returns_request, MPI_Request *request) {
	int64_t bytes;
	char *at;
	if (__builtin_expect(origin_datatype != target_datatype || origin_count != target_count, 0))
		return gompi_move_slow(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
				       target_count, target_datatype, win, kind, returns_request, request);
	if (__builtin_expect((returns_request && request == NULL) || gompi_invalid_address(origin_addr, 0) ||
				     !gompi_resolve_direct(gompi_win_get(win), target_rank, target_disp, target_count,
							   gompi_simple_bytes(target_datatype), &at, &bytes) ||
				     bytes == 0, // no data, or the type is not predefined or has gaps
			     0))
		return gompi_move_slow(origin_addr, target_count, target_datatype, target_rank, target_disp,
				       target_count, target_datatype, win, kind, returns_request, request);
	void *local = (void *)(uintptr_t)origin_addr, *to = kind == RMA_PUT ? at : local,
	     *from = kind == RMA_PUT ? local : at;
	if (returns_request)
		*request = GOMPI_REQUEST_DONE;
	if (__builtin_expect(bytes != 8, 0))
		return gompi_copy_bytes(to, from, bytes);
	gompi_copy_word(to, from);
	return MPI_SUCCESS;
}

#endif
