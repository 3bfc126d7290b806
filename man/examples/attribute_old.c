/* A library that still uses the deprecated names. It counts its calls for each communicator. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int key = MPI_KEYVAL_INVALID;

static int release(MPI_Comm comm, int k, void *value, void *extra_state) {
    (void)comm, (void)k, (void)extra_state;
    free(value);
    return MPI_SUCCESS;
}

static int library_call(MPI_Comm comm) {
    int found, *calls;
    if (key == MPI_KEYVAL_INVALID) /* MPI_Comm_create_keyval */
        MPI_Keyval_create(MPI_NULL_COPY_FN, release, &key, NULL);
    MPI_Attr_get(comm, key, &calls, &found); /* MPI_Comm_get_attr */
    if (!found) {
        calls = calloc(1, sizeof *calls);
        MPI_Attr_put(comm, key, calls); /* MPI_Comm_set_attr */
    }
    return ++*calls;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    library_call(MPI_COMM_WORLD);
    printf("calls: %d\n", library_call(MPI_COMM_WORLD));
    MPI_Attr_delete(MPI_COMM_WORLD, key); /* MPI_Comm_delete_attr */
    MPI_Keyval_free(&key);                /* MPI_Comm_free_keyval */
    MPI_Finalize();
    return 0;
}
