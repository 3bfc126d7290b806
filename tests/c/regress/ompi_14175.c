/* Reported (open-mpi/ompi issue 14175): MPI_Accumulate of doubles from an hindexed origin type into an indexed-block
 * target type caused a segmentation fault if the message was short.
 * Must hold: for every number of blocks, from one to many, the elements of the target type get the right sums, and all
 * other elements stay unchanged. MPI-5.0 12.3.4
 * np: 2 3
 * ref: mpich
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { BLOCKS = 1200, MOST = 4 * BLOCKS };

static const int counts[] = {1, 2, 3, 5, 8, 17, 64, 65, 200, 511, BLOCKS};

static void body(struct window *w) {
	double *mem = w->mem, *origin = malloc(MOST * sizeof *origin), *expect = malloc(MOST * sizeof *expect);
	int *displs = malloc(BLOCKS * sizeof *displs), *lengths = malloc(BLOCKS * sizeof *lengths);
	MPI_Aint *bytes = malloc(BLOCKS * sizeof *bytes);
	for (int i = 0; i < MOST; i++)
		origin[i] = i + 1;
	for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
		int n = counts[c], wrong = 0;
		MPI_Datatype here, there;
		for (int b = 0; b < n; b++) {
			lengths[b] = 1;
			/* blocks of the origin in descending order, at irregular distances */
			bytes[b] = (MPI_Aint)sizeof(double) * (3 * (n - 1 - b) + b % 2);
			displs[b] = 4 * b - b % 3;
		}
		MPI_Type_create_hindexed(n, lengths, bytes, MPI_DOUBLE, &here);
		MPI_Type_create_indexed_block(n, 1, displs, MPI_DOUBLE, &there);
		MPI_Type_commit(&here);
		MPI_Type_commit(&there);
		for (int i = 0; i < MOST; i++)
			mem[i] = expect[i] = 0.5;
		MPI_Barrier(w->comm);
		MPI_Win_lock_all(0, w->win);
		MPI_Win_sync(w->win);
		MPI_Barrier(w->comm);
		for (int t = 0; t < w->n; t++)
			CHECK_OK(MPI_Accumulate(origin, 1, here, t, window_at(w, t, 0), 1, there, MPI_SUM, w->win));
		MPI_Win_unlock_all(w->win);
		MPI_Barrier(w->comm);
		MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win);
		for (int b = 0; b < n; b++)
			expect[displs[b]] += w->n * origin[bytes[b] / (MPI_Aint)sizeof(double)];
		for (int i = 0; i < MOST && !wrong; i++)
			wrong = mem[i] != expect[i] ? i + 1 : 0;
		CHECK(!wrong, "%s, %d blocks: element %d is %g, not %g", w->name, n, wrong - 1, mem[wrong - 1],
		      expect[wrong - 1]);
		MPI_Win_unlock(w->rank, w->win);
		MPI_Barrier(w->comm);
		MPI_Type_free(&here);
		MPI_Type_free(&there);
	}
	free(origin);
	free(expect);
	free(displs);
	free(lengths);
	free(bytes);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(MOST * sizeof(double), sizeof(double), MPI_COMM_WORLD, body);
	return check_end();
}
