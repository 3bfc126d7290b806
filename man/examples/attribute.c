/* A library stores its data at a communicator. MPI calls the delete function when the communicator is freed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int release(
    MPI_Comm comm, int keyval, void *value, void *extra_state) {
    (void)comm, (void)keyval, (void)extra_state;
    free(value);
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    int key, found, length, *counter;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "library");
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, release, &key, NULL);
    MPI_Comm_set_attr(comm, key, calloc(1, sizeof *counter));
    MPI_Comm_get_attr(comm, key, &counter, &found);
    if (found)
        ++*counter;
    MPI_Comm_get_name(comm, name, &length);
    printf("%s: %d\n", name, *counter);
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&key);
    MPI_Finalize();
    return 0;
}
