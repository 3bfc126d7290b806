/* clean: Two threads put to one element and flush under a unique lock of a shared mutex (MPI-5.0 12.7).
 * race: Two threads put to one element and flush under shared locks of a shared mutex, which both may hold at the same
 * time (MPI-5.0 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=put,put needs=calls
 */
#include <mpi.h>
#include <functional>
#include <mutex>
#include <shared_mutex>
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
		std::shared_mutex mutex;
		auto put = [&](const int &value) {
#ifdef WRONG
			std::shared_lock<std::shared_mutex> lock(mutex);
#else
			std::unique_lock<std::shared_mutex> lock(mutex);
#endif
			MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @put */
			MPI_Win_flush(1, win);
		};
		std::thread one(put, std::cref(values[0]));
		std::thread other(put, std::cref(values[1]));
		one.join();
		other.join();
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
