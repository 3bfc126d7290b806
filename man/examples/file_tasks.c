/* The ranks share the work in a file: each reads the next number as soon as it is free. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    enum { TASKS = 20 };
    int rank, tasks[TASKS], task, count, sum = 0, total;
    MPI_File file;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (MPI_File_open(MPI_COMM_WORLD, "tasks.bin",
            MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
            MPI_INFO_NULL, &file) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < TASKS; i++)
        tasks[i] = i;
    if (rank == 0)
        MPI_File_write_at(file, 0, tasks, TASKS * sizeof(int), MPI_BYTE,
            MPI_STATUS_IGNORE);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    for (;;) {
        MPI_File_read_shared(file, &task, 1, MPI_INT, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        if (count == 0) /* end of the file */
            break;
        sum += task;
    }
    MPI_Reduce(&sum, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("the sum over all tasks is %d\n", total);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
