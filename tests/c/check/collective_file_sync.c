/* clean: All ranks call MPI_File_sync, then MPI_File_set_view (MPI-5.0 14.6.4).
 * error: Rank 0 calls MPI_File_sync, the other ranks MPI_File_set_view (MPI-5.0 14.6.4).
 *
 * np: 3
 * ref: mpich
 * ref error: none (may hang)
 * plain error: may hang
 * find: collective argument=name lines=sync,view
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
	if (rank == 0)
		MPI_File_sync(file); /* @sync */
	else
		MPI_File_set_view(file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL); /* @view */
#else
	MPI_File_sync(file);
	MPI_File_set_view(file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
#endif
	MPI_File_close(&file);
	MPI_Finalize();
	return 0;
}
