/* A C function that a program in Fortran (with mpi or mpif.h) calls with a status: an array of INTEGERs. */
#include <mpi.h>
#include <stdio.h>

void print_message_(const MPI_Fint *status) {
    int count;
    MPI_Status s;
    MPI_Status_f2c(status, &s);
    MPI_Get_count(&s, MPI_INT, &count);
    printf("%d numbers from rank %d\n", count, s.MPI_SOURCE);
}

int main(int argc, char **argv) {
    int numbers[3] = {1, 2, 3};
    MPI_Status s;
    MPI_Fint status[MPI_F_STATUS_SIZE];
    MPI_Init(&argc, &argv);
    MPI_Sendrecv_replace(
        numbers, 3, MPI_INT, 0, 0, 0, 0, MPI_COMM_SELF, &s);
    MPI_Status_c2f(&s, status); /* what the program in Fortran has */
    print_message_(status);
    MPI_Finalize();
    return 0;
}
