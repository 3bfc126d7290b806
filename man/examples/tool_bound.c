/* Prints how many messages wait for a receive on a communicator. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int provided, index, number, rank, data = 7;
    unsigned long long waiting = 0;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    if (MPI_T_pvar_get_index("comm_unexpected_messages",
            MPI_T_PVAR_CLASS_LEVEL, &index) == MPI_SUCCESS) {
        MPI_T_pvar_session_create(&session);
        MPI_T_pvar_handle_alloc(session, index, &comm, &handle, &number);
        MPI_Send(&data, 1, MPI_INT, rank, 0, comm);
        MPI_T_pvar_read(session, handle, &waiting);
        printf("messages without a receive: %llu\n", waiting);
        MPI_Recv(&data, 1, MPI_INT, rank, 0, comm, MPI_STATUS_IGNORE);
        MPI_T_pvar_session_free(&session);
    }
    MPI_Comm_free(&comm);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
