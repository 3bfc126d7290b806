/* clean: The ranks write adjacent bytes in one collective call.
 * race: The bytes of the ranks overlap in one collective call (MPI-5.0 14.6.1).
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
	int rank, id = getpid();
	int values[2] = {1, 2}, distance = 8;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(name, sizeof name, "/tmp/gompirma_check_%d", id);
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		      &file);
#ifdef WRONG
	distance = 7;
#endif
	MPI_File_write_at_all(file, distance * rank, values, 2, MPI_INT, MPI_STATUS_IGNORE); /* @write */
	MPI_File_close(&file);
	MPI_Finalize();
	return 0;
}
