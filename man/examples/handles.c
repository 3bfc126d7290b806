/* A C function that Fortran 77 calls with the handle of a communicator, an INTEGER. */
#include <mpi.h>
#include <stdio.h>

void library_rank_(const MPI_Fint *comm, MPI_Fint *rank) {
    int r;
    MPI_Comm_rank(MPI_Comm_f2c(*comm), &r);
    *rank = r;
}

int main(int argc, char **argv) {
    MPI_Fint comm, rank;
    MPI_Init(&argc, &argv);
    comm = MPI_Comm_toint(MPI_COMM_WORLD); /* as MPI_Comm_c2f */
    library_rank_(&comm, &rank);
    printf("rank %d\n", (int)rank);
    MPI_Finalize();
    return 0;
}
