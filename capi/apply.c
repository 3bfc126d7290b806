#include "apply.h"

#include <string.h>

#include "datatype.h"
#include "op.h"

static bool aligned(const char *to, uint64_t size) { return ((uintptr_t)to & (size - 1)) == 0; }

// Begins a part of the update: with a mark if no lock is needed and nobody has it, else with the lock.
static int take(struct gompi_update *u) {
	u->locked = !u->small || !gompi_small_enter(gompi_member(u->w, u->rank));
	u->left = u->locked ? u->most : GOMPI_FEW;
	return u->locked ? gompi_accumulate_lock(u->w, u->rank) : MPI_SUCCESS;
}

int gompi_update_begin(struct gompi_update *u, uint64_t elements, const char *to) {
	uint64_t size = (uint64_t)gompi_simple(u->element);
	bool covered = u->kind == RMA_COMPARE_AND_SWAP ? size <= 8 : gompi_atomic(u->op, u->element) != NULL;
	u->size = covered && size != 0 && size <= 8 ? size : 0;
	uint64_t granularity = atomic_load_explicit(&u->w->granularity, memory_order_relaxed),
		 stride = (uint64_t)gompi_type_get(u->element)->elem_size;
	// The next multiple of the element's size, as MPI-5.0 12.2.1 says.
	uint64_t piece = granularity == 0 ? UINT64_MAX : (granularity + stride - 1) / stride;
	u->most = piece < GOMPI_FEW ? GOMPI_FEW : piece;
	u->small = u->size != 0 &&
		   (gompi_few((MPI_Count)elements, (int64_t)size) || (piece <= GOMPI_FEW && size > 1)) &&
		   aligned(to, size);
	return take(u);
}

// Swaps one element of any size under the lock.
static void swap(char *to, const void *origin, const void *compare, void *result, size_t size) {
	memcpy(result, to, size);
	if (memcmp(to, compare, size) == 0)
		memcpy(to, origin, size);
}

static void update(struct gompi_update *u, char *to, const void *origin, void *result, uint64_t n) {
	bool one_by_one = u->size != 0 && aligned(to, u->size);
	if (!u->locked && !one_by_one) {
		// A piece at an odd distance: leave the small mode for good.
		gompi_small_leave();
		u->locked = true;
		u->small = false;
		u->left = u->most;
		gompi_accumulate_lock(u->w, u->rank);
	}
	if (u->kind == RMA_COMPARE_AND_SWAP) {
		if (one_by_one)
			gompi_compare_and_swap_element(to, origin, u->compare, result, u->size);
		else
			swap(to, origin, u->compare, result, (size_t)gompi_type_get(u->element)->size);
		return;
	}
	if (u->op == MPI_NO_OP)
		origin = NULL;
	if (one_by_one && (!u->locked || n <= 4)) {
		gompi_atomic(u->op, u->element)(origin, to, result, n);
		return;
	}
	if (result != NULL)
		gompi_op_kernel(MPI_REPLACE, u->element)(to, result, n);
	if (origin != NULL)
		gompi_op_kernel(u->op, u->element)(origin, to, n);
}

void gompi_update(struct gompi_update *u, char *to, const void *origin, void *result, uint64_t n) {
	if (__builtin_expect(n <= u->left, 1)) {
		u->left -= n;
		update(u, to, origin, result, n);
		return;
	}
	uint64_t stride = (uint64_t)gompi_type_get(u->element)->elem_size;
	for (uint64_t done = 0, k; done < n; done += k) {
		if (u->left == 0) {
			gompi_update_end(u);
			take(u); // fails only if a process has died: then the job is at its end
		}
		k = n - done < u->left ? n - done : u->left;
		u->left -= k;
		update(u, to + done * stride, origin == NULL ? NULL : (const char *)origin + done * stride,
		       result == NULL ? NULL : (char *)result + done * stride, k);
	}
}

void gompi_update_end(struct gompi_update *u) {
	if (u->locked)
		gompi_accumulate_unlock(u->w, u->rank, u->small);
	else
		gompi_small_leave();
}
