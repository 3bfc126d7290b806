// What the communication calls share: the fast check and, for everything it does not take, one description of an
// operation.
//
// Each call looks at the common case first: valid window and rank, open epoch, target mapped here, equal predefined
// types and counts, in bounds. If any of that does not hold it describes itself in a struct gompi_rma and leaves the
// rest to gompi_rma_do (rma.c), which finds out why, and either does it or says what is wrong.
#ifndef GOMPI_RMA_H
#define GOMPI_RMA_H

#include "accumulate.h"
#include "datatype.h"

enum gompi_rma_kind { RMA_PUT, RMA_GET, RMA_ACCUMULATE, RMA_GET_ACCUMULATE, RMA_FETCH_AND_OP, RMA_COMPARE_AND_SWAP };

struct gompi_rma {
	enum gompi_rma_kind kind;
	MPI_Request *request; // of the R-forms: where the request goes; else NULL
	const char *call;
	const void *origin, *compare;
	void *result; // also the origin buffer of a get
	MPI_Count origin_count, result_count, target_count;
	MPI_Datatype origin_type, result_type, target_type;
	int target;
	MPI_Aint disp;
	MPI_Op op;
	MPI_Win win;
};

// Does r and gives its request, or reports what is wrong with it through the window's error handler. What the call
// returns.
int gompi_rma_do(const struct gompi_rma *r);

// Bytes of a predefined type that has no holes, by handle; 0 for others. Filled in by gompi_type_describe.
enum { GOMPI_PREDEFINED = 0x300 };
extern uint8_t gompi_simple_size[GOMPI_PREDEFINED];

static inline int64_t gompi_simple(MPI_Datatype type) {
	uintptr_t i = (uintptr_t)type;
	return __builtin_expect(i < GOMPI_PREDEFINED, 1) ? gompi_simple_size[i] : 0;
}

// Bits that are set in either word; compilers do not make one instruction of a relaxed load and what is done with it.
static inline uint32_t gompi_either(const gompi_a32 *a, const gompi_a32 *b) {
	uint32_t bits = atomic_load_explicit(a, memory_order_relaxed);
#if defined(__x86_64__)
	__asm__ __volatile__("orl %1, %0" : "+r"(bits) : "m"(*b) : "cc");
#else
	bits |= atomic_load_explicit(b, memory_order_relaxed);
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

// Copies bytes and returns MPI_SUCCESS: a tail call, for which the fast path needs no stack frame.
int gompi_copy_bytes(void *to, const void *from, int64_t bytes);

// Bytes of a predefined type that MPI_Compare_and_swap takes: C and Fortran integers, logicals, multi-language types
// and byte (MPI-5.0 12.3.4); 0 for others.
extern uint8_t gompi_swap_size[GOMPI_PREDEFINED];

static inline int64_t gompi_swappable(MPI_Datatype type) {
	uintptr_t i = (uintptr_t)type;
	return __builtin_expect(i < GOMPI_PREDEFINED, 1) ? gompi_swap_size[i] : 0;
}

// Swaps one element of size 1, 2, 4 or 8 bytes; target aligned to it. Whether it was equal.
static inline bool gompi_compare_and_swap_element(void *target, const void *origin, const void *compare, void *result,
						  uint64_t size) {
#define CASE(U)                                                                                                      \
	case sizeof(U): {                                                                                            \
		U want, new;                                                                                         \
		__builtin_memcpy(&want, compare, sizeof want);                                                       \
		__builtin_memcpy(&new, origin, sizeof new);                                                          \
		bool equal =                                                                                         \
			__atomic_compare_exchange_n((U *)target, &want, new, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); \
		__builtin_memcpy(result, &want, sizeof want);                                                        \
		return equal;                                                                                        \
	}
	switch (size) {
		CASE(uint64_t)
		CASE(uint32_t)
		CASE(uint16_t)
		CASE(uint8_t)
	}
#undef CASE
	return false;
}

// The request that stands for every request-based operation that was complete when its call returned: any number of
// times waited for, never freed.
#define GOMPI_REQUEST_DONE ((MPI_Request)0x181)

#endif
