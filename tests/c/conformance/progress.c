/* Proves: strong progress. Every operation and every passive synchronization of the origins completes while the target
 *   makes no MPI calls. The target is in read(2), or it computes, until the origins have reported that their calls
 *   returned. Small and large operations complete by lock and unlock, by flush, and by the operation's request. Tests
 *   every window kind. MPI-5.0 12.7.3
 * np: 2 4
 * args: put get accumulate get_accumulate fetch_and_op compare_and_swap
 * args: rput rget raccumulate rget_accumulate rget_many lock
 * ref: none (MPICH makes no progress while the target computes; Open MPI makes progress on allocated windows only)
 * again: GOMPIRMA_NO_CMA=1
 * nodes: 1 (the target reports in shared memory that it computes)
 * timeout: 60
 */
#include "../no_progress.h"
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { SMALL = 1, LARGE = 20000 };

static int how;

static int is(const char *name) { return strcmp(check_arg, name) == 0; }

/* Starts 40 requests at a time, more than the library has buffers for. */
static void many(struct window *w, int64_t *out, int count) {
	enum { MANY = 40 };
	MPI_Request r[MANY];
	MPI_Datatype L = MPI_INT64_T;
	for (int i = 0; i < MANY; i++) {
		int from = (int)((int64_t)count * i / MANY), n = (int)((int64_t)count * (i + 1) / MANY) - from;
		MPI_Aint at = window_at(w, 0, (MPI_Aint)w->rank * LARGE + from);
		if (i % 2)
			MPI_Rget(out + from, n, L, 0, at, n, L, w->win, &r[i]);
		else
			MPI_Rget_accumulate(NULL, 0, L, out + from, n, L, 0, at, n, L, MPI_NO_OP, w->win, &r[i]);
	}
	MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE);
	for (int i = 0; i < count; i++)
		if (out[i] != 7 * ((int64_t)w->rank * LARGE + i)) {
			CHECK(0, "%s window: element %d is %lld", w->name, i, (long long)out[i]);
			break;
		}
}

/* Makes an operation of `count` elements on rank 0. Puts, gets and swaps use the elements that belong to this rank
 * alone. Accumulates of all ranks use the first elements. */
