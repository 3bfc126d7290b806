/* clean: A rank sends what it has read from a file after the request of the read is complete (MPI-5.0 14.4.2).
 * race: A rank sends the buffer of a read before the request of the read is complete (MPI-5.0 14.4.2).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=iread,send needs=calls
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
	MPI_File file;
	char name[64];
	int rank, id = getpid();
	int value[2] = {1, 2};
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(name, sizeof name, "/tmp/gompirma_check_%d", id);
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		      &file);
	if (rank == 0) {
		MPI_File_iread(file, value, 2, MPI_INT, &request); /* @iread */
#ifdef WRONG
		MPI_Send(value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); /* @send */
		MPI_Wait(&request, MPI_STATUS_IGNORE);
#else
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Send(value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
#endif
	} else {
		MPI_Recv(value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_File_close(&file);
	MPI_Finalize();
	return 0;
}
