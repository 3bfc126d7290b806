/* Proves: puts and gets to memory that stays attached work while the target attaches and detaches other memory. The
 *   memory that stays attached is the region with the highest address, and a region between others. MPI-5.0 12.2.4
 * np: 2 4
 * args: allocated malloc
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 120
 */
#include "../check.h"

enum { REGIONS = 3001, BYTES = 64, MIDDLE = REGIONS / 2, LAST = REGIONS - 1, ROUNDS = 20000 };
static char attached[REGIONS];

int main(int argc, char **argv) {
	MPI_Win win;
	MPI_Request r;
	MPI_Aint at = 0;
	char *memory = NULL;
	long changes = 0;
	int done = 0;
	check_begin(&argc, &argv);
	CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	if (check_rank == 0) {
		if (strcmp(check_arg, "malloc") == 0)
			memory = malloc(REGIONS * BYTES);
		else
			CHECK_OK(MPI_Alloc_mem(REGIONS * BYTES, MPI_INFO_NULL, &memory));
		for (int i = 0; i < REGIONS; i += 2) {
			CHECK_OK(MPI_Win_attach(win, memory + i * BYTES, BYTES));
			attached[i] = 1;
		}
		MPI_Get_address(memory, &at);
	}
	MPI_Bcast(&at, 1, MPI_AINT, 0, MPI_COMM_WORLD);
	CHECK_OK(MPI_Win_lock_all(0, win));
	if (check_rank == 0) {
		unsigned seed = 1;
		CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, &r));
		for (; !done; changes++) {
			int i = (int)((seed = seed * 1103515245 + 12345) >> 8) % REGIONS;
			if (i == MIDDLE || i == LAST)
				continue;
			if (attached[i])
				CHECK_OK(MPI_Win_detach(win, memory + i * BYTES));
			else
				CHECK_OK(MPI_Win_attach(win, memory + i * BYTES, BYTES));
			attached[i] = !attached[i];
			if (changes % 8 == 0)
				MPI_Test(&r, &done, MPI_STATUS_IGNORE);
		}
	} else {
		MPI_Aint mine = MPI_Aint_add(at, (check_rank % 2 ? LAST : MIDDLE) * BYTES + 8 * check_rank);
		for (long i = 0; i < ROUNDS; i++) {
			long out = i * check_size + check_rank, in = -1;
			int rc = MPI_Put(&out, 1, MPI_LONG, 0, mine, 1, MPI_LONG, win);
			if (rc == MPI_SUCCESS)
				rc = MPI_Win_flush(0, win);
			if (rc == MPI_SUCCESS)
				rc = MPI_Get(&in, 1, MPI_LONG, 0, mine, 1, MPI_LONG, win);
			if (rc == MPI_SUCCESS)
				rc = MPI_Win_flush(0, win);
			CHECK(rc == MPI_SUCCESS && in == out, "round %ld: error code %d, %ld instead of %ld", i, rc, in,
			      out);
			if (rc != MPI_SUCCESS || in != out)
				break;
		}
		CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, &r));
		CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	}
	CHECK_OK(MPI_Win_unlock_all(win));
	MPI_Barrier(MPI_COMM_WORLD);
	if (check_rank == 0) {
		for (int i = 0; i < REGIONS; i++)
			if (attached[i])
				CHECK_OK(MPI_Win_detach(win, memory + i * BYTES));
		if (strcmp(check_arg, "malloc") == 0)
			free(memory);
		else
			MPI_Free_mem(memory);
	}
	CHECK_OK(MPI_Win_free(&win));
	return check_end();
}
