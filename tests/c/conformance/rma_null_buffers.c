/* Proves: NULL as the origin, result or compare buffer of an RMA call with data to move is MPI_ERR_BUFFER and changes
 *   nothing at the target. This includes the request-based calls and derived datatypes. An address that MPI uses for
 *   one of its constants is refused likewise. NULL is no error where no data is moved: with a count of 0, with
 *   MPI_PROC_NULL, and as the origin of MPI_NO_OP. NULL is also valid if the library defines MPI_BOTTOM as NULL and the
 *   datatype has absolute addresses. Tests every window kind. MPI-5.0 12.3, 2.5.4, 5.1.12
 * np: 1 2 3
 * args: put get accumulate fetch derived nothing bottom
 * ref: none (MPICH ends with a segmentation fault)
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { N = 100 };
#define I MPI_INT

static int value[N], result[N];
static MPI_Request r;

/* Returns the current contents of a target's memory. */
static const int *seen_at(struct window *w, int target) {
	static int seen[N];
	MPI_Get(seen, N, I, target, window_at(w, target, 0), N, I, w->win);
	MPI_Win_flush(target, w->win);
	return seen;
}

/* Checks that a call was refused, and that neither its request nor the target was written. */
static void refused(struct window *w, int target, int line, const char *call, int code) {
	if (check_class(code) != MPI_ERR_BUFFER)
		check_fail(__FILE__, line, "%s window: %s gave class %d (%s), not MPI_ERR_BUFFER", w->name, call,
			   check_class(code), check_string(code));
	if (r != MPI_REQUEST_NULL)
		check_fail(__FILE__, line, "%s window: %s has made a request", w->name, call);
	MPI_Win_flush(target, w->win);
	const int *seen = seen_at(w, target);
	for (int i = 0; i < N; i++)
		if (seen[i] != 1000 * target + i)
			check_fail(__FILE__, line, "%s window: %s wrote %d to element %d of rank %d", w->name, call,
				   seen[i], i, target);
	r = MPI_REQUEST_NULL;
}
#define REFUSED(call) refused(w, t, __LINE__, #call, call)

static void puts_(struct window *w, int t) {
	MPI_Aint d = window_at(w, t, 0);
	REFUSED(MPI_Put(NULL, 1, I, t, d, 1, I, w->win));
	REFUSED(MPI_Put(NULL, 2, I, t, d, 2, I, w->win));
	REFUSED(MPI_Put(NULL, N, I, t, d, N, I, w->win));
	REFUSED(MPI_Put(NULL, 4, MPI_BYTE, t, d, 1, I, w->win));
	REFUSED(MPI_Put(MPI_IN_PLACE, 2, I, t, d, 2, I, w->win));
	REFUSED(MPI_Put_c(NULL, 2, I, t, d, 2, I, w->win));
	REFUSED(MPI_Rput(NULL, 1, I, t, d, 1, I, w->win, &r));
	REFUSED(MPI_Rput(NULL, 2, I, t, d, 2, I, w->win, &r));
	REFUSED(MPI_Rput(NULL, N, I, t, d, N, I, w->win, &r));
	REFUSED(MPI_Rput(NULL, 4, MPI_BYTE, t, d, 1, I, w->win, &r));
}

static void gets_(struct window *w, int t) {
	MPI_Aint d = window_at(w, t, 0);
	REFUSED(MPI_Get(NULL, 1, I, t, d, 1, I, w->win));
	REFUSED(MPI_Get(NULL, 2, I, t, d, 2, I, w->win));
	REFUSED(MPI_Get(NULL, N, I, t, d, N, I, w->win));
	REFUSED(MPI_Get(NULL, 4, MPI_BYTE, t, d, 1, I, w->win));
	REFUSED(MPI_Get_c(NULL, 2, I, t, d, 2, I, w->win));
	REFUSED(MPI_Rget(NULL, 1, I, t, d, 1, I, w->win, &r));
	REFUSED(MPI_Rget(NULL, 2, I, t, d, 2, I, w->win, &r));
	REFUSED(MPI_Rget(NULL, N, I, t, d, N, I, w->win, &r));
}

