/* Proves: MPI_Comm_create works with a reordered group, and with disjoint groups in one call. MPI_Comm_create_group
 *   works if only the members call it, also twice with different tags. Non-members get MPI_COMM_NULL. Several
 *   MPI_Comm_idup can be active at once. Names and MPI_Comm_dup_with_info work. A message on one communicator never
 *   matches on another. MPI-5.0 7.4.2
 * np: 1 2 5
 * ref: mpich
 * timeout: 30
 */
#include "../check.h"

/* Checks a sum over all members, and passes a number around the communicator. A receive pending on MPI_COMM_WORLD would
 * match these messages if contexts were mixed up. */
static void use(MPI_Comm c, const int *members, int n, const char *what) {
	int rank, size, sum = 0, expect = 0, x = -1;
	MPI_Comm_rank(c, &rank);
	MPI_Comm_size(c, &size);
	CHECK(size == n && members[rank] == check_rank, "%s: rank %d of %d, the world's %d", what, rank, size,
	      check_rank);
	for (int i = 0; i < n; i++)
		expect += members[i];
	MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, c);
	CHECK(sum == expect, "%s: sum %d, not %d", what, sum, expect);
	MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % n, 1, &x, 1, MPI_INT, MPI_ANY_SOURCE, 1, c, MPI_STATUS_IGNORE);
	CHECK(x == (rank + n - 1) % n, "%s: got %d", what, x);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int caught = -1, ranks[64], n = 0, flag;
	MPI_Request trap;
	MPI_Comm c;
	MPI_Group world, g;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Irecv(&caught, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &trap);

	/* one call creates two communicators: even ranks in reverse order, and odd ranks in order */
	if (check_rank % 2 == 0) {
		for (int r = check_size - 1; r >= 0; r--)
			if (r % 2 == 0)
				ranks[n++] = r;
	} else {
		for (int r = 1; r < check_size; r += 2)
			ranks[n++] = r;
	}
	MPI_Group_incl(world, n, ranks, &g);
	MPI_Comm_create(MPI_COMM_WORLD, g, &c);
	CHECK(c != MPI_COMM_NULL, "no communicator");
	use(c, ranks, n, "create");
	MPI_Comm_free(&c);

	/* two communicators of each group, created by its members alone */
	MPI_Comm two[2];
	MPI_Comm_create_group(MPI_COMM_WORLD, g, 5, &two[0]);
	MPI_Comm_create_group(MPI_COMM_WORLD, g, 6, &two[1]);
	use(two[1], ranks, n, "create_group");
	use(two[0], ranks, n, "create_group");
	MPI_Comm_free(&two[0]);
	MPI_Comm_free(&two[1]);
	MPI_Group_free(&g);

	/* a communicator with one member */
	MPI_Group_incl(world, 1, &(int){check_size - 1}, &g);
	MPI_Comm_create(MPI_COMM_WORLD, g, &c);
	CHECK((c != MPI_COMM_NULL) == (check_rank == check_size - 1), "alone: null %d", c == MPI_COMM_NULL);
	if (c != MPI_COMM_NULL) {
		use(c, &check_rank, 1, "alone");
		MPI_Comm_free(&c);
	}
	MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &c);
	CHECK(c == MPI_COMM_NULL, "a communicator of nobody");
	MPI_Group_free(&g);
	MPI_Group_free(&world);

	MPI_Comm many[6];
	MPI_Request r[6];
	for (int i = 0; i < check_size; i++)
		ranks[i] = i;
	for (int i = 0; i < 6; i++)
		MPI_Comm_idup(MPI_COMM_WORLD, &many[i], &r[i]);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Waitall(6, r, MPI_STATUSES_IGNORE);
	for (int i = 5; i >= 0; i--) {
		use(many[i], ranks, check_size, "idup");
		MPI_Comm_free(&many[i]);
	}
	MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &c);
	use(c, ranks, check_size, "dup_with_info");
	char name[MPI_MAX_OBJECT_NAME];
	int len;
	MPI_Comm_set_name(c, "a name");
	MPI_Comm_get_name(c, name, &len);
	CHECK(strcmp(name, "a name") == 0 && len == 6, "name %s", name);
	MPI_Comm_get_name(MPI_COMM_WORLD, name, &len);
	CHECK(strcmp(name, "MPI_COMM_WORLD") == 0, "name %s", name);
	MPI_Comm_free(&c);

	MPI_Test(&trap, &flag, MPI_STATUS_IGNORE);
	CHECK(!flag, "the world caught a message of another communicator: %d", caught);
	MPI_Cancel(&trap);
	MPI_Wait(&trap, MPI_STATUS_IGNORE);
	return check_end();
}
