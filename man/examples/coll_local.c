/* Reduces to the last rank with messages from rank to rank, in the order of ranks. */
#include <mpi.h>
#include <stdio.h>

static void reduce_to_last(int *value, MPI_Op op, MPI_Comm comm) {
    int rank, size, left, commutes;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Op_commutative(op, &commutes);
    if (rank > 0) {
        MPI_Recv(&left, 1, MPI_INT, rank - 1, 0, comm, MPI_STATUS_IGNORE);
        /* The result is "first argument op second argument". */
        MPI_Reduce_local(&left, value, 1, MPI_INT, op);
    }
    if (rank < size - 1)
        MPI_Send(value, 1, MPI_INT, rank + 1, 0, comm);
    else
        printf("%d (the order matters: %s)\n", *value,
            commutes ? "no" : "yes");
}

static void digits(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += 10 * ((int *)in)[i];
}

int main(int argc, char **argv) {
    int rank;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int value = rank + 1, number = rank + 1;
    reduce_to_last(&value, MPI_SUM, MPI_COMM_WORLD);
    MPI_Op_create(digits, 0, &op);
    reduce_to_last(&number, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
