/* Two origins call a lambda that adds to an integer (MPI-5.0 12.7.1).
 *
 * np: 3
 * ref: mpich
 * find: nothing
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
	auto add = [&](int target) { MPI_Accumulate(&value, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, win); };
	MPI_Win_lock_all(0, win);
	if (rank == 0)
		add(2);
	if (rank == 1)
		add(2);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
