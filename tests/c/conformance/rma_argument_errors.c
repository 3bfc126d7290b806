/* Proves: every RMA and synchronization call refuses wrong ranks, counts, types, operations, lock types, assertions and
 *   handles. The error has the standard's class (with MPI_ERRORS_RETURN), and nothing changes. Tests every window kind.
 *   MPI-5.0 12.6.2, 12.3.4
 * np: 1 2
 * args: rank count type op handle synchronization
 * ref: mpich
 * ref-wrong: op synchronization (MPICH computes nonsense or aborts for a wrong operation, and gives MPI_ERR_ARG)
 * timeout: 60
 */
#include "../windows.h"

#define I MPI_INT
#define D MPI_DOUBLE

static int value[2] = {7, 7}, result[2] = {-1, -1};
static MPI_Request r = MPI_REQUEST_NULL;

static void wrong_rank(struct window *w) {
	int ranks[] = {w->n, w->n + 1000, -5, -100, 1 << 30};
	for (size_t k = 0; k < sizeof ranks / sizeof *ranks; k++) {
		int t = ranks[k];
		CHECK_CLASS(MPI_Put(value, 1, I, t, 0, 1, I, w->win), MPI_ERR_RANK);
		CHECK_CLASS(MPI_Get(result, 1, I, t, 0, 1, I, w->win), MPI_ERR_RANK);
		CHECK_CLASS(MPI_Accumulate(value, 1, I, t, 0, 1, I, MPI_SUM, w->win), MPI_ERR_RANK);
		CHECK_CLASS(MPI_Get_accumulate(value, 1, I, result, 1, I, t, 0, 1, I, MPI_SUM, w->win), MPI_ERR_RANK);
		CHECK_CLASS(MPI_Fetch_and_op(value, result, I, t, 0, MPI_SUM, w->win), MPI_ERR_RANK);
		CHECK_CLASS(MPI_Compare_and_swap(value, value, result, I, t, 0, w->win), MPI_ERR_RANK);
		CHECK_CLASS(MPI_Rput(value, 1, I, t, 0, 1, I, w->win, &r), MPI_ERR_RANK);
		CHECK_CLASS(MPI_Rget(result, 1, I, t, 0, 1, I, w->win, &r), MPI_ERR_RANK);
		CHECK_CLASS(MPI_Raccumulate(value, 1, I, t, 0, 1, I, MPI_SUM, w->win, &r), MPI_ERR_RANK);
		CHECK_CLASS(MPI_Rget_accumulate(value, 1, I, result, 1, I, t, 0, 1, I, MPI_SUM, w->win, &r),
			    MPI_ERR_RANK);
		CHECK_CLASS(MPI_Win_flush(t, w->win), MPI_ERR_RANK);
		CHECK_CLASS(MPI_Win_flush_local(t, w->win), MPI_ERR_RANK);
	}
}

static void wrong_count(struct window *w) {
	CHECK_CLASS(MPI_Put(value, -1, I, 0, 0, 1, I, w->win), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Put(value, 1, I, 0, 0, -1, I, w->win), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Get(result, -1, I, 0, 0, 1, I, w->win), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Get(result, 1, I, 0, 0, -7, I, w->win), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Accumulate(value, -1, I, 0, 0, 1, I, MPI_SUM, w->win), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Accumulate(value, 1, I, 0, 0, -1, I, MPI_SUM, w->win), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Get_accumulate(value, -1, I, result, 1, I, 0, 0, 1, I, MPI_SUM, w->win), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Get_accumulate(value, 1, I, result, -1, I, 0, 0, 1, I, MPI_SUM, w->win), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Get_accumulate(value, 1, I, result, 1, I, 0, 0, -1, I, MPI_SUM, w->win), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Rput(value, -1, I, 0, 0, 1, I, w->win, &r), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Rget(result, -1, I, 0, 0, 1, I, w->win, &r), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Raccumulate(value, -1, I, 0, 0, 1, I, MPI_SUM, w->win, &r), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Rget_accumulate(value, 1, I, result, -1, I, 0, 0, 1, I, MPI_SUM, w->win, &r), MPI_ERR_COUNT);
}

