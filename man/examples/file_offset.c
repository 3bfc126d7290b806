/* Each rank owns every size-th number of a file in the portable representation. Where is its second number? */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_File file;
    MPI_Datatype every;
    MPI_Aint extent;
    MPI_Offset byte;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (MPI_File_open(MPI_COMM_WORLD, "portable.bin",
            MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
            MPI_INFO_NULL, &file) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    /* The extents of a file type are those in the file. */
    MPI_File_set_view(
        file, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL);
    MPI_File_get_type_extent(file, MPI_LONG, &extent);
    MPI_Type_create_resized(MPI_LONG, 0, size * extent, &every);
    MPI_Type_commit(&every);
    MPI_File_set_view(
        file, rank * extent, MPI_LONG, every, "external32", MPI_INFO_NULL);
    MPI_File_get_byte_offset(file, 1, &byte);
    printf("rank %d: a long has %d bytes, the second one is at %d\n", rank,
        (int)extent, (int)byte);
    MPI_Type_free(&every);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
