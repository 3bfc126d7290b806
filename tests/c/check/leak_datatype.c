/* clean: The program frees its datatype before MPI_Finalize.
 * error: The program never frees its datatype (MPI-5.0 11.2).
 *
 * np: 2
 * ref: mpich
 * find: leak object=datatype lines=made
 */
#include <mpi.h>

int main(int argc, char **argv) {
	MPI_Datatype type;

	MPI_Init(&argc, &argv);
	MPI_Type_contiguous(3, MPI_INT, &type); /* @made */
	MPI_Type_commit(&type);
#ifndef WRONG
	MPI_Type_free(&type);
#endif
	MPI_Finalize();
	return 0;
}
