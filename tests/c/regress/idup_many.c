/* What went wrong: several pending MPI_Comm_idup hung, or two of the new communicators were the same.
 * Must hold: any number of MPI_Comm_idup may be pending, on several communicators. They complete in any order, each new
 * communicator is usable at once, and other collectives make progress meanwhile. MPI-5.0 7.4.2
 * np: 2 4
 * nodes: 2
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	enum { N = 40 };
	MPI_Comm d[N];
	MPI_Request q[N];
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < N; i++)
			CHECK_OK(MPI_Comm_idup(i % 5 == 3 ? MPI_COMM_SELF : MPI_COMM_WORLD, &d[i], &q[i]));
		if (round % 2)
			for (int i = N - 1; i >= 0; i--)
				CHECK_OK(MPI_Wait(&q[(i + (round > 2) * check_rank) % N], MPI_STATUS_IGNORE));
		else
			CHECK_OK(MPI_Waitall(N, q, MPI_STATUSES_IGNORE));
		int x[N];
		MPI_Request r[2 * N];
		int nr = 0, s[N];
		for (int i = 0; i < N; i++)
			if (i % 5 != 3) {
				x[i] = -1;
				s[i] = 1000 * round + i;
				MPI_Irecv(&x[i], 1, MPI_INT, (check_rank + check_size - 1) % check_size, 0, d[i],
					  &r[nr++]);
			}
		for (int i = N - 1; i >= 0; i--)
			if (i % 5 != 3)
				MPI_Isend(&s[i], 1, MPI_INT, (check_rank + 1) % check_size, 0, d[i], &r[nr++]);
		CHECK_OK(MPI_Waitall(nr, r, MPI_STATUSES_IGNORE));
		for (int i = 0; i < N; i++)
			if (i % 5 != 3)
				CHECK(x[i] == 1000 * round + i, "comm %d got %d", i, x[i]);
		for (int i = 0; i < N; i++)
			CHECK_OK(MPI_Comm_free(&d[i]));
	}
	/* MPI_Comm_dup while MPI_Comm_idup is pending */
	MPI_Comm a, b;
	MPI_Request p;
	CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &a, &p));
	CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &b));
	int y = check_rank, z;
	CHECK_OK(MPI_Allreduce(&y, &z, 1, MPI_INT, MPI_SUM, b));
	CHECK_OK(MPI_Wait(&p, MPI_STATUS_IGNORE));
	CHECK_OK(MPI_Allreduce(&y, &z, 1, MPI_INT, MPI_SUM, a));
	MPI_Comm_free(&a);
	MPI_Comm_free(&b);
	return check_end();
}
