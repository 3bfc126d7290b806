/* clean: One thread puts, flushes and sets an atomic flag. Another thread waits for the flag, then puts (MPI-5.0 12.7).
 * race: One thread sets an atomic flag, then puts and flushes. Another thread waits for the flag, then puts (MPI-5.0
 * 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=calls
 * find clean: nothing needs=accesses
 */
#include <mpi.h>
#include <atomic>
#include <thread>
#include <vector>

int main(int argc, char **argv) {
	int rank;
	int provided;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	if (provided < MPI_THREAD_MULTIPLE)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	std::vector<int> memory(8);
	MPI_Win win;
	MPI_Win_create(memory.data(), memory.size() * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		const int values[2] = {1, 2};
		std::atomic<bool> flag{false};
		std::thread one([&] {
#ifdef WRONG
			flag.store(true, std::memory_order_release);
			MPI_Put(&values[0], 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
			MPI_Win_flush(1, win);
#else
			MPI_Put(&values[0], 1, MPI_INT, 1, 0, 1, MPI_INT, win);
			MPI_Win_flush(1, win);
			flag.store(true, std::memory_order_release);
#endif
		});
		std::thread other([&] {
			while (!flag.load(std::memory_order_acquire))
				std::this_thread::yield();
			MPI_Put(&values[1], 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @second */
		});
		one.join();
		other.join();
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
