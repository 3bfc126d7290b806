/* Proves: if an error handler sets its code to MPI_SUCCESS, the refused call returns MPI_SUCCESS but does nothing. It
 *   writes no memory at the origin or at a target, begins and ends no epoch, and writes no request, position or other
 *   output. The standard says that a call returns the code that the handler leaves. Tests every window kind.
 *   MPI-5.0 9.3
 * np: 1 2 3
 * args: rma requests epochs groups pack messages objects
 * ref: mpich
 * ref-wrong: rma requests epochs groups pack objects (in some calls MPICH continues if the handler clears
 * the code, writes the request, and accepts wrong arguments)
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

#define W MPI_COMM_WORLD
#define I MPI_INT

static int calls, last;
static int value[64], result[64];

static void win_mends(MPI_Win *win, int *code, ...) {
	(void)win;
	last = check_class(*code);
	calls++;
	*code = MPI_SUCCESS;
}

static void comm_mends(MPI_Comm *comm, int *code, ...) {
	(void)comm;
	last = check_class(*code);
	calls++;
	*code = MPI_SUCCESS;
}

/* Checks that the call raised the error class `class` and returned the code that the handler stored. */
static void mended(int line, const char *call, int code, int class) {
	if (code != MPI_SUCCESS || calls != 1 || last != class)
		check_fail(__FILE__, line, "%s returned %d after %d calls of the handler, class %d, not %d", call, code,
			   calls, last, class);
	calls = 0;
	last = MPI_SUCCESS;
}
#define MENDED(call, class) (calls = 0, mended(__LINE__, #call, call, class))

static void unchanged(struct window *w) {
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
	for (int i = 0; i < 16; i++) {
		CHECK(((int *)w->mem)[i] == 1000 + i, "%s window: element %d is %d", w->name, i, ((int *)w->mem)[i]);
		CHECK(result[i] == -1, "%s window: result %d is %d", w->name, i, result[i]);
	}
	MPI_Barrier(w->comm);
	MPI_Win_lock_all(0, w->win);
}

