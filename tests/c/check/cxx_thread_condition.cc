/* clean: One thread puts, flushes and signals a condition. Another thread waits for the condition, then puts (MPI-5.0
 * 12.7).
 * race: One thread puts, signals a condition and flushes after it. Another thread waits for the condition, then puts
 * (MPI-5.0 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=calls
 */
#include <mpi.h>
#include <condition_variable>
#include <mutex>
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
		std::mutex mutex;
		std::condition_variable condition;
		bool done = false;
		std::thread one([&] {
			MPI_Put(&values[0], 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
#ifndef WRONG
			MPI_Win_flush(1, win);
#endif
			{
				std::lock_guard<std::mutex> guard(mutex);
				done = true;
			}
			condition.notify_one();
#ifdef WRONG
			MPI_Win_flush(1, win);
#endif
		});
		std::thread other([&] {
			{
				std::unique_lock<std::mutex> lock(mutex);
				condition.wait(lock, [&] { return done; });
			}
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
