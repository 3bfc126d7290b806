/* Proves: when a dynamic window is freed, its attached regions, few or thousands, are not attached to later windows. An
 *   access to them is MPI_ERR_RMA_RANGE and changes nothing; a detach is MPI_ERR_BASE. The memory can be attached to
 *   later windows, several at a time, and can then be accessed. MPI-5.0 12.2.4
 * np: 1 2 4
 * nodes: 2
 * ref: none (other libraries do not check where an access to a dynamic window goes)
 * timeout: 60
 */
#include "../check.h"

enum { WINDOWS = 6, MANY = 5000, WORDS = 8 };

static long memory[WORDS], many[MANY];

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
	MPI_Aint mine, *all = malloc(sizeof *all * (size_t)check_size);
	MPI_Get_address(memory, &mine);
	MPI_Allgather(&mine, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
	for (int i = 0; i < WINDOWS; i++) {
		MPI_Win win, beside;
		long value = 100 * i + check_rank, got = -1;
		MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
		MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &beside);
		MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
		MPI_Win_set_errhandler(beside, MPI_ERRORS_RETURN);
		memset(memory, 0x11, sizeof memory);
		MPI_Win_lock_all(0, win);
		MPI_Win_lock_all(0, beside);
		MPI_Barrier(MPI_COMM_WORLD);
		CHECK_CLASS(MPI_Put(&value, 1, MPI_LONG, right, all[right], 1, MPI_LONG, win), MPI_ERR_RMA_RANGE);
		CHECK_CLASS(MPI_Get(&got, 1, MPI_LONG, right, all[right], 1, MPI_LONG, beside), MPI_ERR_RMA_RANGE);
		CHECK_CLASS(MPI_Win_detach(win, memory), MPI_ERR_BASE);
		CHECK_CLASS(MPI_Win_detach(win, NULL), MPI_ERR_BASE);
		MPI_Win_flush_all(win);
		MPI_Barrier(MPI_COMM_WORLD);
		CHECK(memory[0] == 0x1111111111111111 && got == -1, "window %d: %#lx, %ld", i, memory[0], got);

		CHECK_OK(MPI_Win_attach(win, memory, sizeof memory));
		CHECK_OK(MPI_Win_attach(win, NULL, 0));
		CHECK_OK(MPI_Win_attach(beside, memory, sizeof memory));
		if (i % 3 == 1) /* more regions than the window's table has entries at first */
			for (int k = 0; k < MANY; k++)
				CHECK_OK(MPI_Win_attach(win, &many[k], sizeof many[k]));
		MPI_Barrier(MPI_COMM_WORLD);
		CHECK_OK(MPI_Put(&value, 1, MPI_LONG, right, all[right], 1, MPI_LONG, win));
		MPI_Win_flush_all(win);
		MPI_Barrier(MPI_COMM_WORLD);
		CHECK(memory[0] == 100 * i + left, "window %d: %ld", i, memory[0]);
		CHECK_OK(MPI_Get(&got, 1, MPI_LONG, right, all[right], 1, MPI_LONG, beside));
		MPI_Win_flush_all(beside);
		CHECK(got == value, "window %d: got %ld, not %ld", i, got, value);
		MPI_Win_unlock_all(win);
		MPI_Win_unlock_all(beside);
		if (i % 2 == 0)
			MPI_Win_free(&beside);
		MPI_Win_free(&win);
		if (i % 2 != 0)
			MPI_Win_free(&beside);
	}
	free(all);
	return check_end();
}
