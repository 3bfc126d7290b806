/* Proves: MPI_Win_shared_query returns the address, size and unit of every rank's part of a window of
 *   MPI_Win_allocate_shared; loads and stores access it directly. The parts are adjacent in rank order. A query of
 *   MPI_PROC_NULL returns the first part that is not empty. RMA calls and plain accesses see the same memory. MPI-5.0
 *   12.2.3, 12.5.4
 * np: 1 2 5
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

static MPI_Aint size_of(int rank) { return rank % 3 == 0 && rank != 3 ? 0 : 64 * (rank + 1); }

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm node;
	int n, me, unit, *mem, *theirs;
	MPI_Aint size;
	MPI_Win win;
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	MPI_Comm_size(node, &n);
	MPI_Comm_rank(node, &me);
	MPI_Win_allocate_shared(size_of(me), me % 2 ? 4 : 8, MPI_INFO_NULL, node, &mem, &win);
	for (MPI_Aint i = 0; i < size_of(me) / 4; i++)
		mem[i] = me * 1000 + (int)i;
	MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
	MPI_Win_sync(win);
	MPI_Barrier(node);
	MPI_Win_sync(win);
	char *end = NULL, *first = NULL;
	for (int r = 0; r < n; r++) {
		MPI_Win_shared_query(win, r, &size, &unit, &theirs);
		CHECK(size == size_of(r), "rank %d's size is %lld, not %lld", r, (long long)size,
		      (long long)size_of(r));
		CHECK(unit == (r % 2 ? 4 : 8), "rank %d's unit is %d", r, unit);
		if (size == 0)
			continue;
		if (!first)
			first = (char *)theirs;
		CHECK(!end || (char *)theirs == end, "rank %d's part is not behind the one before: %td bytes off", r,
		      (char *)theirs - end);
		end = (char *)theirs + size;
		if (r == me)
			CHECK(theirs == mem, "the own part is at %p, not %p", (void *)theirs, (void *)mem);
		for (MPI_Aint i = 0; i < size / 4; i++)
			CHECK(theirs[i] == r * 1000 + (int)i, "rank %d's element %d is %d", r, (int)i, theirs[i]);
	}
	MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &theirs);
	CHECK(n == 1 || (char *)theirs == first, "MPI_PROC_NULL gives %p, not %p", (void *)theirs, (void *)first);
	MPI_Barrier(node);
	/* Stores into the right neighbour's part. The neighbour reads it by a load and by a get. */
	int right = (me + 1) % n, left = (me + n - 1) % n;
	MPI_Win_shared_query(win, right, &size, &unit, &theirs);
	if (size > 0)
		theirs[3] = -5 - me;
	MPI_Win_sync(win);
	MPI_Barrier(node);
	MPI_Win_sync(win);
	if (size_of(me) > 0) {
		int got = 0;
		CHECK(mem[3] == -5 - left, "the neighbour stored %d, not %d", mem[3], -5 - left);
		MPI_Get(&got, 1, MPI_INT, me, 3 * 4 / (me % 2 ? 4 : 8) * (me % 2), 1, MPI_INT, win);
		MPI_Win_flush(me, win);
		CHECK(got == (me % 2 ? -5 - left : me * 1000), "a get reads %d", got);
		int put = 777;
		MPI_Put(&put, 1, MPI_INT, me, 0, 1, MPI_INT, win);
		MPI_Win_flush(me, win);
		CHECK(*(volatile int *)mem == 777, "a put is not seen by a load: %d", mem[0]);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Comm_free(&node);
	return check_end();
}
