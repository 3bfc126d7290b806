/* clean: A window begins at an address and has the largest possible size (MPI-5.0 12.2.1). An allocation at a higher
 * address is freed while the window exists.
 * error: A window begins at an address and has the largest possible size (MPI-5.0 12.2.1). The allocation at that
 * address is freed while the window exists.
 *
 * np: 2
 * ref: mpich
 * find: memory window=q lines=free
 */
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
	int rank, value = 1;
	MPI_Win win;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	char *all = malloc(1 << 20), *other = malloc(1 << 20), *low = all < other ? all : other,
	     *high = low == all ? other : all;
	MPI_Win_create(low, LONG_MAX, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	MPI_Put(&value, 1, MPI_INT, 1 - rank, 8, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
#ifdef WRONG
	free(low); /* @free */
	MPI_Win_free(&win);
	free(high);
#else
	free(high);
	MPI_Win_free(&win);
	free(low);
#endif
	MPI_Finalize();
	return 0;
}
