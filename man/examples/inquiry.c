/* A library that starts MPI only if the program has not, and prints what it runs on. */
#include <mpi.h>
#include <stdio.h>

static void library_begin(void) {
    int running, level, version, subversion, length;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Initialized(&running);
    if (!running)
        MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE)
        printf("only one thread may use the library\n");
    MPI_Get_version(&version, &subversion);
    MPI_Get_library_version(text, &length);
    printf("MPI %d.%d: %s\n", version, subversion, text);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    library_begin();
    MPI_Finalize();
    return 0;
}
