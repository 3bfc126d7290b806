/* Proves: one operation on a dynamic window may access several attached regions. Covers a struct of absolute
 *   addresses, a vector whose blocks are attached one by one, and an array in two adjacent regions. If one part is
 *   not attached, the call is MPI_ERR_RMA_RANGE and changes nothing. MPI-5.0 12.2.4
 * np: 1 2 4
 * nodes: 2
 * args: malloc alloc_mem both
 * ref: none (MPICH and Open MPI do not check what is attached)
 * timeout: 60
 */
#include "../check.h"

enum { PIECES = 5, WORDS = 6 };

static long *piece[PIECES];

static long *memory(int i, const char *kind) {
	size_t bytes = WORDS * sizeof(long);
	long *p;
	if (strcmp(kind, "malloc") == 0 || (strcmp(kind, "both") == 0 && i % 2))
		return calloc(1, bytes);
	MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &p);
	return memset(p, 0, bytes);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	const char *kind = argc > 1 ? argv[1] : "both";
	int me = check_rank, n = check_size, target = (me + 1) % n, from = (me + n - 1) % n;
	MPI_Win win;
	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Aint mine[PIECES], at[PIECES];
	for (int i = 0; i < PIECES; i++) {
		piece[i] = memory(i, kind);
		MPI_Get_address(piece[i], &mine[i]);
		if (i < PIECES - 1)
			MPI_Win_attach(win, piece[i], WORDS * sizeof(long));
	}
	MPI_Sendrecv(mine, PIECES, MPI_AINT, from, 0, at, PIECES, MPI_AINT, target, 0, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);

	/* Create types with the second and third word of each region, the last region first. `too_far` includes the
	 * region that is not attached; `apart` does not. */
	int lengths[PIECES];
	MPI_Aint places[PIECES];
	MPI_Datatype apart, too_far;
	for (int i = 0; i < PIECES; i++) {
		lengths[i] = 2;
		places[i] = at[PIECES - 1 - i] + (MPI_Aint)sizeof(long);
	}
	MPI_Type_create_hindexed(PIECES - 1, lengths, places + 1, MPI_LONG, &apart);
	MPI_Type_create_hindexed(PIECES, lengths, places, MPI_LONG, &too_far);
	MPI_Type_commit(&apart);
	MPI_Type_commit(&too_far);

	enum { ALL = 2 * (PIECES - 1) };
	long out[ALL + 2], got[ALL + 2], before[ALL + 2];
	for (int i = 0; i < ALL + 2; i++)
		out[i] = 100 * me + i;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	CHECK_OK(MPI_Put(out, ALL, MPI_LONG, target, 0, 1, apart, win));
	CHECK_OK(MPI_Win_flush(target, win));
	CHECK_OK(MPI_Accumulate(out, ALL, MPI_LONG, target, 0, 1, apart, MPI_SUM, win));
	CHECK_OK(MPI_Win_flush(target, win));
	CHECK_OK(MPI_Get_accumulate(out, ALL, MPI_LONG, before, ALL, MPI_LONG, target, 0, 1, apart, MPI_SUM, win));
	CHECK_OK(MPI_Win_flush(target, win));
	CHECK_OK(MPI_Get(got, ALL, MPI_LONG, target, 0, 1, apart, win));
	CHECK_OK(MPI_Win_flush(target, win));
	for (int i = 0; i < ALL; i++) {
		CHECK(before[i] == 2 * out[i], "before[%d] is %ld, not %ld", i, before[i], 2 * out[i]);
		CHECK(got[i] == 3 * out[i], "got[%d] is %ld, not %ld", i, got[i], 3 * out[i]);
	}
	/* refused: the type includes the region that is not attached */
	CHECK_CLASS(MPI_Put(out, ALL + 2, MPI_LONG, target, 0, 1, too_far, win), MPI_ERR_RMA_RANGE);
	CHECK_CLASS(MPI_Get(got, ALL + 2, MPI_LONG, target, 0, 1, too_far, win), MPI_ERR_RMA_RANGE);
	CHECK_CLASS(MPI_Accumulate(out, ALL + 2, MPI_LONG, target, 0, 1, too_far, MPI_SUM, win), MPI_ERR_RMA_RANGE);
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < PIECES - 1; i++)
		for (int j = 0; j < WORDS; j++) {
			long want = j == 1 || j == 2 ? 3 * (100 * from + 2 * (PIECES - 2 - i) + j - 1) : 0;
			CHECK(piece[i][j] == want, "piece %d, word %d is %ld, not %ld", i, j, piece[i][j], want);
		}
	for (int j = 0; j < WORDS; j++)
		CHECK(piece[PIECES - 1][j] == 0, "word %d, which is not attached, is %ld", j, piece[PIECES - 1][j]);

	/* An array in two adjacent regions, which every operation crosses. */
	char *array = (char *)piece[PIECES - 1];
	MPI_Win_attach(win, array, 20);
	MPI_Win_attach(win, array + 20, WORDS * sizeof(long) - 20);
	int ints[12], old[12];
	for (int i = 0; i < 12; i++)
		ints[i] = 1000 * me + i;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	CHECK_OK(MPI_Put(ints, 12, MPI_INT, target, at[PIECES - 1], 12, MPI_INT, win));
	CHECK_OK(MPI_Win_flush(target, win));
	CHECK_OK(MPI_Get_accumulate(ints, 12, MPI_INT, old, 12, MPI_INT, target, at[PIECES - 1], 12, MPI_INT, MPI_SUM,
				    win));
	CHECK_OK(MPI_Win_flush(target, win));
	for (int i = 0; i < 12; i++)
		CHECK(old[i] == ints[i], "old[%d] is %d, not %d", i, old[i], ints[i]);
	/* refused: the element of eight bytes lies in both regions */
	CHECK_CLASS(MPI_Accumulate(out, 1, MPI_LONG, target, at[PIECES - 1] + 16, 1, MPI_LONG, MPI_SUM, win),
		    MPI_ERR_RMA_RANGE);
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < 12; i++)
		CHECK(((int *)array)[i] == 2 * (1000 * from + i), "array[%d] is %d, not %d", i, ((int *)array)[i],
		      2 * (1000 * from + i));

	MPI_Win_detach(win, array);
	MPI_Win_detach(win, array + 20);
	for (int i = 0; i < PIECES - 1; i++)
		MPI_Win_detach(win, piece[i]);
	MPI_Type_free(&apart);
	MPI_Type_free(&too_far);
	MPI_Win_free(&win);
	return check_end();
}
