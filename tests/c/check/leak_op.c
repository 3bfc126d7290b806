/* clean: The program frees its operation before MPI_Finalize.
 * error: The program never frees its operation (MPI-5.0 11.2).
 *
 * np: 2
 * ref: mpich
 * find: leak object=op lines=made
 */
#include <mpi.h>

static void larger(void *in, void *inout, int *count, MPI_Datatype *type) {
	int *a = in, *b = inout;
	(void)type;
	for (int i = 0; i < *count; i++)
		b[i] = a[i] > b[i] ? a[i] : b[i];
}

int main(int argc, char **argv) {
	int value = 1, most;
	MPI_Op op;

	MPI_Init(&argc, &argv);
	MPI_Op_create(larger, 1, &op); /* @made */
	MPI_Allreduce(&value, &most, 1, MPI_INT, op, MPI_COMM_WORLD);
#ifndef WRONG
	MPI_Op_free(&op);
#endif
	MPI_Finalize();
	return 0;
}
