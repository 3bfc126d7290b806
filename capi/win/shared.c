// Where the memory of a window's members is mapped (MPI-5.0 12.2.3). MPI_PROC_NULL stands for the lowest rank with
// memory, on any node. Memory that is not mapped here, or none, has size 0 and address 0.
#include "win/win.h"
#include "win/z_calls.h"

// What shared_target does for all but a rank's memory. Not inlined, so that the usual call needs no stack frame.
static __attribute__((noinline)) struct gompi_target *other_target(MPI_Win win, int rank, bool place, int *rc) {
	static const char call[] = "MPI_Win_shared_query";
	static struct gompi_target nowhere = {.disp_unit = 1};
	struct gompi_win *w = gompi_win_get(win);
	struct gompi_verdict v;
	if (w == NULL) {
		*rc = gompi_not_a_window(win, call);
		return NULL;
	}
	int n = (int)w->n, class = MPI_SUCCESS;
	if (w->flavor == MPI_WIN_FLAVOR_DYNAMIC) {
		class = gompi_error(&v, MPI_ERR_RMA_FLAVOR, "a dynamic window has no one memory that could be queried");
	} else if (rank == MPI_PROC_NULL) {
		for (rank = 0; rank < n && gompi_win_bytes(w, rank) == 0;)
			rank++;
	} else if ((uint32_t)rank >= (uint32_t)n) {
		class = gompi_error(&v, MPI_ERR_RANK, "rank %d in a window of %d processes", rank, n);
	}
	if (class == MPI_SUCCESS && !place)
		class = gompi_error(&v, MPI_ERR_ARG, "the address of a result is NULL");
	if (class != MPI_SUCCESS) {
		*rc = gompi_win_refuse(win, call, &v);
		return NULL;
	}
	return rank < n ? &w->targets[rank] : &nowhere;
}

// Returns what is known of a member's memory. NULL: the error has been raised, and *rc is what the call shall return.
static inline struct gompi_target *shared_target(MPI_Win win, int rank, bool place, int *rc) {
	struct gompi_win *w = gompi_win_get(win);
	if (__builtin_expect(w != NULL && place && (uint32_t)rank < w->n && w->flavor != MPI_WIN_FLAVOR_DYNAMIC, 1))
		return &w->targets[rank];
	return other_target(win, rank, place, rc);
}

// Stores where memory is and returns its size.
static inline int64_t shared_bytes(struct gompi_target *t, void *baseptr) {
	bool here = (gompi_load(&t->state) & TARGET_DIRECT) != 0 && t->reach > 0;
	*(void **)baseptr = here ? t->base : NULL;
	return here ? (int64_t)t->reach : 0;
}

int gompi_win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr) {
	int rc;
	bool place = size != NULL && disp_unit != NULL && baseptr != NULL;
	struct gompi_target *t = shared_target(win, rank, place, &rc);
	if (__builtin_expect(t == NULL, 0))
		return rc;
	*size = shared_bytes(t, baseptr);
	*disp_unit = (int)t->disp_unit;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Win_shared_query, gompi_win_shared_query)

int gompi_win_shared_query_c(MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit, void *baseptr) {
	int rc;
	bool place = size != NULL && disp_unit != NULL && baseptr != NULL;
	struct gompi_target *t = shared_target(win, rank, place, &rc);
	if (__builtin_expect(t == NULL, 0))
		return rc;
	*size = shared_bytes(t, baseptr);
	*disp_unit = t->disp_unit;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Win_shared_query_c, gompi_win_shared_query_c)
