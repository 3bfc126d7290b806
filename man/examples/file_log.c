/* The ranks append lines to a common log in any order, then one line each in the order of ranks. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank;
    char line[40];
    MPI_File log;
    MPI_Offset end;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (MPI_File_open(MPI_COMM_WORLD, "example.log",
            MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
            MPI_INFO_NULL, &log) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_File_set_size(log, 0);
    MPI_File_seek_shared(log, 0, MPI_SEEK_SET);
    int length = snprintf(line, sizeof line, "rank %d has begun\n", rank);
    MPI_File_write_shared(log, line, length, MPI_CHAR, MPI_STATUS_IGNORE);
    length = snprintf(line, sizeof line, "rank %d has ended\n", rank);
    MPI_File_write_ordered(log, line, length, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_get_position_shared(log, &end);
    if (rank == 0)
        printf("the log has %lld bytes\n", (long long)end);
    MPI_File_close(&log);
    MPI_Finalize();
    return 0;
}
