/* clean: The ranks use two files in different orders with nonblocking collectives. Each file has its own communicator
 * (MPI-5.0 14.6.4).
 * error: The ranks call two nonblocking collectives on one file in different orders (MPI-5.0 14.6.4).
 *
 * np: 2
 * ref: mpich
 * ref error: none (may hang)
 * plain error: may hang
 * find: collective argument=name lines=write,read
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
	MPI_File file;
	char name[64];
	int rank, id = getpid();
	MPI_File files[2];
	MPI_Request requests[2];
	int values[2] = {1, 2};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(name, sizeof name, "/tmp/gompirma_check_%d", id);
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		      &file);
	files[0] = files[1] = file;
#ifndef WRONG
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &files[1]);
#endif
	for (int i = 0; i < 2; i++) {
		if ((rank + i) % 2 == 0)
			MPI_File_iwrite_at_all(files[0], 4 * rank, &values[0], 1, MPI_INT, &requests[i]); /* @write */
		else
			MPI_File_iread_at_all(files[1], 100, &values[1], 1, MPI_INT, &requests[i]); /* @read */
	}
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
#ifndef WRONG
	MPI_File_close(&files[1]);
#endif
	MPI_File_close(&file);
	MPI_Finalize();
	return 0;
}
