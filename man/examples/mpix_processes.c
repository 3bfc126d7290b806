/* Prints the numbers of the processes that this job has started. */
#include <mpi.h>
#include <mpix_gompirma.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int numbers[2], rank;
    MPI_Comm others;
    MPI_Group group;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&others);
    if (others == MPI_COMM_NULL) {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0,
            MPI_COMM_WORLD, &others, MPI_ERRCODES_IGNORE);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_remote_group(others, &group);
        MPIX_Gompirma_group_processes(group, numbers);
        MPI_Group_free(&group);
        printf("rank %d: the processes %d and %d have been started\n", rank,
            numbers[0], numbers[1]);
    }
    MPI_Comm_disconnect(&others);
    MPI_Finalize();
    return 0;
}
