/* clean: The views of the ranks interleave (MPI-5.0 14.3).
 * race: The view of rank 1 begins one byte too early, so that its bytes overlap with those of rank 0 (MPI-5.0 14.6.1).
 *
 * np: 2
 * ref: mpich
 * find: race object=file lines=write needs=calls
 * find: race object=file lines=first needs=calls
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
	MPI_File file;
	char name[64];
	int rank, id = getpid();
	int values[4] = {1, 2, 3, 4}, distance = 4;
	MPI_Datatype tile;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(name, sizeof name, "/tmp/gompirma_check_%d", id);
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		      &file);
#ifdef WRONG
	distance = 3;
#endif
	MPI_Type_create_resized(MPI_INT, 0, 8, &tile);
	MPI_Type_commit(&tile);
	MPI_File_set_view(file, 16 + distance * rank, MPI_INT, tile, "native", MPI_INFO_NULL);
	MPI_Type_free(&tile);
	MPI_File_write(file, values, 2, MPI_INT, MPI_STATUS_IGNORE); /* @first */
	MPI_File_write(file, values, 4, MPI_INT, MPI_STATUS_IGNORE); /* @write */
	MPI_File_close(&file);
	MPI_Finalize();
	return 0;
}
