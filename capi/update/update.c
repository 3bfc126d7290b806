#include "update/update.h"

#include <string.h>

#include "datatype/datatype.h"
#include "datatype/memory.h"
#include "datatype/op.h"

// Acquires the memory's lock. Returns 0 or MPI_ERR_PROC_ABORTED; u holds nothing then.
static int take_lock(struct gompi_update *u) {
	int rc = gompi_accumulate_lock(u->w, u->operation->target);
	u->holds = rc == MPI_SUCCESS ? HOLD_LOCK : HOLD_NOTHING;
	u->left = u->most;
	return rc;
}

// Begins a part of the update: in SMALL mode or as the owner if the lock is not needed and no thread holds it, else
// with the lock.
static int take_either(struct gompi_update *u) {
	if (!u->small)
		return take_lock(u);
	u->holds = gompi_update_enter(gompi_member(u->w, u->operation->target));
	if (u->holds == HOLD_NOTHING)
		return take_lock(u);
	u->left = GOMPI_FEW;
	return MPI_SUCCESS;
}

int gompi_update_begin(struct gompi_update *u, uint64_t elements, const char *to) {
	const struct gompi_operation *o = u->operation;
	uint64_t size = (uint64_t)gompi_simple(u->element);
	bool covered = o->kind == RMA_COMPARE_AND_SWAP ? size <= 8 : gompi_atomic(o->op, u->element) != NULL;
	u->size = covered && size != 0 && size <= 8 ? size : 0;
	uint64_t granularity = gompi_load(&u->w->granularity);
	uint64_t stride = (uint64_t)gompi_type_get(u->element)->elem_size;
	// Round up to a multiple of the element's size, as in MPI-5.0 12.2.1.
	uint64_t piece = granularity == 0 ? UINT64_MAX : (granularity + stride - 1) / stride;
	u->most = piece < GOMPI_FEW ? GOMPI_FEW : piece;
	u->small = u->size != 0 &&
		   (gompi_few((MPI_Count)elements, (int64_t)size) || (piece <= GOMPI_FEW && size > 1)) &&
		   gompi_aligned(to, (int64_t)size);
	return take_either(u);
}

// Compares and swaps one element of any size, under the lock.
static void swap_locked(char *to, const void *origin, const void *compare, void *result, size_t size) {
	gompi_copy_between(result, to, size);
	if (memcmp(to, compare, size) == 0)
		gompi_copy_between(to, origin, size);
}

// Updates n elements by loops. Stores the old values in result unless it is NULL.
static inline void plain(gompi_kernel kernel, MPI_Datatype type, const void *origin, char *to, void *result, size_t n) {
	if (result != NULL)
		gompi_op_kernel(MPI_REPLACE, type)(to, result, n);
	if (origin != NULL)
		kernel(origin, to, n);
}

// Updates n elements in the way that u->holds permits.
static int update_some(struct gompi_update *u, char *to, const void *origin, void *result, uint64_t n) {
	const struct gompi_operation *o = u->operation;
	bool one_by_one = u->size != 0 && gompi_aligned(to, (int64_t)u->size);
	if (u->holds == HOLD_MARK && !one_by_one) {
		// A part that is not aligned: use the lock for the rest of the operation.
		gompi_update_end(u);
		u->small = false;
		int rc = take_lock(u);
		if (rc != MPI_SUCCESS)
			return rc;
	}
	if (o->kind == RMA_COMPARE_AND_SWAP) {
		if (one_by_one)
			gompi_compare_and_swap_element(to, origin, o->compare, result, u->size);
		else
			swap_locked(to, origin, o->compare, result, (size_t)gompi_type_get(u->element)->size);
		return MPI_SUCCESS;
	}
	if (o->op == MPI_NO_OP)
		origin = NULL;
	if (one_by_one && (u->holds == HOLD_MARK || n <= 4)) {
		gompi_atomic(o->op, u->element)(origin, to, result, n);
		return MPI_SUCCESS;
	}
	plain(gompi_op_kernel(o->op, u->element), u->element, origin, to, result, n);
	return MPI_SUCCESS;
}

int gompi_update(struct gompi_update *u, char *to, const void *origin, void *result, uint64_t n) {
	if (__builtin_expect(n <= u->left, 1)) {
		u->left -= n;
		return update_some(u, to, origin, result, n);
	}
	uint64_t stride = (uint64_t)gompi_type_get(u->element)->elem_size;
	const char *from = origin;
	char *back = result;
	for (uint64_t k; n != 0; n -= k, to += k * stride) {
		if (u->left == 0) {
			gompi_update_end(u);
			int rc = take_either(u);
			if (rc != MPI_SUCCESS)
				return rc;
		}
		k = n < u->left ? n : u->left;
		u->left -= k;
		int rc = update_some(u, to, from, back, k);
		if (rc != MPI_SUCCESS)
			return rc;
		from = from != NULL ? from + k * stride : NULL;
		back = back != NULL ? back + k * stride : NULL;
	}
	return MPI_SUCCESS;
}

