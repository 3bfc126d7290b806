/* clean: Rank 1 reads bytes before a barrier, and rank 0 writes the same bytes after the barrier.
 * race: Nothing orders the read of rank 1 and the write of rank 0 (MPI-5.0 14.6.1).
 *
 * np: 2
 * ref: mpich
 * find: race object=file lines=read,write needs=calls
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
	if (rank == 1)
		MPI_File_read_at(file, 8, &value, 1, MPI_INT, MPI_STATUS_IGNORE); /* @read */
#ifndef WRONG
	MPI_Barrier(MPI_COMM_WORLD);
#endif
	if (rank == 0)
		MPI_File_write_at(file, 8, &value, 1, MPI_INT, MPI_STATUS_IGNORE); /* @write */
	MPI_File_close(&file);
	MPI_Finalize();
	return 0;
}
