/* clean: The program frees a datatype after the put that uses it has started, which is allowed (MPI-5.0 12.5.6).
 * error: The program puts with a datatype that it has freed (MPI-5.0 5.1.9). The put returns an error.
 *
 * np: 2
 * ref: mpich
 * ref error: none (a freed handle is undefined there)
 * find: freed object=datatype lines=free,use
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int values[2] = {1, 2};
	MPI_Datatype type, copy;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Type_contiguous(2, MPI_INT, &type);
	MPI_Type_commit(&type);
	copy = type;
#ifdef WRONG
	MPI_Type_free(&type); /* @free */
#endif
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Put(values, 1, copy, 1, 0, 1, copy, win); /* @use */
#ifndef WRONG
	MPI_Type_free(&type);
#endif
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
