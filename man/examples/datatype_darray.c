/* A matrix of 6 x 4 numbers is distributed over a grid: blocks of rows, and columns dealt out one by one. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, size, bytes, first = -1, grid[2] = {0, 0};
    MPI_File file;
    MPI_Datatype part;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, grid);
    MPI_Type_create_darray(size, rank, 2, (int[]){6, 4},
        (int[]){MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC},
        (int[]){MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, grid,
        MPI_ORDER_C, MPI_INT, &part);
    MPI_Type_commit(&part);
    MPI_Type_size(part, &bytes);
    if (MPI_File_open(MPI_COMM_WORLD, "distributed.bin",
            MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
            MPI_INFO_NULL, &file) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; rank == 0 && i < 6 * 4; i++)
        MPI_File_write(file, &i, sizeof i, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    MPI_File_set_view(file, 0, MPI_INT, part, "native", MPI_INFO_NULL);
    if (bytes > 0)
        MPI_File_read(file, &first, 1, MPI_INT, MPI_STATUS_IGNORE);
    printf("rank %d has %d numbers; the first one is %d\n", rank,
        bytes / (int)sizeof(int), first);
    MPI_File_close(&file);
    MPI_Type_free(&part);
    MPI_Finalize();
    return 0;
}
