/* Sends the lower triangle of a matrix as one element of a datatype. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    enum { N = 4 };
    int rank, size, bytes, lengths[N], starts[N];
    double matrix[N][N];
    MPI_Aint lb, extent;
    MPI_Datatype triangle;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N; i++) {
        lengths[i] = i + 1;
        starts[i] = i * N;
        for (int j = 0; j < N; j++)
            matrix[i][j] = rank;
    }
    MPI_Type_indexed(N, lengths, starts, MPI_DOUBLE, &triangle);
    MPI_Type_commit(&triangle);
    MPI_Type_size(triangle, &bytes);
    MPI_Type_get_extent(triangle, &lb, &extent);
    if (rank == 0)
        printf("%d bytes of data, extent %ld\n", bytes, (long)extent);
    if (rank == 0 && size > 1) {
        MPI_Recv(
            matrix, 1, triangle, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%g below the diagonal, %g above\n", matrix[1][0],
            matrix[0][1]);
    } else if (rank == 1) {
        MPI_Send(matrix, 1, triangle, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Type_free(&triangle);
    MPI_Finalize();
    return 0;
}
