/* Makes a communicator of the even ranks. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int size;
    MPI_Group world, even;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int ranges[1][3] = {{0, size - 1, 2}};
    MPI_Group_range_incl(world, 1, ranges, &even);
    MPI_Comm_create(MPI_COMM_WORLD, even, &comm);
    if (comm != MPI_COMM_NULL) {
        int rank, in_world;
        MPI_Comm_rank(comm, &rank);
        MPI_Group_translate_ranks(even, 1, &rank, world, &in_world);
        printf("rank %d of the even ranks is rank %d of all\n", rank,
            in_world);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&even);
    MPI_Group_free(&world);
    MPI_Finalize();
    return 0;
}