static void operate(struct window *w, int64_t *in, int64_t *out, int count) {
	MPI_Datatype L = MPI_INT64_T;
	MPI_Aint mine = (MPI_Aint)w->rank * LARGE;
	int64_t zero = 0;
	MPI_Request r = MPI_REQUEST_NULL;
	if (is("put"))
		MPI_Put(in, count, L, 0, window_at(w, 0, mine), count, L, w->win);
	if (is("get"))
		MPI_Get(out, count, L, 0, window_at(w, 0, mine), count, L, w->win);
	if (is("accumulate") || is("lock"))
		MPI_Accumulate(in, count, L, 0, window_at(w, 0, 0), count, L, MPI_SUM, w->win);
	if (is("get_accumulate"))
		MPI_Get_accumulate(in, count, L, out, count, L, 0, window_at(w, 0, 0), count, L, MPI_SUM, w->win);
	for (int i = 0; i < (count > 10 ? 10 : count); i++) {
		if (is("fetch_and_op"))
			MPI_Fetch_and_op(in + i, out + i, L, 0, window_at(w, 0, i), MPI_SUM, w->win);
		if (is("compare_and_swap"))
			MPI_Compare_and_swap(in + i, &zero, out + i, L, 0, window_at(w, 0, mine + i), w->win);
	}
	if (is("rput"))
		MPI_Rput(in, count, L, 0, window_at(w, 0, mine), count, L, w->win, &r);
	if (is("rget"))
		MPI_Rget(out, count, L, 0, window_at(w, 0, mine), count, L, w->win, &r);
	if (is("raccumulate"))
		MPI_Raccumulate(in, count, L, 0, window_at(w, 0, 0), count, L, MPI_SUM, w->win, &r);
	if (is("rget_accumulate"))
		MPI_Rget_accumulate(in, count, L, out, count, L, 0, window_at(w, 0, 0), count, L, MPI_SUM, w->win, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	if (is("rget_many"))
		many(w, out, count);
}

static void origin(struct window *w, int64_t *in, int64_t *out) {
	static const int counts[] = {SMALL, 100, LARGE};
	char text[200];
	for (int c = 0; c < 3; c++) {
		snprintf(text, sizeof text, "lock, %s of %d elements, unlock on a %s window, target %s", check_arg,
			 counts[c], w->name, away_name[how]);
		away_watch(text);
		for (int i = 0; i < 5; i++) {
			MPI_Win_lock(is("lock") ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, w->win);
			operate(w, in, out, counts[c]);
			MPI_Win_unlock(0, w->win);
		}
		snprintf(text, sizeof text, "lock_all, %s of %d elements, flush on a %s window, target %s", check_arg,
			 counts[c], w->name, away_name[how]);
		away_watch(text);
		MPI_Win_lock_all(0, w->win);
		for (int i = 0; i < 5; i++) {
			operate(w, in, out, counts[c]);
			MPI_Win_flush(0, w->win);
		}
		operate(w, in, out, counts[c]);
		MPI_Win_flush_local_all(w->win);
		MPI_Win_unlock_all(w->win);
	}
}

static void body(struct window *w) {
	int64_t *mem = w->mem, *in = malloc(LARGE * sizeof *in), *out = calloc(LARGE, sizeof *out);
	for (int i = 0; i < LARGE; i++)
		in[i] = i + 1;
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win);
	for (MPI_Aint i = 0; i < (MPI_Aint)LARGE * w->n; i++)
		mem[i] = is("get") || is("rget") || is("rget_many") ? 7 * i : 0;
	MPI_Win_unlock(w->rank, w->win);
	MPI_Barrier(w->comm);
	if (w->rank == 0) {
		away_until(how, w->n - 1);
	} else {
		origin(w, in, out);
		away_call(how);
	}
	MPI_Barrier(w->comm);
	MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win);
	int times = 33 * (w->n - 1),
	    last = LARGE - 1; /* each origin does 33 operations on element 0 and 11 on the last element */
	if (w->rank == 0 && (strstr(check_arg, "accumulate") || is("lock"))) {
		CHECK(mem[0] == times, "%s window, %s: element 0 is %lld, not %d", w->name, check_arg,
		      (long long)mem[0], times);
		CHECK(mem[last] == (int64_t)times / 3 * LARGE, "%s window, %s: the last element is %lld", w->name,
		      check_arg, (long long)mem[last]);
	}
	if (w->rank == 0 && is("fetch_and_op"))
		CHECK(mem[0] == times, "%s window: the counter is %lld, not %d", w->name, (long long)mem[0], times);
	for (int r = 1; r < w->n && w->rank == 0; r++) {
		int64_t *part = mem + (int64_t)r * LARGE;
		if (is("put") || is("rput"))
			CHECK(part[0] == 1 && part[last] == LARGE, "%s window: rank %d put %lld ... %lld", w->name, r,
			      (long long)part[0], (long long)part[last]);
		if (is("compare_and_swap"))
			CHECK(part[0] == 1 && part[9] == 10, "%s window: rank %d swapped %lld", w->name, r,
			      (long long)part[0]);
	}
	if (w->rank > 0 && (is("get") || is("rget") || is("rget_many")))
		CHECK(out[last] == 7 * ((int64_t)w->rank * LARGE + last), "%s window: got %lld", w->name,
		      (long long)out[last]);
	MPI_Win_unlock(w->rank, w->win);
	free(in);
	free(out);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	away_begin();
	for (how = 0; how < AWAYS; how++)
		windows_each((MPI_Aint)LARGE * 8 * check_size, 8, MPI_COMM_WORLD, body);
	away_end();
	return check_end();
}
