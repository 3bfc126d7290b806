/* clean: Rank 0 waits for the request of its write to a file.
 * error: Rank 0 never waits for the request of its write to a file (MPI-5.0 14.4.2).
 *
 * np: 2
 * ref: mpich
 * find: leak object=request rank=0 lines=made
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
	MPI_File file;
	MPI_Request request;
	char name[64];
	int rank, id = getpid();
	int value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(name, sizeof name, "/tmp/gompirma_check_%d", id);
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		      &file);
	if (rank == 0) {
		MPI_File_iwrite_at(file, 0, &value, 1, MPI_INT, &request); /* @made */
#ifndef WRONG
		MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
	}
	MPI_File_close(&file);
	MPI_Finalize();
	return 0;
}