static void accumulates(struct window *w, int t) {
	static const int counts[] = {1, 2, N};
	MPI_Aint d = window_at(w, t, 0);
	for (int i = 0; i < 3; i++) {
		int n = counts[i];
		REFUSED(MPI_Accumulate(NULL, n, I, t, d, n, I, MPI_SUM, w->win));
		REFUSED(MPI_Accumulate(NULL, n, I, t, d, n, I, MPI_MAX, w->win));
		REFUSED(MPI_Accumulate(NULL, n, I, t, d, n, I, MPI_REPLACE, w->win));
		REFUSED(MPI_Raccumulate(NULL, n, I, t, d, n, I, MPI_SUM, w->win, &r));
		REFUSED(MPI_Get_accumulate(NULL, n, I, result, n, I, t, d, n, I, MPI_SUM, w->win));
		REFUSED(MPI_Get_accumulate(value, n, I, NULL, n, I, t, d, n, I, MPI_SUM, w->win));
		REFUSED(MPI_Get_accumulate(NULL, n, I, NULL, n, I, t, d, n, I, MPI_NO_OP, w->win));
		REFUSED(MPI_Rget_accumulate(NULL, n, I, result, n, I, t, d, n, I, MPI_SUM, w->win, &r));
		REFUSED(MPI_Rget_accumulate(value, n, I, NULL, n, I, t, d, n, I, MPI_SUM, w->win, &r));
	}
}

static void fetches(struct window *w, int t) {
	MPI_Aint d = window_at(w, t, 0);
	value[0] = 1000 * t; /* equal to the target's value, so that a wrongly executed compare and swap would store */
	value[1] = -1;
	REFUSED(MPI_Fetch_and_op(NULL, result, I, t, d, MPI_SUM, w->win));
	REFUSED(MPI_Fetch_and_op(NULL, result, I, t, d, MPI_PROD, w->win));
	REFUSED(MPI_Fetch_and_op(value, NULL, I, t, d, MPI_SUM, w->win));
	REFUSED(MPI_Fetch_and_op(value, NULL, I, t, d, MPI_NO_OP, w->win));
	REFUSED(MPI_Compare_and_swap(NULL, value, result, I, t, d, w->win));
	REFUSED(MPI_Compare_and_swap(value + 1, NULL, result, I, t, d, w->win));
	REFUSED(MPI_Compare_and_swap(value + 1, value, NULL, I, t, d, w->win));
}

static void derived(struct window *w, int t) {
	MPI_Datatype two, apart, behind;
	MPI_Aint d = window_at(w, t, 0), shift = 8;
	int one = 1;
	MPI_Type_contiguous(2, I, &two);
	MPI_Type_vector(2, 1, 3, I, &apart);
	MPI_Type_create_hindexed(1, &one, &shift, I, &behind);
	MPI_Type_commit(&two);
	MPI_Type_commit(&apart);
	MPI_Type_commit(&behind);
	REFUSED(MPI_Put(NULL, 1, two, t, d, 1, two, w->win));
	REFUSED(MPI_Put(NULL, 1, apart, t, d, 2, I, w->win));
	REFUSED(MPI_Put(NULL, 1, behind, t, d, 1, I, w->win));
	REFUSED(MPI_Get(NULL, 1, two, t, d, 1, two, w->win));
	REFUSED(MPI_Get(NULL, 1, apart, t, d, 1, apart, w->win));
	REFUSED(MPI_Accumulate(NULL, 1, two, t, d, 2, I, MPI_SUM, w->win));
	REFUSED(MPI_Accumulate(NULL, 1, apart, t, d, 1, apart, MPI_SUM, w->win));
	REFUSED(MPI_Accumulate(NULL, 1, behind, t, d, 1, I, MPI_SUM, w->win));
	REFUSED(MPI_Get_accumulate(value, 2, I, NULL, 1, apart, t, d, 2, I, MPI_SUM, w->win));
	MPI_Type_free(&two);
	MPI_Type_free(&apart);
	MPI_Type_free(&behind);
}

static void unchanged(struct window *w, int t) {
	const int *seen = seen_at(w, t);
	for (int i = 0; i < N; i++)
		CHECK(seen[i] == 1000 * t + i, "%s window: element %d of rank %d is %d", w->name, i, t, seen[i]);
}

