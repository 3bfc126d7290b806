/* clean: The ranks write the same bytes in atomic mode (MPI-5.0 14.6.1).
 * race: The ranks write the same bytes in nonatomic mode (MPI-5.0 14.6.1).
 *
 * np: 2
 * ref: mpich
 * find: race object=file lines=write needs=calls
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
	MPI_File file;
	char name[64];
	int id = getpid();
	int value = 1;

	MPI_Init(&argc, &argv);
	MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(name, sizeof name, "/tmp/gompirma_check_%d", id);
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		      &file);
#ifndef WRONG
	MPI_File_set_atomicity(file, 1);
#endif
	MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE); /* @write */
	MPI_File_close(&file);
	MPI_Finalize();
	return 0;
}
