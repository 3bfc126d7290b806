/* Creates a window with hints, and prints the hints that are in effect. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, keys;
    double *memory;
    MPI_Info info;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096");
    MPI_Info_set(info, "same_size", "true");
    MPI_Win_allocate(
        800, sizeof(double), info, MPI_COMM_WORLD, &memory, &win);
    MPI_Info_free(&info);
    MPI_Win_get_info(win, &info);
    MPI_Info_get_nkeys(info, &keys);
    for (int i = 0; rank == 0 && i < keys; i++) {
        char key[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_VAL];
        int length = sizeof value, found;
        MPI_Info_get_nthkey(info, i, key);
        MPI_Info_get_string(info, key, &length, value, &found);
        printf("%s = %s\n", key, value);
    }
    MPI_Info_free(&info);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
