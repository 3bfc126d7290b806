/* clean: Two origins put under exclusive locks. A guard acquires a lock and releases it at the end of its block
 * (MPI-5.0 12.5.3).
 * race: Two origins put under shared locks, which do not exclude each other. A guard acquires a lock and releases it at
 * the end of its block (MPI-5.0 12.5.3).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=put,put needs=calls
 */
#include <mpi.h>
#include <vector>

class Guard {
      public:
	Guard(int type, int target, MPI_Win win) : target_(target), win_(win) { MPI_Win_lock(type, target, 0, win); }
	~Guard() { MPI_Win_unlock(target_, win_); }

      private:
	int target_;
	MPI_Win win_;
};

int main(int argc, char **argv) {
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	std::vector<int> memory(8);
	MPI_Win win;
	MPI_Win_create(memory.data(), memory.size() * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	int value = rank;
	if (rank < 2) {
#ifdef WRONG
		Guard guard(MPI_LOCK_SHARED, 2, win);
#else
		Guard guard(MPI_LOCK_EXCLUSIVE, 2, win);
#endif
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @put */
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
