/* clean: The program closes a file after a read.
 * error: The program reads from a file that it has closed (MPI-5.0 14.2.2). The read returns an error.
 *
 * np: 2
 * ref: mpich
 * ref error: none (a handle of a closed file is undefined there)
 * find: freed object=file lines=free,use
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
	MPI_File file, copy;
	char name[64];
	int value, id = getpid();

	MPI_Init(&argc, &argv);
	MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(name, sizeof name, "/tmp/gompirma_check_%d", id);
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		      &file);
	copy = file;
#ifdef WRONG
	MPI_File_close(&file);                                            /* @free */
	MPI_File_read_at(copy, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE); /* @use */
#else
	MPI_File_read_at(copy, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_close(&file);
#endif
	MPI_Finalize();
	return 0;
}
