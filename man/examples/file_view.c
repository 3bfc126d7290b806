/* A matrix of 4 rows is in a file; each rank writes its columns. Shown for any number of ranks. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    enum { ROWS = 4, COLUMNS = 3 };
    int rank, size;
    double part[ROWS][COLUMNS];
    MPI_File file;
    MPI_Datatype columns;
    MPI_Offset bytes;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            part[i][j] = rank;
    MPI_Type_create_subarray(2, (int[]){ROWS, COLUMNS * size},
        (int[]){ROWS, COLUMNS}, (int[]){0, COLUMNS * rank}, MPI_ORDER_C,
        MPI_DOUBLE, &columns);
    MPI_Type_commit(&columns);
    if (MPI_File_open(MPI_COMM_WORLD, "matrix.bin",
            MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
            MPI_INFO_NULL, &file) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_File_set_view(
        file, 0, MPI_DOUBLE, columns, "native", MPI_INFO_NULL);
    MPI_File_write_all(
        file, part, ROWS * COLUMNS, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_get_size(file, &bytes);
    if (rank == 0)
        printf("the file has %lld bytes\n", (long long)bytes);
    MPI_File_close(&file);
    MPI_Type_free(&columns);
    MPI_Finalize();
    return 0;
}
