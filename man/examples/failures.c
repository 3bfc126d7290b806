/* Computes a sum in each step. If a rank fails, the others repeat the step
 * without it. Started by gompirun --ft. */
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>

int main(int argc, char **argv) {
    MPI_Comm comm, survivors;
    MPI_Group failed;
    int size, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int step = 0; step < 10; step++) {
        int rc = MPI_Allreduce(&step, &sum, 1, MPI_INT, MPI_SUM, comm);
        int ok = rc == MPI_SUCCESS;
        /* the sum may have failed at some ranks only */
        rc = MPIX_Comm_agree(comm, &ok);
        if (rc == MPI_SUCCESS && ok)
            continue;
        MPIX_Comm_get_failed(comm, &failed);
        MPI_Group_size(failed, &size);
        printf("step %d: %d ranks have failed\n", step, size);
        MPI_Group_free(&failed);
        MPIX_Comm_failure_ack(comm);
        MPIX_Comm_revoke(comm);
        MPIX_Comm_shrink(comm, &survivors);
        MPI_Comm_free(&comm);
        comm = survivors;
        step--;
    }
    MPI_Comm_size(comm, &size);
    printf("the last sum is %d, of %d ranks\n", sum, size);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
