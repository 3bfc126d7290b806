/* Proves: a rank that is killed while the other one transfers much data to and from its memory blocks neither the
 *   transfers nor the flushes: they end with MPIX_ERR_PROC_FAILED. Messages likewise (ULFM).
 * np: 2
 * args: put get recv
 * env: GOMPIRMA_FT=1
 * ref: none (needs ULFM)
 * timeout: 30
 */
#include "../check.h"

#include <mpi-ext.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

enum { BYTES = 8 << 20, MOST_TRANSFERS = 1000000 };

static void *kill_later(void *us) {
	usleep((useconds_t)(intptr_t)us);
	kill(getpid(), SIGKILL);
	return NULL;
}

int main(int argc, char **argv) {
	check_begin_threads(&argc, &argv);
	char *local = malloc(BYTES), *memory = malloc(BYTES);
	memset(local, 1, BYTES);
	memset(memory, 2, BYTES);
	MPI_Win win;
	MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	bool puts = strcmp(check_arg, "put") == 0, gets = strcmp(check_arg, "get") == 0;
	MPI_Barrier(MPI_COMM_WORLD);
	if (check_rank == 1) {
		pthread_t thread;
		pthread_create(&thread, NULL, kill_later, (void *)(intptr_t)50000);
		while (!puts && !gets)
			MPI_Send(local, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
		MPI_Recv(local, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	int rc = MPI_SUCCESS;
	if (puts || gets)
		MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
	for (int i = 0; i < MOST_TRANSFERS && rc == MPI_SUCCESS; i++) {
		if (puts)
			rc = MPI_Put(local, BYTES, MPI_BYTE, 1, 0, BYTES, MPI_BYTE, win);
		else if (gets)
			rc = MPI_Get(local, BYTES, MPI_BYTE, 1, 0, BYTES, MPI_BYTE, win);
		else
			rc = MPI_Recv(local, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rc == MPI_SUCCESS && (puts || gets))
			rc = MPI_Win_flush(1, win);
	}
	CHECK(check_class(rc) == MPIX_ERR_PROC_FAILED, "the transfers end with class %d: %s", check_class(rc),
	      check_string(rc));
	printf(check_errors == 0 ? "PASS\n" : "FAIL\n");
	MPI_Finalize();
	return check_errors != 0;
}
