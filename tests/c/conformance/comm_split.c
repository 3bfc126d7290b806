/* Proves: MPI_Comm_split groups by color, orders by key and then by old rank, and returns MPI_COMM_NULL for
 *   MPI_UNDEFINED. The new communicators can be used at the same time, with messages and collectives, and can be split
 *   again. MPI-5.0 7.4.2
 * np: 1 2 5
 * ref: mpich
 * nodes: 2
 * timeout: 60
 */
#include "../check.h"

/* Checks that comm holds exactly the world ranks in members, in this order. */
static void check_members(MPI_Comm comm, const int *members, int count, const char *what) {
	int n, rank, got[64], me = check_rank;
	MPI_Comm_size(comm, &n);
	MPI_Comm_rank(comm, &rank);
	CHECK(n == count, "%s: size %d, not %d", what, n, count);
	MPI_Allgather(&me, 1, MPI_INT, got, 1, MPI_INT, comm);
	for (int i = 0; i < n && i < count; i++)
		CHECK(got[i] == members[i], "%s: rank %d is %d of the world, not %d", what, i, got[i], members[i]);
	int value = me, other = -1;
	MPI_Sendrecv(&value, 1, MPI_INT, (rank + 1) % n, 3, &other, 1, MPI_INT, (rank + n - 1) % n, 3, comm,
		     MPI_STATUS_IGNORE);
	CHECK(other == members[(rank + n - 1) % n], "%s: a message from %d, not %d", what, other,
	      members[(rank + n - 1) % n]);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int n = check_size, me = check_rank, members[64], k;
	MPI_Comm comm, again;

	MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &comm); /* the ranks in reverse order */
	for (k = 0; k * 2 + me % 2 < n; k++)
		;
	for (int i = 0; i < k; i++)
		members[k - 1 - i] = i * 2 + me % 2;
	check_members(comm, members, k, "odd and even, reversed");
	int rank;
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_split(comm, rank == 0 ? MPI_UNDEFINED : 7, 0, &again); /* all members except the first */
	if (rank == 0)
		CHECK(again == MPI_COMM_NULL, "MPI_UNDEFINED gives a communicator");
	else
		check_members(again, members + 1, k - 1, "split again");
	if (again != MPI_COMM_NULL)
		MPI_Comm_free(&again);
	MPI_Comm_free(&comm);

	MPI_Comm_split(MPI_COMM_WORLD, 0, 5, &comm); /* equal keys keep the old order */
	for (int i = 0; i < n; i++)
		members[i] = i;
	check_members(comm, members, n, "equal keys");
	MPI_Comm_free(&comm);

	MPI_Comm_split(MPI_COMM_WORLD, 2147483647, me == n - 1 ? -2147483647 - 1 : 2147483647 - me,
		       &comm); /* extreme keys */
	members[0] = n - 1;
	for (int i = 1; i < n; i++)
		members[i] = n - 1 - i;
	check_members(comm, members, n, "extreme keys");
	MPI_Comm_free(&comm);

	MPI_Comm_split(MPI_COMM_WORLD, me, 0, &comm);
	members[0] = me;
	check_members(comm, members, 1, "each alone");
	MPI_Comm_free(&comm);

	MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &comm);
	CHECK(comm == MPI_COMM_NULL, "all undefined: not null");

	for (int time = 0; time < 30; time++) { /* many splits with different colors and keys */
		MPI_Comm_split(MPI_COMM_WORLD, (me + time) % 3, me * time % 7, &comm);
		int one = 1, sum = 0, want = 0, size;
		for (int i = 0; i < n; i++)
			want += (i + time) % 3 == (me + time) % 3;
		MPI_Comm_size(comm, &size);
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
		CHECK(sum == want && size == want, "split %d: %d members, sum %d, not %d", time, size, sum, want);
		MPI_Comm_free(&comm);
	}
	return check_end();
}
