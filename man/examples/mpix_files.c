/* All ranks write short interleaved blocks. Collective buffering makes few long writes of them. */
#include <mpi.h>
#include <mpix_gompirma.h>
#include <stdio.h>

int main(int argc, char **argv) {
    enum { BLOCKS = 1000 };
    struct MPIX_Gompirma_file_counts counts;
    int rank, size, blocks[BLOCKS];
    MPI_File file;
    MPI_Datatype every;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = rank;
    MPI_Type_vector(BLOCKS, 1, size, MPI_INT, &every);
    MPI_Type_commit(&every);
    if (MPI_File_open(MPI_COMM_WORLD, "blocks.bin",
            MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
            MPI_INFO_NULL, &file) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_File_set_view(
        file, rank * sizeof(int), MPI_INT, every, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, blocks, BLOCKS, MPI_INT, MPI_STATUS_IGNORE);
    MPIX_Gompirma_file_counts(&counts);
    printf("rank %d: %d bytes of its own; writes: %d, bytes: %d\n", rank,
        (int)counts.bytes, (int)counts.writes, (int)counts.written_bytes);
    MPI_File_close(&file);
    MPI_Type_free(&every);
    MPI_Finalize();
    return 0;
}
