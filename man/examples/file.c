/* All ranks write their blocks of a common file at once, then rank 0 reads the last number. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    enum { N = 100 };
    int rank, size, block[N], last = -1;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N; i++)
        block[i] = rank * N + i;
    if (MPI_File_open(MPI_COMM_WORLD, "numbers.bin",
            MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
            MPI_INFO_NULL, &file) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_File_write_at_all(file, (MPI_Offset)rank * sizeof block, block, N,
        MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    if (rank == 0) {
        MPI_File_read_at(file, ((MPI_Offset)size * N - 1) * sizeof(int),
            &last, 1, MPI_INT, MPI_STATUS_IGNORE);
        printf("the last number is %d\n", last);
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
