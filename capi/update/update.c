#include "update/update.h"

#include <string.h>

#include "datatype/datatype.h"
#include "datatype/memory.h"
#include "datatype/op.h"

// Acquires the memory's lock. Returns 0 or MPI_ERR_PROC_ABORTED. After an error, u holds nothing.
static int acquire_update_lock(struct gompi_update *u) {
	int rc = gompi_accumulate_lock(u->w, u->operation->target);
	u->hold = rc == MPI_SUCCESS ? HOLD_LOCK : HOLD_NOTHING;
	u->elements_left = u->max_elements;
	return rc;
}

// Begins a segment of the update. Uses SMALL mode or ownership if atomic instructions suffice and the mode of the
// memory permits it. Otherwise acquires the lock.
static int begin_segment(struct gompi_update *u) {
	if (!u->needs_no_lock)
		return acquire_update_lock(u);
	u->hold = gompi_unlocked_update_begin(gompi_member(u->w, u->operation->target));
	if (u->hold == HOLD_NOTHING)
		return acquire_update_lock(u);
	u->elements_left = GOMPI_ATOMIC_MAX_COUNT;
	return MPI_SUCCESS;
}

int gompi_update_begin(struct gompi_update *u, uint64_t elements, const char *to) {
	const struct gompi_operation *o = u->operation;
	uint64_t size = (uint64_t)gompi_simple_bytes(u->element);
	bool has_atomics =
		o->kind == RMA_COMPARE_AND_SWAP ? size <= 8 : gompi_atomic_kernel_for(o->op, u->element) != NULL;
	u->atomic_bytes = has_atomics && size != 0 && size <= 8 ? size : 0;
	uint64_t granularity = gompi_load(&u->w->granularity);
	uint64_t stride = (uint64_t)gompi_type_get(u->element)->elem_size;
	// Round up to a multiple of the element's size, as in MPI-5.0 12.2.1.
	uint64_t segment_elements = granularity == 0 ? UINT64_MAX : (granularity + stride - 1) / stride;
	u->max_elements = segment_elements < GOMPI_ATOMIC_MAX_COUNT ? GOMPI_ATOMIC_MAX_COUNT : segment_elements;
	u->needs_no_lock = u->atomic_bytes != 0 &&
			   (gompi_atomic_is_allowed((MPI_Count)elements, (int64_t)size) ||
			    (segment_elements <= GOMPI_ATOMIC_MAX_COUNT && size > 1)) &&
			   gompi_is_aligned(to, (int64_t)size);
	return begin_segment(u);
}

// Compares and swaps one element of any size, under the lock.
static void swap_locked(char *to, const void *origin, const void *compare, void *result, size_t size) {
	gompi_copy_between(result, to, size);
	if (memcmp(to, compare, size) == 0)
		gompi_copy_between(to, origin, size);
}

// Updates n elements by loops. Stores the old values in `result` unless `result` is NULL. Does not change the elements
// if `origin` is NULL (MPI_NO_OP).
static inline void update_with_kernel(gompi_kernel kernel, MPI_Datatype type, const void *origin, char *to,
				      void *result, size_t n) {
	if (result != NULL)
		gompi_op_kernel(MPI_REPLACE, type)(to, result, n);
	if (origin != NULL)
		kernel(origin, to, n);
}

// Updates n elements in the way that u->hold permits. In SMALL mode, acquires the lock first if the elements are not
// aligned.
static int update_held(struct gompi_update *u, char *to, const void *origin, void *result, uint64_t n) {
	const struct gompi_operation *o = u->operation;
	bool one_by_one = u->atomic_bytes != 0 && gompi_is_aligned(to, (int64_t)u->atomic_bytes);
	if (u->hold == HOLD_ACTIVITY && !one_by_one) {
		// These elements are not aligned, so the remaining elements of the operation are updated under the
		// lock.
		gompi_update_end(u);
		u->needs_no_lock = false;
		int rc = acquire_update_lock(u);
		if (rc != MPI_SUCCESS)
			return rc;
	}
	if (o->kind == RMA_COMPARE_AND_SWAP) {
		if (one_by_one)
			gompi_compare_and_swap_element(to, origin, o->compare, result, u->atomic_bytes);
		else
			swap_locked(to, origin, o->compare, result, (size_t)gompi_type_get(u->element)->size);
		return MPI_SUCCESS;
	}
	if (o->op == MPI_NO_OP)
		origin = NULL;
	if (one_by_one && (u->hold == HOLD_ACTIVITY || n <= 4)) {
		gompi_atomic_kernel_for(o->op, u->element)(origin, to, result, n);
		return MPI_SUCCESS;
	}
	update_with_kernel(gompi_op_kernel(o->op, u->element), u->element, origin, to, result, n);
	return MPI_SUCCESS;
}

