/* An operation of the program: the number with the larger absolute value. */
#include <mpi.h>
#include <stdio.h>

static void larger(
    void *in, void *inout, int *len, MPI_Datatype *datatype) {
    double *a = in, *b = inout;
    (void)datatype;
    for (int i = 0; i < *len; i++)
        if (a[i] * a[i] > b[i] * b[i])
            b[i] = a[i];
}

int main(int argc, char **argv) {
    int rank;
    double mine, result;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Op_create(larger, 1, &op);
    mine = rank % 2 ? -rank : rank;
    MPI_Reduce(&mine, &result, 1, MPI_DOUBLE, op, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("the result is %g\n", result);
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
