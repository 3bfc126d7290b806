/* clean: All ranks write to a file together, then read together (MPI-5.0 14.6.4).
 * error: Rank 0 calls a collective write, rank 1 a collective read (MPI-5.0 14.6.4).
 *
 * np: 2
 * ref: mpich
 * ref error: none (may hang)
 * plain error: may hang
 * find: collective argument=name lines=write,read
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
	MPI_File file;
	char name[64];
	int rank, id = getpid();
	int value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(name, sizeof name, "/tmp/gompirma_check_%d", id);
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		      &file);
#ifdef WRONG
	if (rank == 0)
		MPI_File_write_at_all(file, 4 * rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE); /* @write */
	else
		MPI_File_read_at_all(file, 4 * rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE); /* @read */
#else
	MPI_File_write_at_all(file, 4 * rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_read_at_all(file, 4 * rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
#endif
	MPI_File_close(&file);
	MPI_Finalize();
	return 0;
}
