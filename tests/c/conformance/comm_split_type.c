/* Proves: MPI_Comm_split_type with MPI_COMM_TYPE_SHARED creates communicators whose members can share memory: they
 *   allocate a shared window and see each other's stores. Members are ordered by key. MPI_UNDEFINED gives
 *   MPI_COMM_NULL. MPI-5.0 7.4.2
 * np: 1 2 5
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm node, none;
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -check_rank, MPI_INFO_NULL, &node);
	int n, me, before = check_rank, world[64];
	MPI_Comm_size(node, &n);
	MPI_Comm_rank(node, &me);
	MPI_Allgather(&before, 1, MPI_INT, world, 1, MPI_INT, node);
	for (int i = 1; i < n; i++)
		CHECK(world[i] < world[i - 1], "the key does not order: rank %d is %d, rank %d is %d", i - 1,
		      world[i - 1], i, world[i]);
	int *mem, *theirs, unit;
	MPI_Aint size;
	MPI_Win win;
	MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, node, &mem, &win);
	MPI_Win_fence(0, win);
	mem[5] = 100 + check_rank;
	MPI_Win_fence(0, win);
	for (int r = 0; r < n; r++) {
		MPI_Win_shared_query(win, r, &size, &unit, &theirs);
		CHECK(theirs[5] == 100 + world[r], "rank %d's store is %d here, not %d", r, theirs[5], 100 + world[r]);
	}
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Comm_free(&node);
	MPI_Comm_split_type(MPI_COMM_WORLD, check_rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
			    &none);
	CHECK((none == MPI_COMM_NULL) == (check_rank == 0), "MPI_UNDEFINED on rank 0 only: wrong handle");
	if (none != MPI_COMM_NULL)
		MPI_Comm_free(&none);
	return check_end();
}