static void wrong_type(struct window *w) {
	MPI_Datatype N = MPI_DATATYPE_NULL, loose;
	CHECK_CLASS(MPI_Put(value, 1, N, 0, 0, 1, I, w->win), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Put(value, 1, I, 0, 0, 1, N, w->win), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Get(result, 1, N, 0, 0, 1, I, w->win), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Accumulate(value, 1, N, 0, 0, 1, I, MPI_SUM, w->win), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Accumulate(value, 1, I, 0, 0, 1, N, MPI_SUM, w->win), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Get_accumulate(value, 1, I, result, 1, N, 0, 0, 1, I, MPI_SUM, w->win), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Fetch_and_op(value, result, N, 0, 0, MPI_SUM, w->win), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Compare_and_swap(value, value, result, N, 0, 0, w->win), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Compare_and_swap(value, value, result, D, 0, 0, w->win), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Compare_and_swap(value, value, result, MPI_FLOAT, 0, 0, w->win), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Compare_and_swap(value, value, result, MPI_2INT, 0, 0, w->win), MPI_ERR_TYPE);
	MPI_Type_contiguous(2, I, &loose); /* refused: neither committed nor predefined */
	CHECK_CLASS(MPI_Put(value, 1, loose, 0, 0, 1, loose, w->win), MPI_ERR_TYPE);
	MPI_Type_commit(&loose);
	CHECK_CLASS(MPI_Fetch_and_op(value, result, loose, 0, 0, MPI_SUM, w->win), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Compare_and_swap(value, value, result, loose, 0, 0, w->win), MPI_ERR_TYPE);
	MPI_Type_free(&loose);
}

static void wrong_op(struct window *w) {
	CHECK_CLASS(MPI_Accumulate(value, 1, I, 0, 0, 1, I, MPI_OP_NULL, w->win), MPI_ERR_OP);
	CHECK_CLASS(MPI_Accumulate(value, 1, I, 0, 0, 1, I, MPI_NO_OP, w->win), MPI_ERR_OP);
	CHECK_CLASS(MPI_Raccumulate(value, 1, I, 0, 0, 1, I, MPI_NO_OP, w->win, &r), MPI_ERR_OP);
	CHECK_CLASS(MPI_Get_accumulate(value, 1, I, result, 1, I, 0, 0, 1, I, MPI_OP_NULL, w->win), MPI_ERR_OP);
	CHECK_CLASS(MPI_Fetch_and_op(value, result, I, 0, 0, MPI_OP_NULL, w->win), MPI_ERR_OP);
	CHECK_CLASS(MPI_Accumulate(value, 1, MPI_FLOAT, 0, 0, 1, MPI_FLOAT, MPI_BAND, w->win), MPI_ERR_OP);
	CHECK_CLASS(MPI_Accumulate(value, 1, MPI_FLOAT, 0, 0, 1, MPI_FLOAT, MPI_LAND, w->win), MPI_ERR_OP);
	CHECK_CLASS(MPI_Accumulate(value, 1, MPI_WCHAR, 0, 0, 1, MPI_WCHAR, MPI_SUM, w->win), MPI_ERR_OP);
	CHECK_CLASS(MPI_Accumulate(value, 1, MPI_2INT, 0, 0, 1, MPI_2INT, MPI_SUM, w->win), MPI_ERR_OP);
	CHECK_CLASS(MPI_Accumulate(value, 1, I, 0, 0, 1, I, MPI_MINLOC, w->win), MPI_ERR_OP);
	CHECK_CLASS(MPI_Get_accumulate(value, 1, MPI_C_FLOAT_COMPLEX, result, 1, MPI_C_FLOAT_COMPLEX, 0, 0, 1,
				       MPI_C_FLOAT_COMPLEX, MPI_MAX, w->win),
		    MPI_ERR_OP);
	CHECK_CLASS(MPI_Fetch_and_op(value, result, MPI_FLOAT, 0, 0, MPI_BXOR, w->win), MPI_ERR_OP);
	CHECK_CLASS(MPI_Fetch_and_op(value, result, MPI_C_BOOL, 0, 0, MPI_MAX, w->win), MPI_ERR_OP);
}

