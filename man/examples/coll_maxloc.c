/* Finds the largest value and the rank that has it. Only two lines depend on the type of the values. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    typedef double number;
    const MPI_Datatype number_type = MPI_DOUBLE;
    struct {
        number value;
        int rank;
    } mine, largest;
    int rank, size;
    MPI_Datatype pair;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mine.value = (number)((rank + 1) % size);
    mine.rank = rank;
    MPI_Type_get_value_index(number_type, MPI_INT, &pair);
    if (pair == MPI_DATATYPE_NULL) {
        printf("there is no pair of this type and an int\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Allreduce(&mine, &largest, 1, pair, MPI_MAXLOC, MPI_COMM_WORLD);
    if (rank == 0)
        printf("rank %d has the largest value, %g\n", largest.rank,
            (double)largest.value);
    MPI_Finalize(); /* the pair type is not freed */
    return 0;
}
