/* An old program that sets its own error handler. New programs use MPI_Comm_create_errhandler and
 * MPI_Comm_set_errhandler, with the same arguments. */
#include <mpi.h>
#include <stdio.h>

static void report(MPI_Comm *comm, int *code, ...) {
    int class;
    MPI_Error_class(*code, &class);
    if (*comm == MPI_COMM_WORLD && class == MPI_ERR_RANK)
        printf("a rank does not exist\n");
}

int main(int argc, char **argv) {
    int size;
    MPI_Errhandler handler, old;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Errhandler_get(MPI_COMM_WORLD, &old);
    MPI_Errhandler_create(report, &handler);
    MPI_Errhandler_set(MPI_COMM_WORLD, handler);
    MPI_Send(NULL, 0, MPI_INT, size, 0, MPI_COMM_WORLD);
    MPI_Errhandler_set(MPI_COMM_WORLD, old);
    MPI_Errhandler_free(&old);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return 0;
}
