/* clean: Each rank moves its file pointer to its own part of the file (MPI-5.0 14.4.3).
 * race: Rank 1 moves its file pointer to the last integer that rank 0 writes (MPI-5.0 14.6.1).
 *
 * np: 2
 * ref: mpich
 * find: race object=file lines=first,second needs=calls
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
	MPI_File file;
	char name[64];
	int rank, id = getpid();
	int values[4] = {1, 2, 3, 4}, distance = 6;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(name, sizeof name, "/tmp/gompirma_check_%d", id);
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		      &file);
#ifdef WRONG
	distance = 5;
#endif
	MPI_File_set_view(file, 16, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
	if (rank == 0) {
		MPI_File_write(file, values, 4, MPI_INT, MPI_STATUS_IGNORE);
		MPI_File_seek(file, -1, MPI_SEEK_CUR);
		MPI_File_write(file, values, 3, MPI_INT, MPI_STATUS_IGNORE); /* @first */
	} else {
		MPI_File_seek(file, distance, MPI_SEEK_SET);
		MPI_File_read(file, values, 4, MPI_INT, MPI_STATUS_IGNORE); /* @second */
	}
	MPI_File_close(&file);
	MPI_Finalize();
	return 0;
}
