/* clean: The program frees its info object before MPI_Finalize.
 * error: The program never frees its info object (MPI-5.0 11.2).
 *
 * np: 2
 * ref: mpich
 * find: leak object=info lines=made
 */
#include <mpi.h>

int main(int argc, char **argv) {
	MPI_Info info;

	MPI_Init(&argc, &argv);
	MPI_Info_create(&info); /* @made */
	MPI_Info_set(info, "no_locks", "true");
#ifndef WRONG
	MPI_Info_free(&info);
#endif
	MPI_Finalize();
	return 0;
}
