/* Rank 0 sends a column of a matrix and an array of structures to rank 1. Needs at least two ranks. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

struct particle {
    int kind;
    double position[3];
};

int main(int argc, char **argv) {
    int rank, size;
    double matrix[4][5] = {{0}};
    struct particle particles[10] = {{0}};
    MPI_Datatype column, fields, particle;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_vector(4, 1, 5, MPI_DOUBLE,
        &column); /* 4 elements, each 5 after the previous one */
    MPI_Type_commit(&column);
    MPI_Type_create_struct(2, (int[]){1, 3},
        (MPI_Aint[]){offsetof(struct particle, kind),
            offsetof(struct particle, position)},
        (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &fields);
    MPI_Type_create_resized(fields, 0, sizeof(struct particle), &particle);
    MPI_Type_free(&fields);
    MPI_Type_commit(&particle);
    if (rank == 0 && size > 1) {
        matrix[3][2] = 7;
        particles[9].position[2] = 0.5;
        MPI_Send(&matrix[0][2], 1, column, 1, 0, MPI_COMM_WORLD);
        MPI_Send(particles, 10, particle, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(&matrix[0][2], 1, column, 0, 0, MPI_COMM_WORLD,
            MPI_STATUS_IGNORE);
        MPI_Recv(particles, 10, particle, 0, 0, MPI_COMM_WORLD,
            MPI_STATUS_IGNORE);
        printf("%g %g\n", matrix[3][2], particles[9].position[2]);
    }
    MPI_Type_free(&particle);
    MPI_Type_free(&column);
    MPI_Finalize();
    return 0;
}
