/* clean: Two reads with the shared file pointer are active, and their buffers are adjacent (MPI-5.0 14.4.2).
 * race: Two reads with the shared file pointer are active, and their buffers have an integer in common (MPI-5.0
 * 14.4.2).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=first,second needs=calls
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
	MPI_File file;
	char name[64];
	int id = getpid();
	int data[4];
	MPI_Request requests[2];

	MPI_Init(&argc, &argv);
	MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(name, sizeof name, "/tmp/gompirma_check_%d", id);
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		      &file);
	MPI_File_iread_shared(file, &data[0], 2, MPI_INT, &requests[0]); /* @first */
#ifdef WRONG
	MPI_File_iread_shared(file, &data[1], 2, MPI_INT, &requests[1]); /* @second */
#else
	MPI_File_iread_shared(file, &data[2], 2, MPI_INT, &requests[1]);
#endif
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	MPI_File_close(&file);
	MPI_Finalize();
	return 0;
}
