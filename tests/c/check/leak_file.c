/* clean: The program closes its file.
 * error: The program never closes its file (MPI-5.0 14.2.2).
 *
 * np: 2
 * ref: mpich
 * find: leak object=file lines=made
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
	MPI_File file;
	char name[64];
	int rank, id = getpid();

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(name, sizeof name, "/tmp/gompirma_check_%d", id);
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file); /* @made */
	MPI_File_set_size(file, 4);
#ifndef WRONG
	MPI_File_close(&file);
#endif
	if (rank == 0)
		unlink(name);
	MPI_Finalize();
	return 0;
}
