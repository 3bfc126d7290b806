/* A library gets an open file: who has opened it, how, and with which hints? */
#include <mpi.h>
#include <stdio.h>

static void describe(MPI_File file) {
    int size, amode, length = MPI_MAX_INFO_VAL, found;
    char value[MPI_MAX_INFO_VAL];
    MPI_Group group;
    MPI_Info info;
    MPI_File_get_group(file, &group);
    MPI_Group_size(group, &size);
    MPI_Group_free(&group);
    MPI_File_get_amode(file, &amode);
    printf("%d processes can %s the file\n", size,
        amode & MPI_MODE_RDONLY ? "read" : "write");
    MPI_File_get_info(file, &info);
    MPI_Info_get_string(info, "cb_buffer_size", &length, value, &found);
    if (found)
        printf("collective buffering in steps of %s bytes\n", value);
    MPI_Info_free(&info);
}

int main(int argc, char **argv) {
    int rank;
    MPI_Info info;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (MPI_File_open(MPI_COMM_WORLD, "hints.bin",
            MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
            MPI_INFO_NULL, &file) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", "1048576");
    MPI_File_set_info(file, info);
    MPI_Info_free(&info);
    if (rank == 0)
        describe(file);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
