/* Rank 0 serves requests of all other ranks, and cancels the receives that remain. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    enum { WORK, END };
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0) {
        for (int i = 0; i < 3; i++)
            MPI_Send(&i, 1, MPI_INT, 0, i < 2 ? WORK : END, MPI_COMM_WORLD);
    } else {
        int *data = malloc(size * sizeof *data), served = 0, count;
        int *ready = malloc(size * sizeof *ready);
        MPI_Request *all = malloc(size * sizeof *all);
        MPI_Status *statuses = malloc(size * sizeof *statuses), last;
        for (int i = 0; i < size; i++) /* the one of rank 0 gets nothing */
            MPI_Irecv(&data[i], 1, MPI_INT, i, MPI_ANY_TAG, MPI_COMM_WORLD,
                &all[i]);
        for (int running = size - 1; running > 0;) {
            MPI_Waitsome(size, all, &count, ready, statuses);
            for (int k = 0; k < count; k++) {
                int i = ready[k];
                if (statuses[k].MPI_TAG == END) {
                    running--;
                    continue;
                }
                served++;
                MPI_Irecv(&data[i], 1, MPI_INT, i, MPI_ANY_TAG,
                    MPI_COMM_WORLD, &all[i]);
            }
        }
        MPI_Cancel(&all[0]);
        MPI_Wait(&all[0], &last);
        MPI_Test_cancelled(&last, &count);
        printf("%d requests, the last receive was %scancelled\n", served,
            count ? "" : "not ");
        free(data);
        free(ready);
        free(all);
        free(statuses);
    }
    MPI_Finalize();
    return 0;
}
