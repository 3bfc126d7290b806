/* Proves: MPI_Group_incl, excl, size, rank, translate_ranks, compare and free return the right values, for ranks in any
 *   order, for no ranks and for all ranks. The rank of a process that is not a member is MPI_UNDEFINED; MPI_PROC_NULL
 *   is translated to MPI_PROC_NULL. MPI_GROUP_EMPTY works; wrong ranks are refused. MPI-5.0 7.3
 * np: 1 2 5
 * args: calls duplicates
 * ref: mpich
 * ref-wrong: duplicates (MPICH takes the same rank twice)
 * timeout: 30
 */
#include "../check.h"

int main(int argc, char **argv) {
	check_begin_return_errors(&argc, &argv);
	int n = check_size, me = check_rank, size, rank, result, ranks[64], list[64], out[64];
	MPI_Group all, reversed, odd, even, empty, copy;
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_size(all, &size);
	MPI_Group_rank(all, &rank);
	CHECK(size == n && rank == me, "rank %d of %d", rank, size);

	for (int i = 0; i < n; i++)
		ranks[i] = n - 1 - i, list[i] = i;
	MPI_Group_incl(all, n, ranks, &reversed);
	MPI_Group_rank(reversed, &rank);
	CHECK(rank == n - 1 - me, "reversed: rank %d, not %d", rank, n - 1 - me);
	MPI_Group_translate_ranks(all, n, list, reversed, out);
	for (int i = 0; i < n; i++)
		CHECK(out[i] == n - 1 - i, "rank %d is %d reversed", i, out[i]);

	int odds = 0;
	for (int i = 1; i < n; i += 2)
		ranks[odds++] = i;
	MPI_Group_incl(all, odds, ranks, &odd);
	MPI_Group_excl(all, odds, ranks, &even);
	MPI_Group_size(even, &size);
	CHECK(size == n - odds, "%d even ranks, not %d", size, n - odds);
	MPI_Group_rank(odd, &rank);
	CHECK(rank == (me % 2 ? me / 2 : MPI_UNDEFINED), "among the odd ones rank %d", rank);
	MPI_Group_rank(even, &rank);
	CHECK(rank == (me % 2 ? MPI_UNDEFINED : me / 2), "among the even ones rank %d", rank);
	list[n] = MPI_PROC_NULL;
	MPI_Group_translate_ranks(all, n + 1, list, odd, out);
	for (int i = 0; i < n; i++)
		CHECK(out[i] == (i % 2 ? i / 2 : MPI_UNDEFINED), "rank %d is %d of the odd ones", i, out[i]);
	CHECK(out[n] == MPI_PROC_NULL, "MPI_PROC_NULL became %d", out[n]);
	MPI_Group_compare(odd, even, &result);
	CHECK(result == MPI_UNEQUAL, "odd and even: %d", result);

	MPI_Group_incl(all, 0, ranks, &empty);
	MPI_Group_compare(empty, MPI_GROUP_EMPTY, &result);
	CHECK(result == MPI_IDENT, "a group of no ranks and MPI_GROUP_EMPTY: %d", result);
	MPI_Group_size(MPI_GROUP_EMPTY, &size);
	MPI_Group_rank(MPI_GROUP_EMPTY, &rank);
	CHECK(size == 0 && rank == MPI_UNDEFINED, "MPI_GROUP_EMPTY: rank %d of %d", rank, size);
	MPI_Group_excl(all, 0, ranks, &copy);
	MPI_Group_compare(all, copy, &result);
	CHECK(result == MPI_IDENT, "all but none and all: %d", result);

	MPI_Group wrong = MPI_GROUP_NULL;
	int bad[2] = {0, n}, twice[2] = {0, 0}, negative[1] = {-1};
	CHECK_CLASS(MPI_Group_incl(all, 2, bad, &wrong), MPI_ERR_RANK);
	if (strcmp(check_arg, "duplicates") == 0)
		CHECK_CLASS(MPI_Group_incl(all, 2, twice, &wrong), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Group_excl(all, 1, negative, &wrong), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Group_translate_ranks(all, 2, bad, odd, out), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Group_size(MPI_GROUP_NULL, &size), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Comm_group(MPI_COMM_NULL, &wrong), MPI_ERR_COMM);
	CHECK(wrong == MPI_GROUP_NULL, "a refused call wrote its output");

	MPI_Group_free(&all);
	CHECK(all == MPI_GROUP_NULL, "a freed group is not null");
	MPI_Group_free(&reversed);
	if (odds > 0)
		MPI_Group_free(&odd);
	MPI_Group_free(&even);
	MPI_Group_free(&copy);
	return check_end();
}
