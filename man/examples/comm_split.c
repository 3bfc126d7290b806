/* Divides the ranks into rows of two, and sums over each row. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, sum;
    MPI_Comm row;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, row);
    printf("rank %d: the sum of row %d is %d\n", rank, rank / 2, sum);
    MPI_Comm_free(&row);
    MPI_Finalize();
    return 0;
}
