/* Proves: MPIX_Gompirma_win_count counts operations that do not take the direct path, by kind and path, with their
 *   bytes. It counts each operation once, also request-based operations and those with derived datatypes. It does not
 *   count refused operations, direct operations, or operations made after the program ended the counting.
 * np: 2
 * ref: none (of gompirma only)
 * again: GOMPIRMA_NO_CMA=1
 * nodes: 2
 * timeout: 20
 */
#include "../check.h"

#include "mpix_gompirma.h"

enum { INTS = 40000 };

static struct MPIX_Gompirma_count counts[MPIX_GOMPIRMA_KINDS][MPIX_GOMPIRMA_WAYS];
static int data[INTS], result[INTS];

/* Checks the counts since the last check. Operations of `kind` must have `calls` and `bytes` in total, and only on the
 * paths in the bit mask `ways`. Other kinds must have no counts. */
static void counted(int line, int kind, unsigned ways, uint64_t calls, uint64_t bytes) {
	struct MPIX_Gompirma_count sum = {0, 0};
	for (int k = 0; k < MPIX_GOMPIRMA_KINDS; k++)
		for (int w = 0; w < MPIX_GOMPIRMA_WAYS; w++) {
			CHECK(counts[k][w].calls == 0 || (k == kind && (ways >> w & 1)), "line %d: kind %d took way %d",
			      line, k, w);
			sum.calls += counts[k][w].calls;
			sum.bytes += counts[k][w].bytes;
			counts[k][w] = (struct MPIX_Gompirma_count){0, 0};
		}
	CHECK(sum.calls == calls && sum.bytes == bytes, "line %d: %llu calls, %llu bytes", line,
	      (unsigned long long)sum.calls, (unsigned long long)sum.bytes);
}
#define COUNTED(kind, ways, calls, bytes) counted(__LINE__, MPIX_GOMPIRMA_##kind, ways, calls, bytes)

static void operate(MPI_Win win, int target, unsigned ways) {
	const unsigned nothing = 1u << MPIX_GOMPIRMA_NOTHING;
	const uint64_t counted_here = (ways & 1) == 0; /* true if the path is not direct */
	MPI_Datatype some;
	MPI_Request request;
	MPI_Type_vector(10, 1, 3, MPI_INT, &some);
	MPI_Type_commit(&some);
	CHECK_OK(MPI_Put(data, 1, MPI_INT, target, 3, 1, MPI_INT, win));
	COUNTED(PUT, ways, counted_here, 4 * counted_here);
	CHECK_OK(MPI_Put(data, INTS, MPI_INT, target, 0, INTS, MPI_INT, win));
	COUNTED(PUT, ways, counted_here, 4 * INTS * counted_here);
	CHECK_OK(MPI_Put(data, 10, MPI_INT, target, 0, 1, some, win));
	COUNTED(PUT, ways, counted_here, 40 * counted_here);
	CHECK_OK(MPI_Rput(data, 2, MPI_INT, target, 0, 2, MPI_INT, win, &request));
	CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	COUNTED(PUT, ways, counted_here, 8 * counted_here);
	CHECK_OK(MPI_Get(result, 5, MPI_INT, target, 0, 5, MPI_INT, win));
	COUNTED(GET, ways, counted_here, 20 * counted_here);
	CHECK_OK(MPI_Rget(result, INTS, MPI_INT, target, 0, INTS, MPI_INT, win, &request));
	CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	COUNTED(GET, ways, counted_here, 4 * INTS * counted_here);
	CHECK_OK(MPI_Accumulate(data, 3, MPI_INT, target, 0, 3, MPI_INT, MPI_SUM, win));
	COUNTED(ACCUMULATE, ways, counted_here, 12 * counted_here);
	CHECK_OK(MPI_Get_accumulate(data, 3, MPI_INT, result, 3, MPI_INT, target, 0, 3, MPI_INT, MPI_SUM, win));
	COUNTED(GET_ACCUMULATE, ways, counted_here, 12 * counted_here);
	CHECK_OK(MPI_Fetch_and_op(data, result, MPI_INT, target, 0, MPI_SUM, win));
	COUNTED(FETCH_AND_OP, ways, counted_here, 4 * counted_here);
	CHECK_OK(MPI_Compare_and_swap(data, data + 1, result, MPI_INT, target, 0, win));
	COUNTED(COMPARE_AND_SWAP, ways, counted_here, 4 * counted_here);
	CHECK_OK(MPI_Put(data, 0, MPI_INT, target, 0, 0, MPI_INT, win));
	COUNTED(PUT, nothing, 1, 0);
	CHECK_OK(MPI_Accumulate(data, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, win));
	counts[MPIX_GOMPIRMA_ACCUMULATE][MPIX_GOMPIRMA_NOTHING].bytes = 0;
	COUNTED(ACCUMULATE, nothing, 1, 0);
	CHECK_CLASS(MPI_Put(data, 1, MPI_INT, target, INTS, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
	COUNTED(PUT, 0, 0, 0);
	MPI_Type_free(&some);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int rank;
	MPI_Win win;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	int *memory = malloc(INTS * sizeof *memory);
	for (int allocated = 0; allocated < 2; allocated++) {
		if (allocated)
			MPI_Win_allocate(INTS * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
					 &win);
		else
			MPI_Win_create(memory, INTS * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD,
				       &win);
		MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
		struct MPIX_Gompirma_layout there;
		CHECK_OK(MPIX_Gompirma_win_layout(win, 1 - rank, &there));
		CHECK_OK(MPIX_Gompirma_win_count(win, counts));
		CHECK_OK(MPI_Win_lock_all(0, win));
		operate(win, rank, 1u << MPIX_GOMPIRMA_DIRECT);
		operate(win, 1 - rank, there.ways);
		CHECK_OK(MPIX_Gompirma_win_count(win, NULL));
		CHECK_OK(MPI_Put(data, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win));
		COUNTED(PUT, 0, 0, 0);
		CHECK_OK(MPI_Win_unlock_all(win));
		MPI_Win_free(&win);
		if (!allocated)
			free(memory);
	}
	CHECK_CLASS(MPIX_Gompirma_win_count(MPI_WIN_NULL, counts), MPI_ERR_WIN);
	return check_end();
}
