/* Proves: MPI_Intercomm_create, MPI_Comm_remote_size, remote_group and test_inter return the right values. Messages,
 *   probes and wildcards work between the groups. MPI_Comm_dup, split and create work on an intercommunicator.
 *   MPI_Intercomm_merge works with all four combinations of its argument high, and MPI_Comm_compare returns the right
 *   relation. MPI-5.0 7.6
 * np: 2 3 5
 * ref: mpich
 * timeout: 30
 */
#include "../check.h"

static void talk(MPI_Comm c, const char *what) {
	int inter, rank, size, there;
	MPI_Comm_test_inter(c, &inter);
	MPI_Comm_rank(c, &rank);
	MPI_Comm_size(c, &size);
	MPI_Comm_remote_size(c, &there);
	CHECK(inter && size >= 1 && there >= 1, "%s: inter %d, %d and %d members", what, inter, size, there);
	int *mine = malloc(sizeof(int) * (there + 1)), *theirs = malloc(sizeof(int) * (there + 1)),
	    me[2] = {check_rank, rank};
	MPI_Group g, world;
	MPI_Comm_remote_group(c, &g);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	for (int i = 0; i < there; i++)
		mine[i] = i;
	MPI_Group_translate_ranks(g, there, mine, world, theirs);
	MPI_Request *r = malloc(sizeof(MPI_Request) * there);
	for (int i = 0; i < there; i++)
		MPI_Isend(me, 2, MPI_INT, i, 8, c, &r[i]);
	for (int i = 0; i < there; i++) {
		int got[2];
		MPI_Status s;
		if (i % 2)
			MPI_Recv(got, 2, MPI_INT, i, 8, c, &s);
		else {
			MPI_Probe(i, MPI_ANY_TAG, c, &s);
			CHECK(s.MPI_SOURCE == i && s.MPI_TAG == 8, "%s: probed %d", what, s.MPI_SOURCE);
			MPI_Recv(got, 2, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, c, &s);
		}
		CHECK(got[1] == i && s.MPI_SOURCE == i && got[0] == theirs[i], "%s: rank %d is %d of the world, not %d",
		      what, i, got[0], theirs[i]);
	}
	MPI_Waitall(there, r, MPI_STATUSES_IGNORE);
	MPI_Group_free(&g);
	MPI_Group_free(&world);
	free(mine);
	free(theirs);
	free(r);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int side = check_rank % 2, sizes[2] = {(check_size + 1) / 2, check_size / 2}, result, rank;
	MPI_Comm half, c, d;
	MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
	/* the last rank of each half is its leader */
	int leader = sizes[side] - 1, other = side ? 2 * (sizes[0] - 1) : 2 * sizes[1] - 1;
	MPI_Intercomm_create(half, leader, MPI_COMM_WORLD, other, 77, &c);
	talk(c, "created");
	MPI_Comm_dup(c, &d);
	talk(d, "duplicate");
	MPI_Comm_compare(c, d, &result);
	CHECK(result == MPI_CONGRUENT, "a duplicate compares as %d", result);
	MPI_Comm_compare(c, MPI_COMM_WORLD, &result);
	CHECK(result == MPI_UNEQUAL, "with the world it compares as %d", result);
	MPI_Comm_free(&d);

	/* color 3: the first member of each group; color 4: the other members, which get MPI_COMM_NULL if the other
	 * group has only one member */
	MPI_Comm_rank(c, &rank);
	MPI_Comm_split(c, rank == 0 ? 3 : 4, 0, &d);
	int expected = rank == 0 || sizes[1 - side] > 1;
	CHECK((d != MPI_COMM_NULL) == expected, "split: rank %d, null %d", rank, d == MPI_COMM_NULL);
	if (d != MPI_COMM_NULL) {
		talk(d, "split");
		MPI_Comm_free(&d);
	}
	MPI_Group g, last;
	MPI_Comm_group(c, &g);
	MPI_Group_incl(g, 1, &(int){sizes[side] - 1}, &last);
	MPI_Comm_create(c, last, &d);
	CHECK((d != MPI_COMM_NULL) == (rank == sizes[side] - 1), "create: rank %d, null %d", rank, d == MPI_COMM_NULL);
	if (d != MPI_COMM_NULL) {
		talk(d, "create");
		MPI_Comm_free(&d);
	}
	MPI_Group_free(&g);
	MPI_Group_free(&last);

	for (int high = 0; high < 4; high++) {
		MPI_Comm m;
		int mine = high >> side & 1, size, first = -1, sum = -1;
		MPI_Intercomm_merge(c, mine, &m);
		MPI_Comm_size(m, &size);
		MPI_Comm_rank(m, &rank);
		if (rank == 0)
			first = side;
		MPI_Bcast(&first, 1, MPI_INT, 0, m);
		CHECK(size == check_size, "merged: %d", size);
		if (high == 1 || high == 2)
			CHECK(first == (high == 1),
			      "merged with high %d of the even and %d of the odd ones: the %s ones come first",
			      high & 1, high >> 1, first ? "odd" : "even");
		MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, m);
		CHECK(sum == check_size * (check_size - 1) / 2, "sum over the merged ones: %d", sum);
		MPI_Comm_free(&m);
	}
	MPI_Comm_free(&c);
	CHECK(c == MPI_COMM_NULL, "not null after it was freed");
	MPI_Comm_free(&half);
	return check_end();
}