/* Tests each RMA operation with a wrong value of every argument that it checks. */
static void rma(struct window *w) {
	MPI_Datatype zero = (MPI_Datatype)0, pair[2] = {I, MPI_FLOAT}, mixed;
	MPI_Aint d = window_at(w, 0, 0), far = window_at(w, 0, 1 << 20), places[2] = {0, 4};
	int ones[] = {1, 1};
	MPI_Type_create_struct(2, ones, places, pair, &mixed);
	MPI_Type_commit(&mixed);
	MPI_Win_lock_all(0, w->win);
	MENDED(MPI_Put(value, 1, I, w->n, d, 1, I, w->win), MPI_ERR_RANK);
	MENDED(MPI_Put(value, -1, I, 0, d, 1, I, w->win), MPI_ERR_COUNT);
	MENDED(MPI_Put(value, 1, I, 0, d, -1, I, w->win), MPI_ERR_COUNT);
	MENDED(MPI_Put(value, 1, zero, 0, d, 1, I, w->win), MPI_ERR_TYPE);
	MENDED(MPI_Put(value, 1, I, 0, d, 1, zero, w->win), MPI_ERR_TYPE);
	MENDED(MPI_Put(value, 2, I, 0, d, 1, I, w->win), MPI_ERR_TRUNCATE);
	MENDED(MPI_Put(value, 1, I, 0, far, 1, I, w->win), MPI_ERR_RMA_RANGE);
	MENDED(MPI_Put(value, 64, I, 0, d, 64, I, w->win), MPI_ERR_RMA_RANGE);
	MENDED(MPI_Put(NULL, 1, I, 0, d, 1, I, w->win), MPI_ERR_BUFFER);
	MENDED(MPI_Get(result, 1, I, w->n, d, 1, I, w->win), MPI_ERR_RANK);
	MENDED(MPI_Get(result, -1, I, 0, d, 1, I, w->win), MPI_ERR_COUNT);
	MENDED(MPI_Get(result, 1, zero, 0, d, 1, I, w->win), MPI_ERR_TYPE);
	MENDED(MPI_Get(result, 1, I, 0, d, 2, I, w->win), MPI_ERR_TRUNCATE);
	MENDED(MPI_Get(result, 1, I, 0, far, 1, I, w->win), MPI_ERR_RMA_RANGE);
	MENDED(MPI_Accumulate(value, 1, I, w->n, d, 1, I, MPI_SUM, w->win), MPI_ERR_RANK);
	MENDED(MPI_Accumulate(value, 1, I, 0, d, 1, I, MPI_NO_OP, w->win), MPI_ERR_OP);
	MENDED(MPI_Accumulate(value, 1, I, 0, d, 1, I, (MPI_Op)0, w->win), MPI_ERR_OP);
	MENDED(MPI_Accumulate(value, 1, I, 0, d, 1, I, MPI_MINLOC, w->win), MPI_ERR_OP);
	MENDED(MPI_Accumulate(value, 1, MPI_FLOAT, 0, d, 1, I, MPI_SUM, w->win), MPI_ERR_TYPE);
	MENDED(MPI_Accumulate(value, 1, mixed, 0, d, 1, mixed, MPI_SUM, w->win), MPI_ERR_TYPE);
	MENDED(MPI_Accumulate(value, 1, I, 0, d, 2, I, MPI_SUM, w->win), MPI_ERR_TRUNCATE);
	MENDED(MPI_Accumulate(value, 1, I, 0, far, 1, I, MPI_SUM, w->win), MPI_ERR_RMA_RANGE);
	MENDED(MPI_Get_accumulate(value, 1, I, result, 1, zero, 0, d, 1, I, MPI_SUM, w->win), MPI_ERR_TYPE);
	MENDED(MPI_Get_accumulate(value, 1, I, result, 2, I, 0, d, 1, I, MPI_SUM, w->win), MPI_ERR_TRUNCATE);
	MENDED(MPI_Get_accumulate(value, 1, I, result, 1, I, 0, far, 1, I, MPI_SUM, w->win), MPI_ERR_RMA_RANGE);
	MENDED(MPI_Fetch_and_op(value, result, mixed, 0, d, MPI_SUM, w->win), MPI_ERR_TYPE);
	MENDED(MPI_Fetch_and_op(value, result, MPI_FLOAT, 0, d, MPI_BXOR, w->win), MPI_ERR_OP);
	MENDED(MPI_Fetch_and_op(value, result, I, 0, far, MPI_SUM, w->win), MPI_ERR_RMA_RANGE);
	MENDED(MPI_Compare_and_swap(value, value, result, MPI_DOUBLE, 0, d, w->win), MPI_ERR_TYPE);
	MENDED(MPI_Compare_and_swap(value, value, result, I, 0, far, w->win), MPI_ERR_RMA_RANGE);
	unchanged(w);
	MPI_Win_unlock_all(w->win);
	MENDED(MPI_Put(value, 1, I, 0, d, 1, I, w->win), MPI_ERR_RMA_SYNC);
	MENDED(MPI_Get(result, 1, I, 0, d, 1, I, w->win), MPI_ERR_RMA_SYNC);
	MENDED(MPI_Accumulate(value, 1, I, 0, d, 1, I, MPI_SUM, w->win), MPI_ERR_RMA_SYNC);
	MENDED(MPI_Fetch_and_op(value, result, I, 0, d, MPI_SUM, w->win), MPI_ERR_RMA_SYNC);
	MPI_Win_lock_all(0, w->win);
	unchanged(w);
	MPI_Win_unlock_all(w->win);
	MPI_Type_free(&mixed);
}

