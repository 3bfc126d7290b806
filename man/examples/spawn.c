/* The program starts two more processes of itself and sends them a number. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, number = 42;
    MPI_Comm parent, children;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0,
            MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
        MPI_Bcast(&number, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL,
            children);
        MPI_Comm_disconnect(&children);
    } else {
        MPI_Bcast(&number, 1, MPI_INT, 0, parent);
        printf("child %d received %d\n", rank, number);
        MPI_Comm_disconnect(&parent);
    }
    MPI_Finalize();
    return 0;
}
