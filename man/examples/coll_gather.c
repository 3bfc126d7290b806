/* Rank r has r + 1 values. All ranks collect the lengths, then rank 0 collects the values. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank, size, total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int count = rank + 1;
    int *values = malloc(count * sizeof *values);
    for (int i = 0; i < count; i++)
        values[i] = rank;
    int *counts = malloc(size * sizeof *counts),
        *displs = malloc(size * sizeof *displs);
    MPI_Allgather(&count, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        displs[i] = total;
        total += counts[i];
    }
    int *all = rank == 0 ? malloc(total * sizeof *all) : NULL;
    MPI_Gatherv(values, count, MPI_INT, all, counts, displs, MPI_INT, 0,
        MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < total; i++)
        printf("%d%s", all[i], i + 1 < total ? " " : "\n");
    free(all), free(displs), free(counts), free(values);
    MPI_Finalize();
    return 0;
}
