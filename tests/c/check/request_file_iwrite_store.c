/* clean: A rank writes to the buffer of a write to a file after the request is complete (MPI-5.0 14.4.2).
 * race: A rank writes to the buffer of a write to a file before the request is complete (MPI-5.0 14.4.2).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=iwrite,store needs=accesses
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
	MPI_File file;
	char name[64];
	int rank, id = getpid();
	static int value[2] = {1, 2};
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(name, sizeof name, "/tmp/gompirma_check_%d", id);
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		      &file);
	if (rank == 0) {
		MPI_File_iwrite_at(file, 0, value, 2, MPI_INT, &request); /* @iwrite */
#ifdef WRONG
		value[1] = 3; /* @store */
		MPI_Wait(&request, MPI_STATUS_IGNORE);
#else
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		value[1] = 3;
#endif
	}
	MPI_File_close(&file);
	MPI_Finalize();
	return 0;
}
