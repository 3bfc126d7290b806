/* clean: Two origins put to adjacent ranges in one exposure epoch (MPI-5.0 12.5.2).
 * race: Two origins put to overlapping ranges in one exposure epoch (MPI-5.0 12.5.2).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=put,put needs=calls
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
	const std::vector<int> part(4, rank);
	const int ranks[3] = {0, 1, 2};
	MPI_Group world, origins, target;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 2, ranks, &origins);
	MPI_Group_incl(world, 1, ranks + 2, &target);
	if (rank == 2) {
		MPI_Win_post(origins, 0, win);
		MPI_Win_wait(win);
	} else {
		MPI_Win_start(target, 0, win);
#ifdef WRONG
		MPI_Put(part.data(), 4, MPI_INT, 2, 3 * rank, 4, MPI_INT, win); /* @put */
#else
		MPI_Put(part.data(), 4, MPI_INT, 2, 4 * rank, 4, MPI_INT, win);
#endif
		MPI_Win_complete(win);
	}
	MPI_Group_free(&target);
	MPI_Group_free(&origins);
	MPI_Group_free(&world);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
