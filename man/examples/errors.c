/* Continues after an error: the call returns a code, and the text says what is wrong. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int size, code, class, length, value = 1;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Send(&value, 1, MPI_INT, size, 0,
        MPI_COMM_WORLD); /* there is no such rank */
    if (code != MPI_SUCCESS) {
        MPI_Error_class(code, &class);
        MPI_Error_string(code, text, &length);
        printf("%s: %s\n",
            class == MPI_ERR_RANK ? "wrong rank" : "other error", text);
    }
    MPI_Finalize();
    return 0;
}
