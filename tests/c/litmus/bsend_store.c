/* A buffered send, followed by a plain store to a shared window:
 *     rank 0: Bsend; store sent = i; spin without MPI until received = i
 *     rank 1: spin until sent = i; receive; store received = i
 * Forbidden: rank 1 waits forever in its receive while rank 0 spins. The messages have 8 bytes to 2 MB.
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
	static const char text[] = "FAIL: a rank is stuck\n";
	(void)signal;
	_exit(write(2, text, sizeof text - 1) < 0 ? 2 : 1);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	static const int counts[] = {1, 100, 10000, MOST};
	_Atomic int *flags; /* [0]: sent, [16]: received */
	double *data = calloc(MOST, sizeof *data);
	int room = MOST * sizeof *data + MPI_BSEND_OVERHEAD, unit;
	char *buffer = malloc(room);
	MPI_Aint size;
	MPI_Win win;
	MPI_Win_allocate_shared(check_rank == 0 ? 128 : 0, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &flags, &win);
	MPI_Win_shared_query(win, 0, &size, &unit, &flags);
	if (check_rank == 0)
		memset((void *)flags, 0, 128);
	signal(SIGALRM, stuck);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 1; i <= TIMES; i++) {
		int count = counts[i % 4];
		alarm(20);
		if (check_rank == 0) {
			data[0] = i;
			MPI_Buffer_attach(buffer, room);
			MPI_Bsend(data, count, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
			atomic_store(&flags[0], i);
			while (atomic_load(&flags[16]) < i)
				;
			MPI_Buffer_detach(&buffer, &room);
		} else {
			while (atomic_load(&flags[0]) < i)
				;
			MPI_Recv(data, count, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			CHECK(data[0] == i, "message %d is %g", i, data[0]);
			atomic_store(&flags[16], i);
		}
	}
	alarm(0);
	MPI_Win_free(&win);
	free(buffer);
	free(data);
	return check_end();
}
