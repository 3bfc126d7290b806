/* clean: Rank 0 gets a struct of a double and an int into two distant locations: only the layouts differ (MPI-5.0
 * 12.3.2).
 * error: Rank 0 gets a struct of a double and an int as a struct of an int and a double: the types differ (MPI-5.0
 * 12.3.2).
 *
 * np: 2
 * ref: mpich
 * find: signature lines=here
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static char mem[64];
	MPI_Win win;
	int rank;
	double result[4];
	MPI_Datatype near, far;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_DOUBLE, MPI_INT}, &near);
	MPI_Type_commit(&near);
#ifdef WRONG
	MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &far);
#else
	MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 24}, (MPI_Datatype[]){MPI_DOUBLE, MPI_INT}, &far);
#endif
	MPI_Type_commit(&far);
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Get(result, 1, far, 1, 0, 1, near, win); /* @here */
	MPI_Win_fence(0, win);
	MPI_Type_free(&far);
	MPI_Type_free(&near);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
