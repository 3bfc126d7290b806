/* Reported (open-mpi/ompi issue 6819, with the program of issue 6552): under an exclusive lock, a completed MPI_Rget
 * followed by MPI_Fetch_and_op and MPI_Win_flush hung or crashed while the target was in another MPI call.
 * Must hold: the sequence completes with the right values, whether the target waits in MPI_Win_free, in a barrier or in
 * a receive. MPI-5.0 12.7.3
 * np: 2 4
 * args: free barrier receive
 * ref: mpich
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

static int is(const char *name) { return strcmp(check_arg, name) == 0; }

static void body(struct window *w) {
	uint64_t *mem = w->mem, got = 99, one = 1, old = 99;
	MPI_Request request;
	*mem = 5;
	MPI_Barrier(w->comm);
	if (w->rank != 0) {
		CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
		CHECK_OK(MPI_Rget(&got, 1, MPI_UINT64_T, 0, window_at(w, 0, 0), 1, MPI_UINT64_T, w->win, &request));
		CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
		CHECK_OK(MPI_Fetch_and_op(&one, &old, MPI_UINT64_T, 0, window_at(w, 0, 0), MPI_SUM, w->win));
		CHECK_OK(MPI_Win_flush(0, w->win));
		CHECK(old == got && got >= 5 && got < 5 + (uint64_t)w->n,
		      "%s: got %llu, then fetched %llu under one exclusive lock", w->name, (unsigned long long)got,
		      (unsigned long long)old);
		MPI_Win_unlock(0, w->win);
	}
	if (is("barrier"))
		MPI_Barrier(w->comm);
	for (int r = 1; is("receive") && r < w->n; r++)
		if (w->rank == r)
			MPI_Send(&got, 1, MPI_UINT64_T, 0, 0, w->comm);
		else if (w->rank == 0)
			MPI_Recv(&got, 1, MPI_UINT64_T, r, 0, w->comm, MPI_STATUS_IGNORE);
	if (!is("free") && w->rank == 0) {
		MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win);
		CHECK(*mem == 5 + (uint64_t)w->n - 1, "%s: the counter is %llu", w->name, (unsigned long long)*mem);
		MPI_Win_unlock(0, w->win);
	}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(sizeof(uint64_t), 1, MPI_COMM_WORLD, body);
	return check_end();
}
