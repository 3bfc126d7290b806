/* clean: The even integers of a buffer are the origin buffer of a put in progress. A message is received into an odd
 * integer.
 * race: The even integers of a buffer are the origin buffer of a put in progress. A message is received into an even
 * integer (MPI-5.0 12.3).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	MPI_Datatype comb;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Type_vector(4, 1, 2, MPI_INT, &comb);
	MPI_Type_commit(&comb);
	MPI_Win_fence(0, win);
	if (rank == 0) {
		MPI_Put(values, 1, comb, 1, 0, 4, MPI_INT, win); /* @first */
#ifdef WRONG
		MPI_Recv(&values[2], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @second */
#else
		MPI_Recv(&values[3], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
	}
	if (rank == 1)
		MPI_Send(values, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	MPI_Win_fence(0, win);
	MPI_Type_free(&comb);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
