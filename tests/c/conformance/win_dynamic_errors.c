/* Proves: dynamic windows refuse to attach memory that overlaps an attached region (MPI_ERR_RMA_ATTACH), and to
 *   detach memory that is not attached (MPI_ERR_BASE). Attach and detach on windows of another flavor are
 *   MPI_ERR_RMA_FLAVOR; a negative size is MPI_ERR_SIZE. These accesses are MPI_ERR_RMA_RANGE and change nothing:
 *   to memory that is not attached or was detached; to a range that begins or ends outside of the attached memory;
 *   an accumulate of an element that lies in two regions. Memory may be attached again, to two windows, with size
 *   0, and next to another region. Attaching is local. Covers malloc and MPI_Alloc_mem. MPI-5.0 12.2.4
 * np: 1 2 4
 * nodes: 2
 * ref: none (other libraries do not check where an access to a dynamic window goes)
 * timeout: 60
 */
#include "../check.h"

enum { BYTES = 4096 };

static void with(char *mem, const char *what) {
	MPI_Win win, second, fixed;
	MPI_Aint mine, *all = malloc(sizeof *all * (size_t)check_size);
	int n = check_size, right = (check_rank + 1) % n, left = (check_rank + n - 1) % n;
	void *base;
	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &second);
	MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &fixed);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Win_set_errhandler(fixed, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Win_attach(fixed, mem, 64), MPI_ERR_RMA_FLAVOR);
	CHECK_CLASS(MPI_Win_detach(fixed, mem), MPI_ERR_RMA_FLAVOR);
	CHECK_CLASS(MPI_Win_attach(win, mem, -1), MPI_ERR_SIZE);
	CHECK_CLASS(MPI_Win_attach(win, NULL, 8), MPI_ERR_BASE);
	CHECK_CLASS(MPI_Win_attach(win, mem, INT64_MAX), MPI_ERR_SIZE);
	CHECK_CLASS(MPI_Win_detach(win, mem), MPI_ERR_BASE);

	/* attaches the bytes [1024, 2048) and the adjacent bytes [2048, 2560) */
	CHECK_OK(MPI_Win_attach(win, mem + 1024, 1024));
	static const int overlaps[][2] = {{1024, 1024}, {1024, 1},  {2047, 1},  {1000, 25},
					  {0, BYTES},   {1500, 10}, {2047, 100}};
	for (unsigned i = 0; i < sizeof overlaps / sizeof *overlaps; i++)
		CHECK_CLASS(MPI_Win_attach(win, mem + overlaps[i][0], overlaps[i][1]), MPI_ERR_RMA_ATTACH);
	CHECK_OK(MPI_Win_attach(win, mem + 2048, 512));
	CHECK_OK(MPI_Win_attach(second, mem + 1500, 10)); /* allowed: `second` is another window */
	CHECK_CLASS(MPI_Win_detach(win, mem + 1025), MPI_ERR_BASE);
	CHECK_OK(MPI_Win_attach(win, mem, 0)); /* regions of size 0 may be attached twice, and then need two detaches */
	CHECK_OK(MPI_Win_attach(win, mem, 0));
	CHECK_OK(MPI_Win_attach(win, NULL, 0));
	CHECK_OK(MPI_Win_detach(win, mem));
	CHECK_OK(MPI_Win_detach(win, mem));
	CHECK_CLASS(MPI_Win_detach(win, mem), MPI_ERR_BASE);
	CHECK_OK(MPI_Win_detach(win, NULL));

	memset(mem, 0x11, BYTES);
	MPI_Get_address(mem, &mine);
	MPI_Allgather(&mine, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
	char data[BYTES];
	memset(data, 0x22, sizeof data);
	static const int outside[][2] = {{0, 8},       {1023, 1},    {1020, 8}, {2560, 1}, {2559, 2},
					 {1024, 1537}, {1500, 1100}, {3000, 8}, {0, BYTES}};
	MPI_Win_lock_all(0, win);
	for (unsigned i = 0; i < sizeof outside / sizeof *outside; i++) {
		MPI_Aint at = MPI_Aint_add(all[right], outside[i][0]);
		int bytes = outside[i][1];
		CHECK_CLASS(MPI_Put(data, bytes, MPI_BYTE, right, at, bytes, MPI_BYTE, win), MPI_ERR_RMA_RANGE);
		CHECK_CLASS(MPI_Get(data, bytes, MPI_BYTE, right, at, bytes, MPI_BYTE, win), MPI_ERR_RMA_RANGE);
		CHECK_CLASS(MPI_Accumulate(data, bytes, MPI_BYTE, right, at, bytes, MPI_BYTE, MPI_REPLACE, win),
			    MPI_ERR_RMA_RANGE);
	}
	CHECK_CLASS(MPI_Accumulate(data, 1, MPI_INT64_T, right, MPI_Aint_add(all[right], 2044), 1, MPI_INT64_T, MPI_SUM,
				   win),
		    MPI_ERR_RMA_RANGE);
	CHECK_CLASS(MPI_Put(data, 1, MPI_BYTE, right, -1, 1, MPI_BYTE, win), MPI_ERR_RMA_RANGE);
	CHECK_OK(MPI_Put(data, 1024, MPI_BYTE, right, MPI_Aint_add(all[right], 1024), 1024, MPI_BYTE, win));
	CHECK_OK(MPI_Put(data, 512, MPI_BYTE, right, MPI_Aint_add(all[right], 2048), 512, MPI_BYTE, win));
	CHECK_OK(MPI_Win_flush(right, win));
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < BYTES; i++)
		if (mem[i] != (i >= 1024 && i < 2560 ? 0x22 : 0x11)) {
			CHECK(0, "%s: byte %d is %#x", what, i, mem[i]);
			break;
		}
	MPI_Barrier(MPI_COMM_WORLD);

	/* Detaches memory while other ranks hold locks. Later accesses to the detached memory are refused; accesses to
	 * memory that is still attached work. */
	CHECK_OK(MPI_Win_detach(win, mem + 1024));
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK_CLASS(MPI_Put(data, 8, MPI_BYTE, right, MPI_Aint_add(all[right], 1024), 8, MPI_BYTE, win),
		    MPI_ERR_RMA_RANGE);
	CHECK_OK(MPI_Put(data, 8, MPI_BYTE, right, MPI_Aint_add(all[right], 2048), 8, MPI_BYTE, win));
	CHECK_OK(MPI_Win_flush_all(win));
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK_OK(MPI_Win_attach(win, mem + 1000, 100)); /* attach again, smaller and at another address */
	MPI_Barrier(MPI_COMM_WORLD);
	int put = 77 + check_rank;
	CHECK_OK(MPI_Put(&put, 1, MPI_INT, right, MPI_Aint_add(all[right], 1024), 1, MPI_INT, win));
	CHECK_CLASS(MPI_Put(data, 8, MPI_BYTE, right, MPI_Aint_add(all[right], 1096), 8, MPI_BYTE, win),
		    MPI_ERR_RMA_RANGE);
	CHECK_OK(MPI_Win_unlock_all(win));
	MPI_Barrier(MPI_COMM_WORLD);
	int got;
	memcpy(&got, mem + 1024, sizeof got);
	CHECK(got == 77 + left, "%s: attached again: %d", what, got);
	MPI_Win_free(&win);
	MPI_Win_free(&second);
	MPI_Win_free(&fixed);
	free(all);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	char *mem = malloc(BYTES), *allocated;
	MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &allocated);
	with(mem, "malloc");
	with(allocated, "MPI_Alloc_mem");
	free(mem);
	MPI_Free_mem(allocated);
	return check_end();
}
