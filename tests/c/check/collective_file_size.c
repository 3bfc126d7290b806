/* clean: All ranks set the same size of the file (MPI-5.0 14.2.4).
 * error: The ranks set different sizes of the file (MPI-5.0 14.2.4). The call returns an error.
 *
 * np: 2
 * ref: mpich
 * find: collective argument=size lines=size
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
	MPI_File file;
	char name[64];
	int rank, id = getpid();
	int size = 100;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(name, sizeof name, "/tmp/gompirma_check_%d", id);
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		      &file);
#ifdef WRONG
	size += rank;
#endif
	MPI_File_set_size(file, size); /* @size */
	MPI_File_close(&file);
	MPI_Finalize();
	return 0;
}
