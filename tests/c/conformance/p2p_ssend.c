/* Proves: MPI_Ssend does not return before the receive has started, for small and large messages. After MPI_Ssend, the
 *   sender sets a flag in a shared window. The receiver must not see the flag before it starts to receive. MPI-5.0 3.4
 * np: 2 4
 * ref: mpich
 * nodes: 1 (the ranks report their progress to each other in shared memory)
 * timeout: 30
 */
#include "../check.h"
#include <stdatomic.h>

enum { TIMES = 30, MOST = 100000 };

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int me = check_rank, other = me ^ 1, unit, flag, *data = calloc(MOST, sizeof(int));
	MPI_Aint size;
	_Atomic int *mine, *theirs;
	MPI_Win win;
	MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
	MPI_Win_shared_query(win, other, &size, &unit, &theirs);
	atomic_store(mine, -1);
	MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < TIMES; i++) {
		int count = i % 3 == 0 ? 1 : i % 3 == 1 ? 1000 : MOST;
		if (me % 2 == 0) {
			data[0] = i;
			MPI_Ssend(data, count, MPI_INT, other, i, MPI_COMM_WORLD);
			atomic_store(mine, i);
		} else {
			for (flag = 0; !flag;) /* polls for the message; the next loop checks the flag for a while */
				MPI_Iprobe(other, i, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
			for (int k = 0; k < 200; k++) {
				MPI_Iprobe(other, i, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
				CHECK(atomic_load(theirs) < i,
				      "message %d of %d: MPI_Ssend returned before the receive", i, count);
				if (atomic_load(theirs) >= i)
					break;
			}
			MPI_Recv(data, count, MPI_INT, other, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			CHECK(data[0] == i, "received %d, not %d", data[0], i);
		}
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	free(data);
	return check_end();
}
