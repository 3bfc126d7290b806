/* clean: Two origins add an int with a function template (MPI-5.0 12.7.1).
 * race: One origin adds an int with a function template, another adds a float to the same location. Accumulates are
 * atomic only if both use the same predefined type (MPI-5.0 12.7.1).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=add,add needs=calls
 */
#include <mpi.h>
#include <vector>

template <typename T> MPI_Datatype type_of();
template <> MPI_Datatype type_of<int>() { return MPI_INT; }
template <> MPI_Datatype type_of<float>() { return MPI_FLOAT; }

template <typename T> void add(const T &value, int target, MPI_Win win) {
	MPI_Accumulate(&value, 1, type_of<T>(), target, 0, 1, type_of<T>(), MPI_SUM, win); /* @add */
}

int main(int argc, char **argv) {
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	std::vector<int> memory(8);
	MPI_Win win;
	MPI_Win_create(memory.data(), memory.size() * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	int one = 1;
#ifdef WRONG
	float number = 1.0f;
#else
	int number = 2;
#endif
	MPI_Win_fence(0, win);
	if (rank == 0)
		add(one, 2, win);
	if (rank == 1)
		add(number, 2, win);
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
