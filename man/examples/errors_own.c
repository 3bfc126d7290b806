/* A library that raises errors of its own, and a program that handles them. */
#include <mpi.h>
#include <stdio.h>

static int bad_input; /* error code of the library */

static void library_begin(void) {
    int class;
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &bad_input);
    MPI_Add_error_string(bad_input, "library: the input is negative");
}

static int library_root(MPI_Comm comm, int input) {
    if (input >= 0)
        return MPI_SUCCESS;
    MPI_Comm_call_errhandler(comm, bad_input);
    return bad_input;
}

static void print_error(MPI_Comm *comm, int *code, ...) {
    char text[MPI_MAX_ERROR_STRING];
    int rank, length;
    MPI_Comm_rank(*comm, &rank);
    MPI_Error_string(*code, text, &length);
    printf("rank %d: %s\n", rank, text);
}

int main(int argc, char **argv) {
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    library_begin();
    MPI_Comm_create_errhandler(print_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    library_root(MPI_COMM_WORLD, -1);
    MPI_Finalize();
    return 0;
}
