/* A profiling library counts reductions. The program selects the part of its run that is counted. */
#include <mpi.h>
#include <stdio.h>

/* The profiling library; it is usually linked or preloaded. */
static int is_on = 1, reductions;

int MPI_Pcontrol(const int level, ...) {
    is_on = level != 0;
    return MPI_SUCCESS;
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    reductions += is_on;
    return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}

int MPI_Finalize(void) {
    printf("reductions: %d\n", reductions);
    return PMPI_Finalize();
}

/* The program. */
int main(int argc, char **argv) {
    int one = 1, sum;
    MPI_Init(&argc, &argv);
    MPI_Pcontrol(0); /* not the preparation */
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    for (int i = 0; i < 3; i++)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
