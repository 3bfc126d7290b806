/* Sets a hint of a communicator, and prints the hints that are in effect. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, keys;
    MPI_Comm comm;
    MPI_Info info;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
    MPI_Comm_get_info(comm, &info);
    MPI_Info_get_nkeys(info, &keys);
    for (int i = 0; rank == 0 && i < keys; i++) {
        char key[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_VAL];
        int length = sizeof value, found;
        MPI_Info_get_nthkey(info, i, key);
        MPI_Info_get_string(info, key, &length, value, &found);
        printf("%s = %s\n", key, value);
    }
    MPI_Info_free(&info);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
