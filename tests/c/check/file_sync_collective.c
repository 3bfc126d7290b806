/* clean: A collective write of other bytes lies between two calls of MPI_File_sync (MPI-5.0 14.6.1).
 * race: A collective write of other bytes lies between write and read. It does not make the write visible, and no rank
 * calls MPI_File_sync (MPI-5.0 14.6.1).
 *
 * np: 2
 * ref: mpich
 * find: race object=file lines=write,read needs=calls
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
	MPI_File file;
	char name[64];
	int rank, id = getpid();
	int value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(name, sizeof name, "/tmp/gompirma_check_%d", id);
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		      &file);
	if (rank == 0)
		MPI_File_write_at(file, 100, &value, 1, MPI_INT, MPI_STATUS_IGNORE); /* @write */
#ifndef WRONG
	MPI_File_sync(file);
#endif
	MPI_File_write_at_all(file, 4 * rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
#ifndef WRONG
	MPI_File_sync(file);
#endif
	if (rank == 1)
		MPI_File_read_at(file, 100, &value, 1, MPI_INT, MPI_STATUS_IGNORE); /* @read */
	MPI_File_close(&file);
	MPI_Finalize();
	return 0;
}
