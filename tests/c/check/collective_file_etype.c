/* clean: The ranks set views with different filetypes and one etype (MPI-5.0 14.3).
 * error: The ranks set views with etypes of different extents (MPI-5.0 14.3). The call returns an error.
 *
 * np: 2
 * ref: mpich
 * ref error: none (does not check the extents)
 * find: collective argument=etype lines=view
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
	MPI_File file;
	char name[64];
	int rank, id = getpid();
	MPI_Datatype pair, etype = MPI_INT;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(name, sizeof name, "/tmp/gompirma_check_%d", id);
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		      &file);
	MPI_Type_contiguous(2, MPI_INT, &pair);
	MPI_Type_commit(&pair);
#ifdef WRONG
	if (rank == 1)
		etype = pair;
#endif
	MPI_File_set_view(file, 8 * rank, etype, rank == 1 ? pair : MPI_INT, "native", MPI_INFO_NULL); /* @view */
	MPI_Type_free(&pair);
	MPI_File_close(&file);
	MPI_Finalize();
	return 0;
}
