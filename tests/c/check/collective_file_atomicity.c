/* clean: All ranks set atomic mode. All values except 0 are true (MPI-5.0 14.6.1).
 * error: Only rank 1 sets atomic mode (MPI-5.0 14.6.1). The call returns an error.
 *
 * np: 2
 * ref: mpich
 * find: collective argument=flag lines=set
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
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		      &file);
#ifdef WRONG
	MPI_File_set_atomicity(file, rank); /* @set */
#else
	MPI_File_set_atomicity(file, rank + 1);
#endif
	MPI_File_close(&file);
	MPI_Finalize();
	return 0;
}
