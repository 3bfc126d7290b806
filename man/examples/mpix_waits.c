/* A second thread observes what the main thread waits for, and then sends the message. */
#include <mpi.h>
#include <mpix_gompirma.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static void *observe(void *unused) {
    struct MPIX_Gompirma_wait wait;
    const struct timespec pause = {.tv_nsec = 1000000};
    int count = 0;
    while (count == 0) {
        nanosleep(&pause, NULL);
        MPIX_Gompirma_waits(1, &wait, &count);
    }
    if (wait.reason == MPIX_GOMPIRMA_FOR_MESSAGE)
        printf("%s waits for a message from rank %d with tag %d\n",
            wait.call, wait.process, wait.tag);
    MPI_Send(NULL, 0, MPI_INT, 0, 5, MPI_COMM_SELF);
    return unused;
}

int main(int argc, char **argv) {
    int provided;
    pthread_t observer;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    pthread_create(&observer, NULL, observe, NULL);
    MPI_Recv(NULL, 0, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    pthread_join(observer, NULL);
    MPI_Finalize();
    return 0;
}
