/* clean: An asynchronous function puts and flushes. The main thread waits for the function, then puts (MPI-5.0 12.7).
 * race: An asynchronous function puts and flushes. The main thread puts before it waits for the function (MPI-5.0
 * 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=calls
 */
#include <mpi.h>
#include <future>
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
		auto result = std::async(std::launch::async, [&] {
			MPI_Put(&values[0], 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
			MPI_Win_flush(1, win);
		});
#ifdef WRONG
		MPI_Put(&values[1], 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @second */
		result.get();
#else
		result.get();
		MPI_Put(&values[1], 1, MPI_INT, 1, 0, 1, MPI_INT, win);
#endif
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
