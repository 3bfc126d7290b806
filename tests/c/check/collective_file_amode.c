/* clean: All ranks open a file with the same access mode (MPI-5.0 14.2.1).
 * error: The ranks open a file with different access modes (MPI-5.0 14.2.1). The call returns an error.
 *
 * np: 2
 * ref: mpich
 * find: collective argument=amode lines=open
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
	MPI_File file;
	char name[64];
	int rank, rc, id = getpid();
	int amode = MPI_MODE_CREATE | MPI_MODE_RDWR;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(name, sizeof name, "/tmp/gompirma_check_%d", id);
#ifdef WRONG
	if (rank == 1)
		amode |= MPI_MODE_UNIQUE_OPEN;
#endif
	rc = MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &file); /* @open */
	if (rc == MPI_SUCCESS)
		MPI_File_close(&file);
	unlink(name);
	MPI_Finalize();
	return 0;
}
