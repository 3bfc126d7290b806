// Reports where the memory of a window's members is mapped (MPI-5.0 12.2.3). MPI_PROC_NULL stands for the lowest rank
// with memory, on any node. If the memory is empty or not mapped in this process, the size is 0 and the address is
// NULL.
#include "win/win.h"
#include "win/z_calls.h"

// Returns the target entry of a rank, or NULL if shared_query_slow must handle the call.
static inline struct gompi_target *fast_target(MPI_Win win, int rank) {
	struct gompi_win *w = gompi_win_get(win);
	bool plain = w != NULL && (uint32_t)rank < w->n && w->flavor != MPI_WIN_FLAVOR_DYNAMIC;
	return __builtin_expect(plain, 1) ? &w->targets[rank] : NULL;
}

// Returns true if a member's memory is not empty and all of it is mapped in this process.
static inline bool is_mapped(const struct gompi_target *t) {
	return (gompi_load(&t->state) & TARGET_DIRECT) != 0 && t->mapped_bytes > 0;
}

// Executes either form of the call: stores the displacement unit in *unit, or in *unit_c if `unit` is NULL. Not
// inlined, so that the common case needs no stack frame.
static __attribute__((noinline)) int shared_query_slow(MPI_Win win, int rank, MPI_Aint *size, int *unit,
						       MPI_Aint *unit_c, void *baseptr) {
	static const char call[] = "MPI_Win_shared_query";
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, call);
	int n = (int)w->n;
	if (w->flavor == MPI_WIN_FLAVOR_DYNAMIC)
		return gompi_win_error(
			win, call, MPI_ERR_RMA_FLAVOR,
			"MPI_Win_shared_query does not support windows that MPI_Win_create_dynamic created");
	if (rank == MPI_PROC_NULL) {
		for (rank = 0; rank < n && gompi_win_bytes(w, rank) == 0;)
			rank++;
	} else if ((uint32_t)rank >= (uint32_t)n) {
		return gompi_win_error(win, call, MPI_ERR_RANK, "rank is %d; valid ranks of the window are 0 to %d",
				       rank, n - 1);
	}
	if (size == NULL || (unit == NULL && unit_c == NULL) || baseptr == NULL)
		return gompi_null_argument_error(call, "size, disp_unit or baseptr", GOMPI_ON_WIN, (uintptr_t)win);
	const struct gompi_target *t = rank < n && is_mapped(&w->targets[rank]) ? &w->targets[rank] : NULL;
	uint32_t target_unit = rank < n ? gompi_win_disp_unit(w, rank) : 1;
	*size = t != NULL ? (MPI_Aint)t->mapped_bytes : 0;
	*(void **)baseptr = t != NULL ? t->base : NULL;
	if (unit != NULL)
		*unit = (int)target_unit;
	else
		*unit_c = target_unit;
	return MPI_SUCCESS;
}

int gompi_win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr) {
	struct gompi_target *t = fast_target(win, rank);
	if (__builtin_expect(t == NULL || size == NULL || disp_unit == NULL || baseptr == NULL || !is_mapped(t), 0))
		return shared_query_slow(win, rank, size, disp_unit, NULL, baseptr);
	*size = (MPI_Aint)t->mapped_bytes;
	*(void **)baseptr = t->base;
	*disp_unit = (int)t->disp_unit;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Win_shared_query, gompi_win_shared_query);

int gompi_win_shared_query_c(MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit, void *baseptr) {
	struct gompi_target *t = fast_target(win, rank);
	if (__builtin_expect(t == NULL || size == NULL || disp_unit == NULL || baseptr == NULL || !is_mapped(t), 0))
		return shared_query_slow(win, rank, size, NULL, disp_unit, baseptr);
	*size = (MPI_Aint)t->mapped_bytes;
	*(void **)baseptr = t->base;
	*disp_unit = t->disp_unit;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Win_shared_query_c, gompi_win_shared_query_c);
