/* clean: Each rank reads the buffer of a split collective read after the end of the read (MPI-5.0 14.4.5).
 * race: Each rank reads the buffer of a split collective read before the end of the read (MPI-5.0 14.4.5).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=begin,load needs=accesses
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
	MPI_File file;
	char name[64];
	int id = getpid();
	static int value[2] = {1, 2}, copy;

	MPI_Init(&argc, &argv);
	MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(name, sizeof name, "/tmp/gompirma_check_%d", id);
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		      &file);
	MPI_File_read_at_all_begin(file, 0, value, 2, MPI_INT); /* @begin */
#ifdef WRONG
	copy = value[1]; /* @load */
	MPI_File_read_at_all_end(file, value, MPI_STATUS_IGNORE);
#else
	MPI_File_read_at_all_end(file, value, MPI_STATUS_IGNORE);
	copy = value[1];
#endif
	MPI_File_close(&file);
	if (copy == 7)
		puts("7");
	MPI_Finalize();
	return 0;
}
