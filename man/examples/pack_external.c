/* Writes a header that programs on every machine can read, and reads it. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int count = 7;
    double step = 0.5;
    char bytes[64];
    MPI_Aint ints, doubles, at = 0;
    MPI_Init(&argc, &argv);
    MPI_Pack_external_size("external32", 1, MPI_INT, &ints);
    MPI_Pack_external_size("external32", 1, MPI_DOUBLE, &doubles);
    if (ints + doubles > (MPI_Aint)sizeof bytes)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Pack_external(
        "external32", &count, 1, MPI_INT, bytes, sizeof bytes, &at);
    MPI_Pack_external(
        "external32", &step, 1, MPI_DOUBLE, bytes, sizeof bytes, &at);
    for (int i = 0; i < at; i++)
        printf("%02x ", (unsigned char)bytes[i]); /* big-endian */
    count = 0, step = 0, at = 0;
    MPI_Unpack_external(
        "external32", bytes, sizeof bytes, &at, &count, 1, MPI_INT);
    MPI_Unpack_external(
        "external32", bytes, sizeof bytes, &at, &step, 1, MPI_DOUBLE);
    printf("count %d, step %g\n", count, step);
    MPI_Finalize();
    return 0;
}
