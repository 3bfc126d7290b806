/* clean: The methods of a class make the calls: a put is flushed before a barrier, and a get follows the barrier.
 * race: The methods of a class make the calls: a put is not flushed before a barrier, and a get follows the barrier
 * (MPI-5.0 12.7).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=put,get needs=calls
 */
#include <mpi.h>
#include <cstddef>

class Window {
      public:
	explicit Window(std::size_t count) {
		MPI_Win_allocate(count * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base_, &win_);
		MPI_Win_set_name(win_, "q");
		MPI_Win_lock_all(0, win_);
	}
	~Window() {
		MPI_Win_unlock_all(win_);
		MPI_Win_free(&win_);
	}
	Window(const Window &) = delete;
	Window &operator=(const Window &) = delete;
	void put(const int &value, int target, MPI_Aint place) {
		MPI_Put(&value, 1, MPI_INT, target, place, 1, MPI_INT, win_); /* @put */
	}
	void get(int &value, int target, MPI_Aint place) {
		MPI_Get(&value, 1, MPI_INT, target, place, 1, MPI_INT, win_); /* @get */
	}
	void flush(int target) { MPI_Win_flush(target, win_); }

      private:
	int *base_ = nullptr;
	MPI_Win win_ = MPI_WIN_NULL;
};

int main(int argc, char **argv) {
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	{
		Window window(8);
		int value = rank;
		if (rank == 0)
			window.put(value, 2, 3);
#ifndef WRONG
		if (rank == 0)
			window.flush(2);
#endif
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 1)
			window.get(value, 2, 3);
	}
	MPI_Finalize();
	return 0;
}
