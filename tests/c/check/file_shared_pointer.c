/* clean: Each rank appends with the shared file pointer, whose positions do not overlap (MPI-5.0 14.4.4).
 * race: Each rank writes from the beginning of the file with explicit offsets, so the ranks write the same bytes
 * (MPI-5.0 14.6.1).
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
	int values[4] = {1, 2, 3, 4};

	MPI_Init(&argc, &argv);
	MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(name, sizeof name, "/tmp/gompirma_check_%d", id);
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		      &file);
	for (int i = 0; i < 3; i++)
#ifdef WRONG
		MPI_File_write_at(file, 16 * i, values, 4, MPI_INT, MPI_STATUS_IGNORE); /* @write */
#else
		MPI_File_write_shared(file, values, 4, MPI_INT, MPI_STATUS_IGNORE);
#endif
	MPI_File_close(&file);
	MPI_Finalize();
	return 0;
}