static void requests(struct window *w) {
	MPI_Request r, before;
	MPI_Aint d = window_at(w, 0, 0);
	memset(&before, 0x55, sizeof before);
	r = before;
	MENDED(MPI_Rput(value, 1, I, 0, d, 1, I, w->win, &r), MPI_ERR_RMA_SYNC);
	MPI_Win_lock_all(0, w->win);
	MENDED(MPI_Rput(value, 1, I, w->n, d, 1, I, w->win, &r), MPI_ERR_RANK);
	MENDED(MPI_Rput(value, 1, I, 0, d, 1, (MPI_Datatype)0, w->win, &r), MPI_ERR_TYPE);
	MENDED(MPI_Rget(result, 1, I, w->n, d, 1, I, w->win, &r), MPI_ERR_RANK);
	MENDED(MPI_Raccumulate(value, 1, I, 0, d, 1, I, MPI_NO_OP, w->win, &r), MPI_ERR_OP);
	MENDED(MPI_Rget_accumulate(value, 1, I, result, 1, I, w->n, d, 1, I, MPI_SUM, w->win, &r), MPI_ERR_RANK);
	CHECK(memcmp(&r, &before, sizeof r) == 0, "%s window: a refused call wrote a request", w->name);
	unchanged(w);
	MPI_Win_unlock_all(w->win);
}

static void epochs(struct window *w) {
	MPI_Aint d = window_at(w, 0, 0);
	int flag = 77;
	MENDED(MPI_Win_lock(77, 0, 0, w->win), MPI_ERR_LOCKTYPE);
	MENDED(MPI_Win_lock(MPI_LOCK_SHARED, 0, 1 << 30, w->win), MPI_ERR_ASSERT);
	MENDED(MPI_Win_lock(MPI_LOCK_SHARED, w->n, 0, w->win), MPI_ERR_RANK);
	MENDED(MPI_Put(value, 1, I, 0, d, 1, I, w->win), MPI_ERR_RMA_SYNC); /* no access epoch has begun */
	MENDED(MPI_Win_lock_all(1 << 30, w->win), MPI_ERR_ASSERT);
	MENDED(MPI_Put(value, 1, I, 0, d, 1, I, w->win), MPI_ERR_RMA_SYNC);
	MENDED(MPI_Win_fence(1 << 30, w->win), MPI_ERR_ASSERT);
	MENDED(MPI_Put(value, 1, I, 0, d, 1, I, w->win), MPI_ERR_RMA_SYNC);
	MENDED(MPI_Win_unlock(0, w->win), MPI_ERR_RMA_SYNC);
	MENDED(MPI_Win_unlock_all(w->win), MPI_ERR_RMA_SYNC);
	MENDED(MPI_Win_flush(0, w->win), MPI_ERR_RMA_SYNC);
	MENDED(MPI_Win_flush_local_all(w->win), MPI_ERR_RMA_SYNC);
	MENDED(MPI_Win_complete(w->win), MPI_ERR_RMA_SYNC);
	MENDED(MPI_Win_wait(w->win), MPI_ERR_RMA_SYNC);
	MENDED(MPI_Win_test(w->win, &flag), MPI_ERR_RMA_SYNC);
	CHECK(flag == 77, "%s window: a refused MPI_Win_test wrote %d", w->name, flag);
	MPI_Win_lock_all(0, w->win);
	MENDED(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win), MPI_ERR_RMA_SYNC);
	MENDED(MPI_Win_lock_all(0, w->win), MPI_ERR_RMA_SYNC);
	MENDED(MPI_Win_fence(0, w->win), MPI_ERR_RMA_SYNC);
	MPI_Win same = w->win;
	MENDED(MPI_Win_free(&same), MPI_ERR_RMA_SYNC);
	CHECK(same == w->win, "%s window: a refused MPI_Win_free wrote the handle", w->name);
	unchanged(w);
	MPI_Win_unlock_all(w->win);
}

