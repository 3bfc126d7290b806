/* clean: The origin buffer of a put is a member of an object. A method changes this member after a local flush.
 * race: The origin buffer of a put is a member of an object. A method changes this member before the put is completed
 * (MPI-5.0 12.3).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=first,second needs=accesses
 */
#include <mpi.h>
#include <vector>

class Counter {
      public:
	const int *place() const { return &count_; }
	void increment();

      private:
	int count_ = 0;
};

#ifdef WRONG
__attribute__((noinline)) void Counter::increment() { count_++; /* @second */ }
#else
__attribute__((noinline)) void Counter::increment() { count_++; }
#endif

int main(int argc, char **argv) {
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	std::vector<int> memory(8);
	MPI_Win win;
	MPI_Win_create(memory.data(), memory.size() * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	Counter counter;
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Put(counter.place(), 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
#ifndef WRONG
		MPI_Win_flush_local(1, win);
#endif
		counter.increment();
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
