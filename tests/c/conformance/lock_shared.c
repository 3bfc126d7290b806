/* Proves: all ranks can hold shared locks of one target at once; they call MPI_Barrier while they hold the locks. An
 *   exclusive lock waits for all of them. While another rank holds a shared lock, a put under an exclusive lock is not
 *   visible, and MPI_Win_unlock of the exclusive lock does not return. Tests every window kind. MPI-5.0 12.5.3
 * np: 2 4
 * ref: mpich
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

static void body(struct window *w) {
	int *mem = w->mem, got, flag, done = 1, value = 77;
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win);
	mem[0] = 5 + w->rank;
	MPI_Win_unlock(w->rank, w->win);
	MPI_Barrier(w->comm);

	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win);
	MPI_Get(&got, 1, MPI_INT, 0, window_at(w, 0, 0), 1, MPI_INT, w->win);
	MPI_Win_flush(0, w->win);
	MPI_Barrier(w->comm); /* would deadlock if shared locks excluded each other */
	MPI_Win_unlock(0, w->win);
	CHECK(got == 5, "%s window: got %d under a shared lock, not 5", w->name, got);
	MPI_Barrier(w->comm);

	/* rank 0 holds a shared lock of itself while rank 1 requests an exclusive lock */
	if (w->rank == 0) {
		MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win);
		MPI_Send(&done, 1, MPI_INT, 1, 0, w->comm);
		for (int i = 0; i < 300; i++) {
			MPI_Iprobe(1, 1, w->comm, &flag, MPI_STATUS_IGNORE);
			CHECK(!flag, "%s window: exclusive unlock returned under a shared lock", w->name);
			CHECK(*(volatile int *)mem == 5, "%s window: written to under a shared lock: %d", w->name,
			      *mem);
			if (flag)
				break;
		}
		MPI_Win_unlock(0, w->win);
		MPI_Recv(&done, 1, MPI_INT, 1, 1, w->comm, MPI_STATUS_IGNORE);
		MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win);
		CHECK(mem[0] == 77, "%s window: %d behind the exclusive lock, not 77", w->name, mem[0]);
		MPI_Win_unlock(0, w->win);
	} else if (w->rank == 1) {
		MPI_Recv(&done, 1, MPI_INT, 0, 0, w->comm, MPI_STATUS_IGNORE);
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win);
		MPI_Put(&value, 1, MPI_INT, 0, window_at(w, 0, 0), 1, MPI_INT, w->win);
		MPI_Win_unlock(0, w->win);
		MPI_Send(&done, 1, MPI_INT, 0, 1, w->comm);
	}
	MPI_Barrier(w->comm);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(64, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
