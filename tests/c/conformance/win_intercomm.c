/* Proves: window creation on an intercommunicator is MPI_ERR_COMM on all members of both groups, in each creating call,
 *   and no member waits for another. Windows on communicators of each group, of a node and of one process work at the
 *   same time. A window's handle is the same number on all its members. MPI-5.0 12.2.1
 * np: 2 4 5
 * ref: none (MPICH 4.0 crashes in MPI_Win_create_dynamic; handles may differ)
 * timeout: 60
 */
#include "../check.h"

static void works(MPI_Comm comm, const char *what) {
	int rank, n, *mem;
	MPI_Win win;
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &n);
	CHECK_OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &mem, &win));
	int handle = MPI_Win_toint(win), least, most, put = 100 * n + rank;
	MPI_Allreduce(&handle, &least, 1, MPI_INT, MPI_MIN, comm);
	MPI_Allreduce(&handle, &most, 1, MPI_INT, MPI_MAX, comm);
	CHECK(least == most, "%s: handles from %#x to %#x", what, least, most);
	MPI_Win_fence(0, win);
	MPI_Put(&put, 1, MPI_INT, (rank + 1) % n, 0, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	CHECK(*mem == 100 * n + (rank + n - 1) % n, "%s: got %d", what, *mem);
	MPI_Win_free(&win);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm half, inter, node;
	int odd = check_rank % 2, mem[4];
	void *base;
	MPI_Win win = MPI_WIN_NULL;
	MPI_Comm_split(MPI_COMM_WORLD, odd, check_rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - odd, 5, &inter);
	MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
	for (int time = 0; time < 3; time++) {
		CHECK_CLASS(MPI_Win_create(mem, sizeof mem, 1, MPI_INFO_NULL, inter, &win), MPI_ERR_COMM);
		CHECK_CLASS(MPI_Win_allocate(64, 1, MPI_INFO_NULL, inter, &base, &win), MPI_ERR_COMM);
		CHECK_CLASS(MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, inter, &base, &win), MPI_ERR_COMM);
		CHECK_CLASS(MPI_Win_create_dynamic(MPI_INFO_NULL, inter, &win), MPI_ERR_COMM);
		CHECK(win == MPI_WIN_NULL, "a refused call wrote the handle");
		works(half, "half");
		works(MPI_COMM_WORLD, "world");
		works(MPI_COMM_SELF, "self");
	}
	MPI_Comm_split_type(half, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	works(node, "node");
	MPI_Comm_free(&node);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&half);
	return check_end();
}