static void groups(struct window *w) {
	MPI_Group all, self;
	MPI_Aint d = window_at(w, 0, 0);
	MENDED(MPI_Win_start((MPI_Group)0, 0, w->win), MPI_ERR_GROUP);
	MENDED(MPI_Win_post((MPI_Group)0, 0, w->win), MPI_ERR_GROUP);
	MENDED(MPI_Win_post(MPI_GROUP_EMPTY, 1 << 30, w->win), MPI_ERR_ASSERT);
	MENDED(MPI_Win_start(MPI_GROUP_EMPTY, 1 << 30, w->win), MPI_ERR_ASSERT);
	MENDED(MPI_Put(value, 1, I, 0, d, 1, I, w->win), MPI_ERR_RMA_SYNC);
	MENDED(MPI_Win_wait(w->win), MPI_ERR_RMA_SYNC);
	/* The window has only this process, and the group has a process that is not in the window. */
	MPI_Comm_group(W, &all);
	MPI_Group_excl(all, 1, &w->rank, &self);
	if (w->n > 1) {
		MPI_Win alone;
		int *mem;
		MPI_Errhandler h;
		MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_SELF, &mem, &alone);
		MPI_Win_create_errhandler(win_mends, &h);
		MPI_Win_set_errhandler(alone, h);
		MPI_Errhandler_free(&h);
		MENDED(MPI_Win_post(self, 0, alone), MPI_ERR_RANK);
		MENDED(MPI_Win_start(self, 0, alone), MPI_ERR_RANK);
		MENDED(MPI_Win_complete(alone), MPI_ERR_RMA_SYNC);
		MENDED(MPI_Win_wait(alone), MPI_ERR_RMA_SYNC);
		MPI_Win_free(&alone);
	}
	if (self != MPI_GROUP_EMPTY)
		MPI_Group_free(&self);
	MPI_Group_free(&all);
	MPI_Win_lock_all(0, w->win);
	unchanged(w);
	MPI_Win_unlock_all(w->win);
}

static void pack(void) {
	int at = 4, size = 77;
	char out[64];
	memset(out, 7, sizeof out);
	MENDED(MPI_Pack(value, -1, I, out, 64, &at, W), MPI_ERR_COUNT);
	MENDED(MPI_Pack(value, 1, (MPI_Datatype)0, out, 64, &at, W), MPI_ERR_TYPE);
	MENDED(MPI_Pack(value, 1, I, out, -5, &at, W), MPI_ERR_ARG);
	MENDED(MPI_Pack(value, 1, I, out, 6, &at, W), MPI_ERR_TRUNCATE);
	MENDED(MPI_Pack(value, 1, I, out, 3, &at, W), MPI_ERR_ARG);
	MENDED(MPI_Pack(NULL, 1, I, out, 64, &at, W), MPI_ERR_BUFFER);
	MENDED(MPI_Unpack(out, 6, &at, result, 1, I, W), MPI_ERR_TRUNCATE);
	MENDED(MPI_Unpack(out, 3, &at, result, 1, I, W), MPI_ERR_ARG);
	MENDED(MPI_Unpack(NULL, 64, &at, result, 1, I, W), MPI_ERR_BUFFER);
	MENDED(MPI_Pack_size(-1, I, W, &size), MPI_ERR_COUNT);
	MENDED(MPI_Pack_size(1, (MPI_Datatype)0, W, &size), MPI_ERR_TYPE);
	CHECK(at == 4 && size == 77 && result[0] == -1, "refused calls wrote %d, %d, %d", at, size, result[0]);
	for (int i = 0; i < 64; i++)
		CHECK(out[i] == 7, "a refused call wrote %d to byte %d", out[i], i);
}