static void nothing(struct window *w, int t) {
	MPI_Aint d = window_at(w, t, 0);
	MPI_Datatype none;
	MPI_Type_contiguous(0, I, &none);
	MPI_Type_commit(&none);
	for (int p = 0; p < 2; p++) {
		int to = p ? MPI_PROC_NULL : t, n = p;
		CHECK_OK(MPI_Put(NULL, n, I, to, d, n, I, w->win));
		CHECK_OK(MPI_Get(NULL, n, I, to, d, n, I, w->win));
		CHECK_OK(MPI_Accumulate(NULL, n, I, to, d, n, I, MPI_SUM, w->win));
		CHECK_OK(MPI_Get_accumulate(NULL, n, I, NULL, n, I, to, d, n, I, MPI_SUM, w->win));
		CHECK_OK(MPI_Rput(NULL, n, I, to, d, n, I, w->win, &r));
		CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		CHECK_OK(MPI_Rget(NULL, n, I, to, d, n, I, w->win, &r));
		CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	}
	CHECK_OK(MPI_Put(NULL, 5, none, t, d, 5, none, w->win));
	CHECK_OK(MPI_Get(NULL, 5, none, t, d, 5, none, w->win));
	CHECK_OK(MPI_Fetch_and_op(NULL, NULL, I, MPI_PROC_NULL, d, MPI_SUM, w->win));
	CHECK_OK(MPI_Compare_and_swap(NULL, NULL, NULL, I, MPI_PROC_NULL, d, w->win));
	/* MPI_NO_OP ignores its origin. */
	result[0] = -1;
	CHECK_OK(MPI_Fetch_and_op(NULL, result, I, t, d, MPI_NO_OP, w->win));
	MPI_Win_flush(t, w->win);
	CHECK(result[0] == 1000 * t, "%s window: fetched %d", w->name, result[0]);
	CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, result, N, I, t, d, N, I, MPI_NO_OP, w->win));
	MPI_Win_flush(t, w->win);
	CHECK(result[N - 1] == 1000 * t + N - 1, "%s window: fetched %d", w->name, result[N - 1]);
	unchanged(w, t);
	MPI_Type_free(&none);
}

static void bottom(struct window *w, int t) {
	MPI_Aint d = window_at(w, t, 0), at[2];
	int ones[] = {1, 1};
	MPI_Datatype there;
	MPI_Get_address(&value[3], &at[0]);
	MPI_Get_address(&value[7], &at[1]);
	MPI_Type_create_hindexed(2, ones, at, I, &there);
	MPI_Type_commit(&there);
	value[3] = 3;
	value[7] = 7;
	CHECK_OK(MPI_Accumulate(MPI_BOTTOM, 1, there, t, d, 2, I, MPI_SUM, w->win));
	MPI_Win_flush(t, w->win);
	const int *seen = seen_at(w, t);
	CHECK(seen[0] == 1000 * t + 3 && seen[1] == 1000 * t + 8, "%s window: accumulate: %d %d", w->name, seen[0],
	      seen[1]);
	CHECK_OK(MPI_Put(MPI_BOTTOM, 1, there, t, d, 2, I, w->win));
	MPI_Win_flush(t, w->win);
	seen = seen_at(w, t);
	CHECK(seen[0] == 3 && seen[1] == 7, "%s window: put: %d %d", w->name, seen[0], seen[1]);
	value[3] = value[7] = -1;
	CHECK_OK(MPI_Get(MPI_BOTTOM, 1, there, t, d, 2, I, w->win));
	MPI_Win_flush(t, w->win);
	CHECK(value[3] == 3 && value[7] == 7, "%s window: get: %d %d", w->name, value[3], value[7]);
	MPI_Type_free(&there);
}

static void body(struct window *w) {
	static const struct {
		const char *name;
		void (*f)(struct window *w, int t);
	} parts[] = {{"put", puts_},       {"get", gets_},       {"accumulate", accumulates}, {"fetch", fetches},
		     {"derived", derived}, {"nothing", nothing}, {"bottom", bottom}};
	MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
	for (int i = 0; i < N; i++)
		((int *)w->mem)[i] = 1000 * w->rank + i;
	MPI_Barrier(w->comm);
	r = MPI_REQUEST_NULL;
	MPI_Win_lock_all(0, w->win);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (strcmp(parts[i].name, check_arg) == 0)
			parts[i].f(w, (w->rank + 1) % w->n);
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	windows_each(N * sizeof(int), sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
