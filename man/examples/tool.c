/* Prints the control variables of the library, and the value of a performance variable. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int provided, count, index, number;
    unsigned long long windows = 0;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    MPI_T_cvar_get_num(&count);
    for (int i = 0; i < count; i++) {
        char name[100], text[300];
        int name_len = sizeof name, text_len = sizeof text;
        MPI_T_cvar_get_info(i, name, &name_len, NULL, NULL, NULL, text,
            &text_len, NULL, NULL);
        printf("%s: %s\n", name, text);
    }
    if (MPI_T_pvar_get_index("windows", MPI_T_PVAR_CLASS_LEVEL, &index) ==
        MPI_SUCCESS) {
        MPI_T_pvar_session_create(&session);
        MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &number);
        MPI_T_pvar_read(session, handle, &windows);
        printf("windows: %llu\n", windows);
        MPI_T_pvar_session_free(&session);
    }
    MPI_Finalize();
    MPI_T_finalize();
    return 0;
}
