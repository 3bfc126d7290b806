/* Each rank writes a block, then all read the next rank's block and the whole file. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, size, number, next, count = 0;
    MPI_File file;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (MPI_File_open(MPI_COMM_WORLD, "example.bin",
            MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
            MPI_INFO_NULL, &file) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    number = 10 * rank;
    MPI_File_write_at(file, (MPI_Offset)rank * sizeof number, &number, 1,
        MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    MPI_File_read_at_all(file,
        (MPI_Offset)((rank + 1) % size) * sizeof number, &next, 1, MPI_INT,
        MPI_STATUS_IGNORE);
    do { /* from the file pointer of this rank until the end of the file */
        int got;
        MPI_File_read(file, &number, 1, MPI_INT, &status);
        MPI_Get_count(&status, MPI_INT, &got);
        if (got != 1)
            break;
    } while (++count);
    printf("rank %d: the next rank wrote %d, the file has %d numbers\n",
        rank, next, count);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
