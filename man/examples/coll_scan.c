/* Each rank finds out where its items begin in the numbering of all items. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long items = 10 * (rank + 1),
         first = 0; /* rank 0: MPI_Exscan does not define its result */
    MPI_Exscan(&items, &first, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        first = 0;
    printf("rank %d has the items %ld to %ld\n", rank, first,
        first + items - 1);
    MPI_Finalize();
    return 0;
}
