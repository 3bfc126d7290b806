/* Proves: window creation refuses a negative size (MPI_ERR_SIZE), a displacement unit that is not positive
 *   (MPI_ERR_DISP), and a null communicator (MPI_ERR_COMM). The handle does not change, and correct calls work
 *   afterwards. MPI-5.0 12.2, 12.6
 * np: 1 2
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

int main(int argc, char **argv) {
	check_begin_return_errors(&argc, &argv);
	MPI_Comm W = MPI_COMM_WORLD;
	MPI_Info I = MPI_INFO_NULL;
	MPI_Win win = MPI_WIN_NULL;
	int mem[16], *base = NULL;
	CHECK_CLASS(MPI_Win_create(mem, -1, 1, I, W, &win), MPI_ERR_SIZE);
	CHECK_CLASS(MPI_Win_create(mem, INT64_MIN, 1, I, W, &win), MPI_ERR_SIZE);
	CHECK_CLASS(MPI_Win_create(mem, 64, 0, I, W, &win), MPI_ERR_DISP);
	CHECK_CLASS(MPI_Win_create(mem, 64, -4, I, W, &win), MPI_ERR_DISP);
	CHECK_CLASS(MPI_Win_create(mem, 64, 1, I, MPI_COMM_NULL, &win), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Win_allocate(-1, 1, I, W, &base, &win), MPI_ERR_SIZE);
	CHECK_CLASS(MPI_Win_allocate(64, 0, I, W, &base, &win), MPI_ERR_DISP);
	CHECK_CLASS(MPI_Win_allocate(64, 1, I, MPI_COMM_NULL, &base, &win), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Win_allocate_shared(-1, 1, I, W, &base, &win), MPI_ERR_SIZE);
	CHECK_CLASS(MPI_Win_allocate_shared(64, -1, I, W, &base, &win), MPI_ERR_DISP);
	CHECK_CLASS(MPI_Win_allocate_shared(64, 1, I, MPI_COMM_NULL, &base, &win), MPI_ERR_COMM);
	CHECK(win == MPI_WIN_NULL && base == NULL, "a refused call wrote its outputs");
	MPI_Barrier(W);
	CHECK_OK(MPI_Win_create(mem, sizeof mem, 4, I, W, &win));
	CHECK_OK(MPI_Win_fence(0, win));
	CHECK_OK(MPI_Win_free(&win));
	CHECK_OK(MPI_Win_allocate(64, 4, I, W, &base, &win));
	CHECK_OK(MPI_Win_free(&win));
	return check_end();
}
