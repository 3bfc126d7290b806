/* An old program. Beside each removed function is the one to replace it with. */
#include <mpi.h>
#include <stdio.h>

struct particle {
    double position[3];
    int charge;
};

int main(int argc, char **argv) {
    struct particle p[2] = {{.charge = 1}, {.charge = -1}};
    int lengths[2] = {3, 1};
    MPI_Aint start, at[2], extent;
    MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT}, particle, charges;
    MPI_Init(&argc, &argv);
    MPI_Address(&p[0], &start); /* MPI_Get_address */
    MPI_Address(&p[0].position, &at[0]);
    MPI_Address(&p[0].charge, &at[1]);
    at[0] -= start; /* MPI_Aint_diff(at[0], start) */
    at[1] -= start;
    MPI_Type_struct(2, lengths, at, types, &particle);
    /* MPI_Type_create_struct, and MPI_Type_create_resized for the extent */
    MPI_Type_extent(particle, &extent); /* MPI_Type_get_extent */
    printf("a particle has an extent of %d bytes\n", (int)extent);
    MPI_Type_hvector(2, 1, extent, MPI_INT, &charges);
    /* MPI_Type_create_hvector */
    MPI_Type_commit(&charges);
    MPI_Bcast(&p[0].charge, 1, charges, 0, MPI_COMM_WORLD);
    MPI_Type_free(&charges);
    MPI_Type_free(&particle);
    MPI_Finalize();
    return 0;
}
