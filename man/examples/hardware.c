/* Prints which types of hardware resources MPI_Comm_split_type knows, and how many ranks share this rank's node. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, keys, size;
    MPI_Comm node;
    MPI_Info info;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_hw_resource_info(&info);
    MPI_Info_get_nkeys(info, &keys);
    for (int i = 0; rank == 0 && i < keys; i++) {
        char key[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_VAL];
        int length = sizeof value, found;
        MPI_Info_get_nthkey(info, i, key);
        MPI_Info_get_string(info, key, &length, value, &found);
        printf("%s = %s\n", key, value);
    }
    MPI_Info_free(&info);
    MPI_Comm_split_type(
        MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &size);
    printf("rank %d shares its node with %d others\n", rank, size - 1);
    MPI_Comm_free(&node);
    MPI_Finalize();
    return 0;
}
