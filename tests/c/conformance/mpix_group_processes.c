/* Proves: MPIX_Gompirma_group_processes returns the ranks in MPI_COMM_WORLD of the members of a group. Members of a
 *   started job have numbers above all ranks. On one node the two jobs use the same numbers.
 * np: 1 3
 * ref: none (of gompirma only)
 * nodes: 2
 * timeout: 30
 */
#include "../check.h"

#include "mpix_gompirma.h"

enum { CHILDREN = 2, MAX = 3 };

/* Stores the numbers of the members of a communicator's local group, or of its remote group. */
static void numbers_of(MPI_Comm comm, int is_remote, int *numbers) {
	MPI_Group group;
	if (is_remote)
		CHECK_OK(MPI_Comm_remote_group(comm, &group));
	else
		CHECK_OK(MPI_Comm_group(comm, &group));
	CHECK_CLASS(MPIX_Gompirma_group_processes(group, numbers), MPI_SUCCESS);
	CHECK_OK(MPI_Group_free(&group));
}

int main(int argc, char **argv) {
	int rank, n, shared_n, other_n, own[MAX], others[MAX], theirs[MAX];
	MPI_Comm inter, shared;
	CHECK_OK(MPI_Init(&argc, &argv));
	CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
	CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &n));
	CHECK_OK(MPI_Comm_get_parent(&inter));
	int is_child = inter != MPI_COMM_NULL;
	if (!is_child)
		CHECK_OK(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
					MPI_ERRCODES_IGNORE));
	numbers_of(inter, 0, own);
	numbers_of(inter, 1, others);
	for (int i = 0; i < n && !is_child; i++)
		CHECK(own[i] == i, "rank %d has number %d", i, own[i]);
	for (int i = 0; i < CHILDREN && !is_child; i++)
		CHECK(others[i] >= n, "child %d has number %d", i, others[i]);
	/* if both jobs are on one node, they use the same numbers for the members of both */
	CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared));
	CHECK_OK(MPI_Comm_size(shared, &shared_n));
	CHECK_OK(MPI_Comm_free(&shared));
	CHECK_OK(MPI_Comm_remote_size(inter, &other_n));
	int on_one = shared_n == n, is_other_on_one = 0;
	if (rank == 0) {
		CHECK_OK(MPI_Sendrecv(&on_one, 1, MPI_INT, 0, 1, &is_other_on_one, 1, MPI_INT, 0, 1, inter,
				      MPI_STATUS_IGNORE));
		CHECK_OK(MPI_Sendrecv(others, other_n, MPI_INT, 0, 2, theirs, n, MPI_INT, 0, 2, inter,
				      MPI_STATUS_IGNORE));
	}
	for (int i = 0; i < n && on_one && is_other_on_one; i++)
		CHECK(own[i] == theirs[i], "member %d has the number %d in its job, and %d in the other", i, own[i],
		      theirs[i]);
	CHECK_CLASS(MPIX_Gompirma_group_processes(MPI_GROUP_NULL, own), MPI_ERR_GROUP);
	CHECK_CLASS(MPIX_Gompirma_group_processes(MPI_GROUP_EMPTY, NULL), MPI_SUCCESS);
	MPI_Group group;
	CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
	CHECK_CLASS(MPIX_Gompirma_group_processes(group, NULL), MPI_ERR_ARG);
	CHECK_OK(MPI_Group_free(&group));
	CHECK_OK(MPI_Comm_disconnect(&inter));
	return check_end();
}
