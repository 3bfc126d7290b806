/* clean: All ranks set the shared file pointer to the same offset (MPI-5.0 14.4.4).
 * error: The ranks set the shared file pointer to different offsets (MPI-5.0 14.4.4). The call returns an error.
 *
 * np: 2
 * ref: mpich
 * ref error: none (aborts)
 * find: collective argument=offset lines=seek
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
	MPI_File file;
	char name[64];
	int rank, id = getpid();
	int offset = 8;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(name, sizeof name, "/tmp/gompirma_check_%d", id);
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		      &file);
#ifdef WRONG
	offset += rank;
#endif
	MPI_File_seek_shared(file, offset, MPI_SEEK_SET); /* @seek */
	if (rank == 0)
		MPI_File_seek(file, 4, MPI_SEEK_SET);
	MPI_File_close(&file);
	MPI_Finalize();
	return 0;
}