void gompi_update_end(struct gompi_update *u) {
	if (u->holds == HOLD_LOCK)
		gompi_accumulate_unlock(u->w, u->operation->target, u->small);
	if (u->holds == HOLD_OWN)
		gompi_owner_updated(gompi_member(u->w, u->operation->target), u->small);
	if (u->holds == HOLD_MARK || u->holds == HOLD_OWN)
		gompi_small_leave();
	u->holds = HOLD_NOTHING;
}

// Larger updates use the lock even by an owner: a waiter for the lock sleeps, whereas a waiter for an owner polls.
enum { MOST_OWNED = 64 << 10 };

// Updates n contiguous elements without regard to the window's granularity. Returns as gompi_update_together.
static bool update_at_once(struct gompi_win *w, int target, char *to, const void *origin, void *result, MPI_Count n,
			   MPI_Datatype type, MPI_Op op) {
	struct gompi_win_member *m = gompi_member(w, target);
	const gompi_kernel kernel = gompi_op_kernel(op, type);
	if (kernel == NULL)
		return false;
	if (op == MPI_NO_OP)
		origin = NULL;
	// the largest element has 32 bytes
	enum gompi_hold hold = n <= MOST_OWNED / 32 ? gompi_update_enter(m) : HOLD_NOTHING;
	if (__builtin_expect(hold == HOLD_OWN && n > 1, 1)) {
		plain(kernel, type, origin, to, result, (size_t)n);
		gompi_owner_updated(m, false);
		gompi_small_leave();
		return true;
	}
	const int64_t size = gompi_simple(type);
	const gompi_atomic_kernel atomic = gompi_atomic(op, type);
	// Use instructions if they cover the elements: always for a single element, for several only if other threads
	// use the memory too.
	const bool small =
		atomic != NULL && gompi_few(n, size) && gompi_aligned(to, size) && (n == 1 || gompi_contended(m));
	if (hold == HOLD_OWN || (hold == HOLD_MARK && small)) {
		if (small)
			atomic(origin, to, result, (size_t)n);
		else
			plain(kernel, type, origin, to, result, (size_t)n);
		if (hold == HOLD_OWN)
			gompi_owner_updated(m, small);
		gompi_small_leave();
		return true;
	}
	if (hold == HOLD_MARK)
		gompi_small_leave();
	if (gompi_accumulate_lock(w, target) != MPI_SUCCESS)
		return false;
	plain(kernel, type, origin, to, result, (size_t)n);
	gompi_accumulate_unlock(w, target, small);
	return true;
}

// Updates contiguous elements in parts of the window's granularity; parts of few elements are left to
// gompi_update_begin. If a dead process holds the lock at a later part, so that this function fails, the caller's retry
// of the whole operation fails at its first acquisition of that lock.
static __attribute__((noinline)) bool update_by_parts(struct gompi_win *w, int target, char *to, const char *origin,
						      char *result, MPI_Count n, MPI_Datatype type, MPI_Op op,
						      uint64_t granularity) {
	if (gompi_op_kernel(op, type) == NULL)
		return false;
	const int64_t stride = gompi_type_get(type)->elem_size;
	const MPI_Count part = (MPI_Count)((granularity + (uint64_t)stride - 1) / (uint64_t)stride);
	if (part <= GOMPI_FEW && n > 1)
		return false;
	for (MPI_Count k; n > 0; n -= k) {
		k = n < part ? n : part;
		if (!update_at_once(w, target, to, origin, result, k, type, op))
			return false;
		to += k * stride;
		origin = origin != NULL ? origin + k * stride : NULL;
		result = result != NULL ? result + k * stride : NULL;
	}
	return true;
}

bool gompi_update_together(struct gompi_win *w, int target, char *to, const void *origin, void *result, MPI_Count n,
			   MPI_Datatype type, MPI_Op op) {
	uint64_t granularity = gompi_load(&w->granularity), size = (uint64_t)gompi_simple(type);
	return __builtin_expect(granularity == 0, 1) || (size != 0 && (uint64_t)n * size <= granularity)
		       ? update_at_once(w, target, to, origin, result, n, type, op)
		       : update_by_parts(w, target, to, origin, result, n, type, op, granularity);
}
