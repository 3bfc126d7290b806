/* Proves: MPI_Comm_compare and MPI_Group_compare return the right relation: identical, congruent, similar (different
 *   order) or unequal. MPI-5.0 7.3.1, 7.4.1
 * np: 1 2 5
 * ref: mpich
 * timeout: 30
 */
#include "../check.h"

static void check_comm(MPI_Comm a, MPI_Comm b, int want, const char *what) {
	int result = -1;
	MPI_Comm_compare(a, b, &result);
	CHECK(result == want, "%s: %d, not %d", what, result, want);
	MPI_Comm_compare(b, a, &result);
	CHECK(result == want, "%s, the other way round: %d, not %d", what, result, want);
}

static void check_group(MPI_Comm a, MPI_Comm b, int want, const char *what) {
	MPI_Group first, second;
	int result = -1;
	MPI_Comm_group(a, &first);
	MPI_Comm_group(b, &second);
	MPI_Group_compare(first, second, &result);
	CHECK(result == want, "groups, %s: %d, not %d", what, result, want);
	MPI_Group_free(&first);
	MPI_Group_free(&second);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm copy, reversed, part;
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &reversed);
	MPI_Comm_split(MPI_COMM_WORLD, check_rank == 0, 0, &part);
	check_comm(MPI_COMM_WORLD, MPI_COMM_WORLD, MPI_IDENT, "the world and itself");
	check_comm(copy, copy, MPI_IDENT, "a copy and itself");
	check_comm(MPI_COMM_WORLD, copy, MPI_CONGRUENT, "the world and its copy");
	check_comm(MPI_COMM_WORLD, reversed, check_size > 1 ? MPI_SIMILAR : MPI_CONGRUENT, "the world reversed");
	check_comm(MPI_COMM_WORLD, part, check_size > 1 ? MPI_UNEQUAL : MPI_CONGRUENT, "a part of the world");
	check_comm(MPI_COMM_SELF, MPI_COMM_WORLD, check_size > 1 ? MPI_UNEQUAL : MPI_CONGRUENT, "self and world");
	check_group(MPI_COMM_WORLD, copy, MPI_IDENT, "the world and its copy");
	check_group(MPI_COMM_WORLD, reversed, check_size > 1 ? MPI_SIMILAR : MPI_IDENT, "the world reversed");
	check_group(MPI_COMM_WORLD, part, check_size > 1 ? MPI_UNEQUAL : MPI_IDENT, "a part of the world");
	MPI_Comm_free(&copy);
	MPI_Comm_free(&reversed);
	MPI_Comm_free(&part);
	return check_end();
}
