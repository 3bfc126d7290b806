/* clean: Rank 1 waits for a flag in its memory with atomic loads and then reads the data (MPI-5.0 12.7).
 * race: Rank 1 waits for a flag in its memory with atomic loads, but reads the data before the flag (MPI-5.0 12.7).
 *
 * np: 2
 * ref: none (MPI_Win_sync makes no progress there)
 * find: race window=q target=1 lines=first,second needs=accesses
 * find clean: nothing needs=accesses
 */
#include <mpi.h>
#include <atomic>
#include <cstdio>

struct Shared {
	int data = 0;
	std::atomic<int> flag{0};
};

int main(int argc, char **argv) {
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	static Shared shared;
	MPI_Win win;
	MPI_Win_create(&shared, sizeof shared, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	const int value = 3, one = 1;
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
		MPI_Win_flush(1, win);
		MPI_Accumulate(&one, 1, MPI_INT, 1, 1, 1, MPI_INT, MPI_REPLACE, win);
		MPI_Win_flush(1, win);
	}
	if (rank == 1) {
#ifdef WRONG
		std::printf("%d\n", shared.data == 3); /* @second */
		while (shared.flag.load(std::memory_order_acquire) == 0)
			MPI_Win_sync(win);
#else
		while (shared.flag.load(std::memory_order_acquire) == 0)
			MPI_Win_sync(win);
		std::printf("%d\n", shared.data == 3);
#endif
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
