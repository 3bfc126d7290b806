/* A buffered send completes although the sender makes no further MPI call:
 *     rank 0: Bsend; spin until a load of flag in a shared window gives i        rank 1: receive; store flag = i
 * Forbidden: rank 0 spins forever. The messages have 8 bytes to 2 MB.
 * MPI-5.0 3.4, 3.5 (progress)
 * np: 2
 * nodes: 1 (the window is shared)
 * timeout: 60
 */
#include "../check.h"
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum { TIMES = 60, MOST = 250000 };

static void stuck(int signal) {
	static const char text[] = "FAIL: the buffered message does not arrive while its sender spins\n";
	(void)signal;
	_exit(write(2, text, sizeof text - 1) < 0 ? 2 : 1);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	static const int counts[] = {1, 100, 10000, MOST};
	_Atomic int *flag;
	double *data = calloc(MOST, sizeof *data);
	int room = MOST * sizeof *data + MPI_BSEND_OVERHEAD, unit;
	char *buffer = malloc(room);
	MPI_Aint size;
	MPI_Win win;
	MPI_Win_allocate_shared(check_rank == 0 ? 64 : 0, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &flag, &win);
	MPI_Win_shared_query(win, 0, &size, &unit, &flag);
	if (check_rank == 0)
		atomic_store(flag, 0);
	signal(SIGALRM, stuck);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 1; i <= TIMES; i++) {
		int count = counts[i % 4];
		if (check_rank == 0) {
			data[count - 1] = i;
			MPI_Buffer_attach(buffer, room);
			MPI_Bsend(data, count, MPI_DOUBLE, 1, i, MPI_COMM_WORLD);
			alarm(20);
			while (atomic_load(flag) < i)
				;
			alarm(0);
			MPI_Buffer_detach(&buffer, &room);
		} else {
			MPI_Recv(data, count, MPI_DOUBLE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			CHECK(data[count - 1] == i, "message %d is %g", i, data[count - 1]);
			atomic_store(flag, i);
		}
	}
	MPI_Win_free(&win);
	free(buffer);
	free(data);
	return check_end();
}
