/* Proves: every operation refuses at the origin an access outside of the target's window, with MPI_ERR_RMA_RANGE, in
 *   every kind of epoch. It writes nothing in the window, around the window, or in the origin's buffers. Covers one
 *   element too far, an access that begins inside, negative displacements, and a displacement that overflows 64 bits in
 *   bytes. Tests every window kind. MPI-5.0 12.6.2; gompirma promises to detect it always
 * np: 1 2 5
 * args: fence pscw lock lock_all flush
 * ref: none (MPICH and Open MPI do not check bounds: they overwrite memory or crash)
 * timeout: 60
 */
#include "../epochs.h"

enum { COUNT = 10, UNIT = 8 };

static int sync_mode;

static void refused(struct window *w, int t, MPI_Aint at, int count) {
	int64_t in[2 * COUNT], out[2 * COUNT];
	MPI_Request r = MPI_REQUEST_NULL;
	for (int i = 0; i < 2 * COUNT; i++)
		in[i] = 999, out[i] = -1;
	MPI_Datatype L = MPI_INT64_T;
	CHECK_CLASS(MPI_Put(in, count, L, t, at, count, L, w->win), MPI_ERR_RMA_RANGE);
	CHECK_CLASS(MPI_Get(out, count, L, t, at, count, L, w->win), MPI_ERR_RMA_RANGE);
	CHECK_CLASS(MPI_Accumulate(in, count, L, t, at, count, L, MPI_SUM, w->win), MPI_ERR_RMA_RANGE);
	CHECK_CLASS(MPI_Get_accumulate(in, count, L, out, count, L, t, at, count, L, MPI_SUM, w->win),
		    MPI_ERR_RMA_RANGE);
	CHECK_CLASS(MPI_Get_accumulate(NULL, 0, L, out, count, L, t, at, count, L, MPI_NO_OP, w->win),
		    MPI_ERR_RMA_RANGE);
	if (count == 1) {
		CHECK_CLASS(MPI_Fetch_and_op(in, out, L, t, at, MPI_SUM, w->win), MPI_ERR_RMA_RANGE);
		CHECK_CLASS(MPI_Compare_and_swap(in, out, out + 1, L, t, at, w->win), MPI_ERR_RMA_RANGE);
	}
	if (sync_mode != SYNC_FENCE && sync_mode != SYNC_PSCW) {
		CHECK_CLASS(MPI_Rput(in, count, L, t, at, count, L, w->win, &r), MPI_ERR_RMA_RANGE);
		CHECK_CLASS(MPI_Rget(out, count, L, t, at, count, L, w->win, &r), MPI_ERR_RMA_RANGE);
		CHECK_CLASS(MPI_Raccumulate(in, count, L, t, at, count, L, MPI_SUM, w->win, &r), MPI_ERR_RMA_RANGE);
		CHECK_CLASS(MPI_Rget_accumulate(in, count, L, out, count, L, t, at, count, L, MPI_SUM, w->win, &r),
			    MPI_ERR_RMA_RANGE);
		CHECK(r == MPI_REQUEST_NULL, "%s window: a refused call made a request", w->name);
	}
	for (int i = 0; i < 2 * COUNT; i++)
		CHECK(out[i] == -1, "%s window, displacement %lld: out[%d] is %lld", w->name, (long long)at, i,
		      (long long)out[i]);
}

static void body(struct window *w) {
	int64_t *mem = w->mem, value = 5 + w->rank;
	int right = (w->rank + 1) % w->n, left = (w->rank + w->n - 1) % w->n;
	MPI_Aint high = INT64_MAX / UNIT;
	MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
	for (int i = 0; i < COUNT; i++)
		mem[i] = i;
	epoch_open(sync_mode, w);
	for (int k = 0; k < 2; k++) {
		int t = k ? w->rank : right;
		epoch_target(sync_mode, w, t);
		refused(w, t, COUNT, 1);
		refused(w, t, COUNT - 1, 2);
		refused(w, t, 0, COUNT + 1);
		refused(w, t, 1000, 1);
		refused(w, t, -1, 1);
		refused(w, t, -1, 2);
		refused(w, t, -COUNT, 1);
		refused(w, t, high, 1);               /* displacement times unit is just below 2^63 */
		refused(w, t, high + 1, 1);           /* the product is 2^63 */
		refused(w, t, 2 * (high + 1), 1);     /* the product is 2^64, which is 0 in 64 bits */
		refused(w, t, 2 * (high + 1) + 1, 1); /* the product wraps to element 1 */
		refused(w, t, INT64_MAX, 1);
		refused(w, t, INT64_MIN, 1);
		if (k == 0) /* a correct access between refused accesses still works: element 9 */
			CHECK_OK(MPI_Put(&value, 1, MPI_INT64_T, t, COUNT - 1, 1, MPI_INT64_T, w->win));
		epoch_target_done(sync_mode, w, t);
	}
	epoch_close(sync_mode, w);
	for (int i = 0; i < COUNT - 1; i++)
		CHECK(mem[i] == i, "%s window: element %d is %lld", w->name, i, (long long)mem[i]);
	CHECK(mem[COUNT - 1] == 5 + left, "%s window: the right put left %lld", w->name, (long long)mem[COUNT - 1]);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	sync_mode = epoch_named(check_arg);
	windows_each(COUNT * UNIT, UNIT, MPI_COMM_WORLD, body);
	return check_end();
}
