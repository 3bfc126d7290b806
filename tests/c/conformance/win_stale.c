/* Proves: every call refuses a copy of a freed window's handle with MPI_ERR_WIN, also when new windows exist. The
 *   new windows do not change. MPI-5.0 12.2.5; gompirma promises this for stale handles
 * np: 1 2
 * ref: none (MPICH reuses the handle of a freed window for the next one)
 * timeout: 60
 */
#include "../check.h"

int main(int argc, char **argv) {
	check_begin_return_errors(&argc, &argv);
	MPI_Win stale[10], fresh;
	int *mem, *gone, value = 5, result = -1, len, flag;
	char name[MPI_MAX_OBJECT_NAME];
	void *attribute;
	MPI_Group group;
	for (int i = 0; i < 10; i++) {
		MPI_Win win;
		MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &gone, &win);
		stale[i] = win;
		MPI_Win_free(&win);
	}
	MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &fresh);
	mem[0] = 42;
	MPI_Win_fence(0, fresh);
	for (int i = 0; i < 10; i++) {
		MPI_Win win = stale[i];
		CHECK(win != fresh, "the handle of freed window %d was given out again", i);
		CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_WIN);
		CHECK_CLASS(MPI_Get(&result, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_WIN);
		CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_WIN);
		CHECK_CLASS(MPI_Fetch_and_op(&value, &result, MPI_INT, 0, 0, MPI_SUM, win), MPI_ERR_WIN);
		CHECK_CLASS(MPI_Compare_and_swap(&value, &value, &result, MPI_INT, 0, 0, win), MPI_ERR_WIN);
		CHECK_CLASS(MPI_Win_fence(0, win), MPI_ERR_WIN);
		CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_WIN);
		CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_WIN);
		CHECK_CLASS(MPI_Win_flush_all(win), MPI_ERR_WIN);
		CHECK_CLASS(MPI_Win_get_name(win, name, &len), MPI_ERR_WIN);
		CHECK_CLASS(MPI_Win_get_group(win, &group), MPI_ERR_WIN);
		CHECK_CLASS(MPI_Win_get_attr(win, MPI_WIN_SIZE, &attribute, &flag), MPI_ERR_WIN);
		CHECK_CLASS(MPI_Win_free(&win), MPI_ERR_WIN);
	}
	MPI_Win_fence(0, fresh);
	CHECK(mem[0] == 42 && result == -1, "a stale handle wrote: %d, %d", mem[0], result);
	MPI_Win_free(&fresh);
	return check_end();
}
