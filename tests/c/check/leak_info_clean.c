/* An info object that is freed before MPI_Finalize.
 *
 * np: 2
 * ref: mpich
 * find: nothing
 */
#include <mpi.h>

int main(int argc, char **argv) {
	MPI_Info info;

	MPI_Init(&argc, &argv);
	MPI_Info_create(&info);
	MPI_Info_set(info, "no_locks", "true");
	MPI_Info_free(&info);
	MPI_Finalize();
	return 0;
}
