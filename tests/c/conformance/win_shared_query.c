/* Proves: MPI_Win_shared_query works on every flavor. For memory that the caller can address, it returns size,
 *   displacement unit and an address through which the owner's stores are visible. For other memory it returns size 0
 *   and a null address. MPI_PROC_NULL means the lowest rank with memory; the size is 0 if no rank has memory. A query
 *   of the caller's own rank returns the base of the window. A dynamic window is MPI_ERR_RMA_FLAVOR; a rank outside of
 *   the window is MPI_ERR_RANK. The large-count form returns the same values. Tests every window kind. MPI-5.0 12.2.3
 * np: 1 2 5
 * nodes: 1 (the program queries and reads the memory of every rank)
 * ref: none (MPI 4.1; older libraries take windows of MPI_Win_allocate_shared only)
 * timeout: 60
 */
#include "../windows.h"

static int lowest; /* lowest rank with memory; -1 if no rank has memory */

/* Returns true if every process of the node can address the memory of rank. */
static int shared(const struct window *w, int rank) {
	switch (w->kind) {
	case KIND_ALLOC_MEM:
	case KIND_ALLOCATE:
	case KIND_SHARED:
		return 1;
	case KIND_MIXED:
		return rank % 2 == 0;
	default:
		return 0;
	}
}

static MPI_Aint size_of(int rank) { return rank >= lowest && lowest >= 0 ? 64 * (rank + 1) : 0; }

static void query(const struct window *w, int rank, int asked) {
	MPI_Aint size = -1, unit_c = -1, size_c = -1;
	int unit = -1;
	int *at = (int *)1, *at_c = (int *)1;
	CHECK_OK(MPI_Win_shared_query(w->win, asked, &size, &unit, &at));
	CHECK_OK(MPI_Win_shared_query_c(w->win, asked, &size_c, &unit_c, &at_c));
	CHECK(size == size_c && unit == unit_c && at == at_c, "%s window, rank %d: the large-count form differs",
	      w->name, asked);
	if (rank < 0 || size_of(rank) == 0 || !(shared(w, rank) || rank == w->rank)) {
		CHECK(size == 0, "%s window: rank %d as %d has size %lld", w->name, rank, asked, (long long)size);
		CHECK(at == NULL, "%s window: rank %d as %d is at %p", w->name, rank, asked, (void *)at);
		return;
	}
	CHECK(size == size_of(rank) && unit == (rank % 2 ? 4 : 8), "%s window: rank %d as %d has size %lld and unit %d",
	      w->name, rank, asked, (long long)size, unit);
	CHECK(rank != w->rank || at == w->mem, "%s window: the own part is at %p, not %p", w->name, (void *)at, w->mem);
	for (int i = 0; i < size / 4; i++)
		CHECK(at[i] == 1000 * rank + i, "%s window: rank %d as %d: element %d is %d", w->name, rank, asked, i,
		      at[i]);
}

static void body(struct window *w) {
	MPI_Aint size;
	int unit;
	void *at;
	for (int i = 0; i < w->size / 4; i++)
		((int *)w->mem)[i] = 1000 * w->rank + i;
	MPI_Win_lock_all(0, w->win);
	MPI_Win_sync(w->win);
	MPI_Barrier(w->comm);
	MPI_Win_sync(w->win);
	for (int r = 0; r < w->n; r++)
		query(w, r, r);
	query(w, lowest, MPI_PROC_NULL);
	MPI_Barrier(w->comm);
	MPI_Win_unlock_all(w->win);
	MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Win_shared_query(w->win, w->n, &size, &unit, &at), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Win_shared_query(w->win, -7, &size, &unit, &at), MPI_ERR_RANK);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	for (lowest = -1; lowest < 2 && lowest < check_size; lowest++)
		windows_each(size_of(check_rank), check_rank % 2 ? 4 : 8, MPI_COMM_WORLD, body);
	MPI_Win win;
	MPI_Aint size;
	int unit;
	void *at;
	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Win_shared_query(win, 0, &size, &unit, &at), MPI_ERR_RMA_FLAVOR);
	CHECK_CLASS(MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &at), MPI_ERR_RMA_FLAVOR);
	CHECK_OK(MPI_Win_free(&win));
	return check_end();
}
