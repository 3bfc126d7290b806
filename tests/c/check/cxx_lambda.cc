/* clean: Two origins call a lambda that adds to an integer (MPI-5.0 12.7.1).
 * race: Two origins call a lambda that adds to an integer, and another lambda that puts to it: a put and an accumulate
 * conflict (MPI-5.0 12.3).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=add,put needs=calls
 */
#include <mpi.h>
#include <vector>

int main(int argc, char **argv) {
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	std::vector<int> memory(8);
	MPI_Win win;
	MPI_Win_create(memory.data(), memory.size() * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	int value = 1;
#ifdef WRONG
	auto add = [&](int target) {
		MPI_Accumulate(&value, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, win); /* @add */
	};
	auto put = [&](int target) {
		MPI_Put(&value, 1, MPI_INT, target, 0, 1, MPI_INT, win); /* @put */
	};
#else
	auto add = [&](int target) { MPI_Accumulate(&value, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, win); };
#endif
	MPI_Win_lock_all(0, win);
	if (rank == 0)
		add(2);
	if (rank == 1)
#ifdef WRONG
		put(2);
#else
		add(2);
#endif
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
