/* What went wrong: after the communicator of a window was freed, the library confused messages of the window with those
 * of newly created communicators.
 * Must hold: the window keeps the group of that communicator, with its rank order, and works until the window is freed.
 * MPI-5.0 7.4.3, 12.2
 * np: 2 4
 * nodes: 2
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (int round = 0; round < 20; round++) {
		MPI_Comm rev, d[5];
		MPI_Win w[3];
		int *p, x = -1;
		MPI_Request q[4];
		MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &rev);
		int rr;
		MPI_Comm_rank(rev, &rr);
		int mem[64];
		for (int i = 0; i < 64; i++)
			mem[i] = -1;
		MPI_Win_create(mem, sizeof mem, 4, MPI_INFO_NULL, rev, &w[0]);
		MPI_Win_allocate(256, 4, MPI_INFO_NULL, rev, &p, &w[1]);
		MPI_Comm_free(&rev);
		for (int i = 0; i < 5; i++)
			MPI_Comm_dup(MPI_COMM_WORLD, &d[i]);
		for (int i = 0; i < 4; i++)
			MPI_Ibarrier(d[i], &q[i]);
		MPI_Win_fence(0, w[0]);
		for (int t = 0; t < check_size; t++)
			MPI_Put(&check_rank, 1, MPI_INT, t, rr, 1, MPI_INT, w[0]);
		MPI_Bcast(&x, 1, MPI_INT, 0, d[4]);
		MPI_Win_fence(0, w[0]);
		for (int i = 0; i < check_size; i++)
			CHECK(mem[i] == check_size - 1 - i, "place %d has %d", i, mem[i]);
		MPI_Win_lock_all(0, w[1]);
		int one = 1, got;
		MPI_Fetch_and_op(&one, &got, MPI_INT, 0, 3, MPI_SUM, w[1]);
		MPI_Win_unlock_all(w[1]);
		MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
		MPI_Win_free(&w[1]);
		for (int i = 0; i < 5; i++)
			MPI_Comm_free(&d[i]);
		MPI_Win_free(&w[0]);
	}
	return check_end();
}