static void messages(void) {
	MPI_Request r, before;
	MPI_Status st, same;
	memset(&before, 0x55, sizeof before);
	memset(&same, 0x55, sizeof same);
	r = before;
	st = same;
	MENDED(MPI_Send(value, 1, I, check_size, 0, W), MPI_ERR_RANK);
	MENDED(MPI_Isend(value, 1, I, check_size, 0, W, &r), MPI_ERR_RANK);
	MENDED(MPI_Irecv(result, 1, I, 0, -77, W, &r), MPI_ERR_TAG);
	MENDED(MPI_Recv(result, -1, I, 0, 0, W, &st), MPI_ERR_COUNT);
	MENDED(MPI_Send_init(value, 1, I, check_size, 0, W, &r), MPI_ERR_RANK);
	MENDED(MPI_Ibcast(result, 1, I, check_size, W, &r), MPI_ERR_ROOT);
	MENDED(MPI_Bcast(result, -1, I, 0, W), MPI_ERR_COUNT);
	MENDED(MPI_Wait(&r, &st), MPI_ERR_REQUEST);
	CHECK(memcmp(&r, &before, sizeof r) == 0 && memcmp(&st, &same, sizeof st) == 0,
	      "a refused call wrote a request or a status");
	CHECK(result[0] == -1, "a refused call wrote %d", result[0]);
}

static void objects(void) {
	MPI_Win win, win_before;
	MPI_Comm comm, comm_before;
	MPI_Datatype type, type_before;
	int *mem = value, number = 77;
	memset(&win_before, 0x55, sizeof win_before);
	memset(&comm_before, 0x55, sizeof comm_before);
	memset(&type_before, 0x55, sizeof type_before);
	win = win_before;
	comm = comm_before;
	type = type_before;
	MENDED(MPI_Win_allocate(-1, 1, MPI_INFO_NULL, MPI_COMM_SELF, &mem, &win), MPI_ERR_SIZE);
	MENDED(MPI_Win_create(value, 4, 0, MPI_INFO_NULL, MPI_COMM_SELF, &win), MPI_ERR_DISP);
	MENDED(MPI_Comm_split(W, -77, 0, &comm), MPI_ERR_ARG);
	CHECK(comm == MPI_COMM_NULL, "a refused MPI_Comm_split left a handle");
	comm = comm_before;
	MENDED(MPI_Comm_dup((MPI_Comm)0, &comm), MPI_ERR_COMM);
	MENDED(MPI_Type_contiguous(-1, I, &type), MPI_ERR_COUNT);
	MENDED(MPI_Comm_size((MPI_Comm)0, &number), MPI_ERR_COMM);
	MENDED(MPI_Comm_rank((MPI_Comm)0, &number), MPI_ERR_COMM);
	CHECK(win == win_before && mem == value && comm == comm_before && type == type_before && number == 77,
	      "a refused call wrote its result");
}

static void body(struct window *w) {
	MPI_Errhandler h;
	MPI_Win_create_errhandler(win_mends, &h);
	MPI_Win_set_errhandler(w->win, h);
	MPI_Errhandler_free(&h);
	for (int i = 0; i < 16; i++) {
		((int *)w->mem)[i] = 1000 + i;
		result[i] = -1;
	}
	MPI_Barrier(w->comm);
	if (strcmp(check_arg, "rma") == 0)
		rma(w);
	if (strcmp(check_arg, "requests") == 0)
		requests(w);
	if (strcmp(check_arg, "epochs") == 0)
		epochs(w);
	if (strcmp(check_arg, "groups") == 0)
		groups(w);
	MPI_Barrier(w->comm);
}

int main(int argc, char **argv) {
	MPI_Errhandler h;
	check_begin(&argc, &argv);
	MPI_Comm_create_errhandler(comm_mends, &h);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, h);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, h);
	MPI_Errhandler_free(&h);
	for (int i = 0; i < 64; i++) {
		value[i] = 5;
		result[i] = -1;
	}
	if (strcmp(check_arg, "pack") == 0)
		pack();
	else if (strcmp(check_arg, "messages") == 0)
		messages();
	else if (strcmp(check_arg, "objects") == 0)
		objects();
	else
		windows_each(16 * sizeof(int), sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
