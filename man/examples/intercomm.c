/* Connects the even ranks and the odd ranks, then merges them again. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, size, other, merged;
    MPI_Comm half, between, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
        printf("this needs at least two ranks\n");
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(
        half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &between);
    MPI_Comm_remote_size(between, &other);
    MPI_Intercomm_merge(between, rank % 2, &all); /* odd ranks come last */
    MPI_Comm_rank(all, &merged);
    printf("rank %d sees %d ranks in the other group, and is rank %d of "
           "the merged ones\n",
        rank, other, merged);
    MPI_Comm_free(&all);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
