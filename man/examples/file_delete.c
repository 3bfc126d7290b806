/* Rank 0 deletes the file of an earlier run before all ranks write a new one. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, class, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        int code = MPI_File_delete("result.bin", MPI_INFO_NULL);
        MPI_Error_class(code, &class);
        if (class == MPI_ERR_NO_SUCH_FILE) {
            printf("there is no old file\n");
        } else if (code != MPI_SUCCESS) {
            MPI_Error_string(code, text, &length);
            printf("%s\n", text);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD); /* the others open the new file */
    if (MPI_File_open(MPI_COMM_WORLD, "result.bin",
            MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
            &file) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_File_write_at(file, (MPI_Offset)rank * sizeof rank, &rank, 1,
        MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
