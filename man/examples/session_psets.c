/* Prints the process sets of a session. */
#include <mpi.h>
#include <stdio.h>

int main(void) {
    int sets, length, found;
    char name[MPI_MAX_PSET_NAME_LEN], size[20], level[40];
    MPI_Session session;
    MPI_Info info;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_get_info(session, &info);
    length = sizeof level;
    MPI_Info_get_string(info, "thread_level", &length, level, &found);
    MPI_Info_free(&info);
    printf("thread level: %s\n", found ? level : "unknown");
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
    for (int i = 0; i < sets; i++) {
        length = sizeof name;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
        MPI_Session_get_pset_info(session, name, &info);
        length = sizeof size;
        MPI_Info_get_string(info, "mpi_size", &length, size, &found);
        MPI_Info_free(&info);
        printf("%s has %s processes\n", name, found ? size : "unknown");
    }
    MPI_Session_finalize(&session);
    return 0;
}
