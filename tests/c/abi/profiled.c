/* Calls MPI_Aint_add through its address, MPI_Put three times, PMPI_Put once and MPI_Put_c once. A preloaded profiling
 * library (count_puts.c) counts the calls of MPI_Aint_add and MPI_Put. The first argument is the expected count: 0 if
 * the profiling library is not loaded. All five puts must change the window in either case. */
#include <mpi.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
	int wanted = argc > 1 ? atoi(argv[1]) : 0;
	int (*calls)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "count_puts_calls");
	int counted, wrong = 0;
	int value[5] = {1, 2, 3, 4, 5};
	int *base;
	MPI_Win win;

	MPI_Init(&argc, &argv);
	MPI_Aint (*volatile add)(MPI_Aint, MPI_Aint) = MPI_Aint_add;
	if (add(40, 2) != 42)
		return 1;
	if (MPI_Win_allocate(5 * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win) != MPI_SUCCESS)
		return 1;
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
	for (int i = 0; i < 3; i++)
		MPI_Put(&value[i], 1, MPI_INT, 0, i, 1, MPI_INT, win);
	PMPI_Put(&value[3], 1, MPI_INT, 0, 3, 1, MPI_INT, win);
	MPI_Put_c(&value[4], 1, MPI_INT, 0, 4, 1, MPI_INT, win);
	MPI_Win_unlock(0, win);
	for (int i = 0; i < 5; i++) {
		if (base[i] != value[i]) {
			printf("element %d is %d instead of %d\n", i, base[i], value[i]);
			wrong++;
		}
	}
	counted = calls ? calls() : 0;
	if (counted != wanted) {
		printf("%d calls counted instead of %d\n", counted, wanted);
		wrong++;
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return wrong != 0;
}
