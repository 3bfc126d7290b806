/* clean: A rank receives into the buffer of a split collective write after the end of the write (MPI-5.0 14.4.5).
 * race: A rank receives into the buffer of a split collective write before the end of the write (MPI-5.0 14.4.5).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=1 lines=begin,recv needs=calls
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
	MPI_File file;
	char name[64];
	int rank, id = getpid();
	int value[2] = {1, 2};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(name, sizeof name, "/tmp/gompirma_check_%d", id);
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		      &file);
	MPI_File_write_ordered_begin(file, value, 2, MPI_INT); /* @begin */
#ifndef WRONG
	MPI_File_write_ordered_end(file, value, MPI_STATUS_IGNORE);
#endif
	if (rank == 0)
		MPI_Send(value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
	else
		MPI_Recv(value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @recv */
#ifdef WRONG
	MPI_File_write_ordered_end(file, value, MPI_STATUS_IGNORE);
#endif
	MPI_File_close(&file);
	MPI_Finalize();
	return 0;
}
