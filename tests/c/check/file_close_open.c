/* clean: The file is closed and opened again between write and read (MPI-5.0 14.6.1).
 * race: The file stays open between write and read, which only a barrier separates. A barrier without MPI_File_sync
 * does not make the write visible (MPI-5.0 14.6.1).
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
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
	if (rank == 0)
		MPI_File_write_at(file, 8, &value, 1, MPI_INT, MPI_STATUS_IGNORE); /* @write */
#ifndef WRONG
	MPI_File_close(&file);
#endif
	MPI_Barrier(MPI_COMM_WORLD);
#ifndef WRONG
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
#endif
	if (rank == 1)
		MPI_File_read_at(file, 8, &value, 1, MPI_INT, MPI_STATUS_IGNORE); /* @read */
	MPI_File_close(&file);
	if (rank == 0)
		unlink(name);
	MPI_Finalize();
	return 0;
}