static void handle_error(struct window *w) {
	MPI_Win none = MPI_WIN_NULL;
	int flag;
	void *attribute;
	(void)w;
	CHECK_CLASS(MPI_Put(value, 1, I, 0, 0, 1, I, none), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Get(result, 1, I, 0, 0, 1, I, none), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Accumulate(value, 1, I, 0, 0, 1, I, MPI_SUM, none), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Get_accumulate(value, 1, I, result, 1, I, 0, 0, 1, I, MPI_SUM, none), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Fetch_and_op(value, result, I, 0, 0, MPI_SUM, none), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Compare_and_swap(value, value, result, I, 0, 0, none), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Rput(value, 1, I, 0, 0, 1, I, none, &r), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_fence(0, none), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, none), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_unlock(0, none), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_lock_all(0, none), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_unlock_all(none), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_post(MPI_GROUP_EMPTY, 0, none), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_start(MPI_GROUP_EMPTY, 0, none), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_complete(none), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_wait(none), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_test(none, &flag), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_flush(0, none), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_flush_all(none), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_sync(none), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_get_attr(none, MPI_WIN_SIZE, &attribute, &flag), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_free(&none), MPI_ERR_WIN);
}

/* Tests wrong synchronization calls. Must run outside of any epoch. */
static void wrong_synchronization(struct window *w) {
	int nonsense = 1 << 28;
	CHECK_CLASS(MPI_Win_lock(12345, 0, 0, w->win), MPI_ERR_LOCKTYPE);
	CHECK_CLASS(MPI_Win_lock(0, 0, 0, w->win), MPI_ERR_LOCKTYPE);
	CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, w->n, 0, w->win), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, -9, 0, w->win), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Win_unlock(w->n, w->win), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, nonsense, w->win), MPI_ERR_ASSERT);
	CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOSUCCEED, w->win), MPI_ERR_ASSERT);
	CHECK_CLASS(MPI_Win_lock_all(nonsense, w->win), MPI_ERR_ASSERT);
	CHECK_CLASS(MPI_Win_fence(nonsense, w->win), MPI_ERR_ASSERT);
	CHECK_CLASS(MPI_Win_fence(MPI_MODE_NOCHECK, w->win), MPI_ERR_ASSERT);
	CHECK_CLASS(MPI_Win_post(MPI_GROUP_EMPTY, nonsense, w->win), MPI_ERR_ASSERT);
	CHECK_CLASS(MPI_Win_start(MPI_GROUP_EMPTY, MPI_MODE_NOPUT, w->win), MPI_ERR_ASSERT);
	CHECK_CLASS(MPI_Win_post(MPI_GROUP_NULL, 0, w->win), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Win_start(MPI_GROUP_NULL, 0, w->win), MPI_ERR_GROUP);
}

static void body(struct window *w) {
	static const struct {
		const char *name;
		void (*run)(struct window *w);
		int epoch;
	} runs[] = {{"rank", wrong_rank, 1},     {"count", wrong_count, 1},
		    {"type", wrong_type, 1},     {"op", wrong_op, 1},
		    {"handle", handle_error, 1}, {"synchronization", wrong_synchronization, 0}};
	int *mem = w->mem;
	mem[0] = mem[1] = 4242;
	MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
	MPI_Barrier(w->comm);
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
		if (strcmp(check_arg, runs[i].name) != 0)
			continue;
		if (runs[i].epoch)
			MPI_Win_lock_all(0, w->win);
		runs[i].run(w);
		if (runs[i].epoch)
			MPI_Win_unlock_all(w->win);
	}
	MPI_Barrier(w->comm);
	CHECK(mem[0] == 4242 && mem[1] == 4242, "%s window: a refused operation wrote %d, %d", w->name, mem[0], mem[1]);
	CHECK(result[0] == -1 && result[1] == -1, "%s window: a refused operation fetched %d, %d", w->name, result[0],
	      result[1]);
	CHECK(r == MPI_REQUEST_NULL, "%s window: a refused operation made a request", w->name);
}

int main(int argc, char **argv) {
	check_begin_return_errors(&argc, &argv);
	windows_each(64, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