int gompi_update(struct gompi_update *u, char *to, const void *origin, void *result, uint64_t n) {
	if (__builtin_expect(n <= u->elements_left, 1)) {
		u->elements_left -= n;
		return update_held(u, to, origin, result, n);
	}
	uint64_t stride = (uint64_t)gompi_type_get(u->element)->elem_size;
	const char *from = origin;
	char *result_at = result;
	for (uint64_t k; n != 0; n -= k, to += k * stride) {
		if (u->elements_left == 0) {
			gompi_update_end(u);
			int rc = begin_segment(u);
			if (rc != MPI_SUCCESS)
				return rc;
		}
		k = n < u->elements_left ? n : u->elements_left;
		u->elements_left -= k;
		int rc = update_held(u, to, from, result_at, k);
		if (rc != MPI_SUCCESS)
			return rc;
		from = from != NULL ? from + k * stride : NULL;
		result_at = result_at != NULL ? result_at + k * stride : NULL;
	}
	return MPI_SUCCESS;
}

void gompi_update_end(struct gompi_update *u) {
	if (u->hold == HOLD_LOCK)
		gompi_accumulate_unlock(u->w, u->operation->target, u->needs_no_lock);
	if (u->hold == HOLD_OWNER)
		gompi_owner_count_update(gompi_member(u->w, u->operation->target), u->needs_no_lock);
	if (u->hold == HOLD_ACTIVITY || u->hold == HOLD_OWNER)
		gompi_unlocked_update_end();
	u->hold = HOLD_NOTHING;
}

// Maximum size of an update that an owner makes without the lock. For a larger update, the owner acquires the lock, so
// that other threads sleep while they wait; a thread that waits for an owner polls.
enum { MAX_OWNER_BYTES = 64 << 10 };

// Updates n contiguous elements without regard to the window's granularity. Returns the same values as
// gompi_update_contiguous.
static bool update_segment(struct gompi_win *w, int target, char *to, const void *origin, void *result, MPI_Count n,
			   MPI_Datatype type, MPI_Op op) {
	struct gompi_win_member *m = gompi_member(w, target);
	const gompi_kernel kernel = gompi_op_kernel(op, type);
	if (kernel == NULL)
		return false;
	if (op == MPI_NO_OP)
		origin = NULL;
	// the largest element has 32 bytes
	enum gompi_hold hold = n <= MAX_OWNER_BYTES / 32 ? gompi_unlocked_update_begin(m) : HOLD_NOTHING;
	if (__builtin_expect(hold == HOLD_OWNER && n > 1, 1)) {
		update_with_kernel(kernel, type, origin, to, result, (size_t)n);
		gompi_owner_count_update(m, false);
		gompi_unlocked_update_end();
		return true;
	}
	const int64_t size = gompi_simple_bytes(type);
	const gompi_atomic_kernel atomic = gompi_atomic_kernel_for(op, type);
	// Use atomic instructions if they exist for the elements: always for a single element, for several elements
	// only if other threads use the memory too.
	const bool small = atomic != NULL && gompi_atomic_is_allowed(n, size) && gompi_is_aligned(to, size) &&
			   (n == 1 || gompi_is_contended(m));
	if (hold == HOLD_OWNER || (hold == HOLD_ACTIVITY && small)) {
		if (small)
			atomic(origin, to, result, (size_t)n);
		else
			update_with_kernel(kernel, type, origin, to, result, (size_t)n);
		if (hold == HOLD_OWNER)
			gompi_owner_count_update(m, small);
		gompi_unlocked_update_end();
		return true;
	}
	if (hold == HOLD_ACTIVITY)
		gompi_unlocked_update_end();
	if (gompi_accumulate_lock(w, target) != MPI_SUCCESS)
		return false;
	update_with_kernel(kernel, type, origin, to, result, (size_t)n);
	gompi_accumulate_unlock(w, target, small);
	return true;
}

// Updates contiguous elements in segments of the window's granularity. Returns false if the segments have at most
// GOMPI_ATOMIC_MAX_COUNT elements: the caller then uses gompi_update_begin. If a failed process holds the lock at a
// later segment, this function returns false. The caller then retries the whole operation, and fails at its first
// acquisition of that lock.
static __attribute__((noinline)) bool update_by_granularity(struct gompi_win *w, int target, char *to,
							    const char *origin, char *result, MPI_Count n,
							    MPI_Datatype type, MPI_Op op, uint64_t granularity) {
	if (gompi_op_kernel(op, type) == NULL)
		return false;
	const int64_t stride = gompi_type_get(type)->elem_size;
	const MPI_Count segment_elements = (MPI_Count)((granularity + (uint64_t)stride - 1) / (uint64_t)stride);
	if (segment_elements <= GOMPI_ATOMIC_MAX_COUNT && n > 1)
		return false;
	for (MPI_Count k; n > 0; n -= k) {
		k = n < segment_elements ? n : segment_elements;
		if (!update_segment(w, target, to, origin, result, k, type, op))
			return false;
		to += k * stride;
		origin = origin != NULL ? origin + k * stride : NULL;
		result = result != NULL ? result + k * stride : NULL;
	}
	return true;
}

bool gompi_update_contiguous(struct gompi_win *w, int target, char *to, const void *origin, void *result, MPI_Count n,
			     MPI_Datatype type, MPI_Op op) {
	uint64_t granularity = gompi_load(&w->granularity), size = (uint64_t)gompi_simple_bytes(type);
	return __builtin_expect(granularity == 0, 1) || (size != 0 && (uint64_t)n * size <= granularity)
		       ? update_segment(w, target, to, origin, result, n, type, op)
		       : update_by_granularity(w, target, to, origin, result, n, type, op, granularity);
}
