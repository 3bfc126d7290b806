/* A request for work that a thread of the program does. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static int query(void *result, MPI_Status *status) {
    MPI_Status_set_elements(status, MPI_INT, *(int *)result);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int nothing(void *result) {
    (void)result;
    return MPI_SUCCESS;
}

static int cancel(void *result, int complete) {
    (void)result, (void)complete;
    return MPI_SUCCESS;
}

static void *work(void *request) {
    MPI_Grequest_complete(*(MPI_Request *)request);
    return NULL;
}

int main(int argc, char **argv) {
    int provided, result = 5, count;
    MPI_Request request, copy;
    MPI_Status status;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Grequest_start(query, nothing, cancel, &result, &request);
    copy = request; /* MPI_Wait changes request */
    pthread_create(&thread, NULL, work, &copy);
    MPI_Wait(&request, &status);
    pthread_join(thread, NULL);
    MPI_Get_count(&status, MPI_INT, &count);
    printf("the thread has made %d items\n", count);
    MPI_Finalize();
    return 0;
}
