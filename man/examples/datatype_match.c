/* Finds datatypes by size and by precision, for code that is generic in its number type. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

int main(int argc, char **argv) {
    char name[MPI_MAX_OBJECT_NAME];
    int length, bytes;
    time_t earliest, now = 1000;
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    /* time_t is an integer, but its size depends on the system */
    MPI_Type_match_size(MPI_TYPECLASS_INTEGER, sizeof now, &type);
    MPI_Allreduce(&now, &earliest, 1, type, MPI_MIN, MPI_COMM_WORLD);
    MPI_Type_get_name(type, name, &length);
    printf("%s: %ld\n", name, (long)earliest);
    /* the type of REAL(SELECTED_REAL_KIND(12)) in Fortran */
    MPI_Type_create_f90_real(12, MPI_UNDEFINED, &type);
    MPI_Type_size(type, &bytes);
    printf("12 digits need %d bytes\n", bytes);
    MPI_Finalize();
    return 0;
}
