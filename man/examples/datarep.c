/* A file with numbers of 2 bytes, which the program has as doubles. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

static int extent(MPI_Datatype type, MPI_Aint *bytes, void *unused) {
    (void)unused;
    *bytes = sizeof(int16_t);
    return type == MPI_DOUBLE ? MPI_SUCCESS : MPI_ERR_TYPE;
}

/* The library calls it with a buffer of the file for `count` elements, and the first element's number in `user`. */
static int read(void *user, MPI_Datatype type, int count, void *file,
    MPI_Offset position, void *unused) {
    (void)type, (void)unused;
    for (int i = 0; i < count; i++)
        ((double *)user)[position + i] = ((int16_t *)file)[i];
    return MPI_SUCCESS;
}

static int write(void *user, MPI_Datatype type, int count, void *file,
    MPI_Offset position, void *unused) {
    (void)type, (void)unused;
    for (int i = 0; i < count; i++)
        ((int16_t *)file)[i] = (int16_t)((double *)user)[position + i];
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    double numbers[2] = {3, 4}, sum = 0;
    MPI_Offset bytes;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Register_datarep("short", read, write, extent, NULL);
    if (MPI_File_open(MPI_COMM_WORLD, "short.bin",
            MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
            MPI_INFO_NULL, &file) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_File_set_view(
        file, 0, MPI_DOUBLE, MPI_DOUBLE, "short", MPI_INFO_NULL);
    MPI_File_write_at_all(
        file, 0, numbers, 2, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, 1, &sum, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_get_size(file, &bytes);
    printf("%g, in a file of %d bytes\n", sum, (int)bytes);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
