/* clean: Each rank reads the buffer of a collective read after the request is complete (MPI-5.0 14.4.2).
 * race: Each rank reads the buffer of a collective read before the request is complete (MPI-5.0 14.4.2).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=iread,load needs=accesses
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
	MPI_File file;
	char name[64];
	int id = getpid();
	static int value[2] = {1, 2}, copy;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(name, sizeof name, "/tmp/gompirma_check_%d", id);
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		      &file);
	MPI_File_iread_at_all(file, 0, value, 2, MPI_INT, &request); /* @iread */
#ifdef WRONG
	copy = value[1]; /* @load */
	MPI_Wait(&request, MPI_STATUS_IGNORE);
#else
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	copy = value[1];
#endif
	MPI_File_close(&file);
	if (copy == 7)
		puts("7");
	MPI_Finalize();
	return 0;
}
