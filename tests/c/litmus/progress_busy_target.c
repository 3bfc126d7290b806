/* Rank 0, the target, makes no further MPI call: it loops endlessly or pauses. The other ranks access rank 0's memory
 * in all windows: with all operations and every kind of lock and flush, or (pscw) with start, operations and complete
 * after rank 0's post. At the end the other ranks abort the job, because rank 0 never returns.
 * Forbidden: a call of the other ranks does not return.
 * MPI-5.0 12.7.3
 * np: 2 4
 * args: loop pause pscw
 * again: GOMPIRMA_NO_CMA=1
 * status: nonzero
 * stderr: called MPI_Abort with status 3
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"
#include <signal.h>
#include <unistd.h>

enum { COUNT = 3000, PARTS = 8 };

static MPI_Comm rest;
static MPI_Group origins, target;
static int depth;
static char doing[200] = "start";

static void stuck(int signal) {
	static char text[300];
	(void)signal;
	int n = snprintf(text, sizeof text, "rank %d: FAIL: does not return: %s\n", check_rank, doing);
	_exit(write(2, text, n) < 0 ? 2 : 1);
}

#define DO(w, call) (snprintf(doing, sizeof doing, "%s on a %s window", #call, (w)->name), (call))

static void work(struct window *w) {
	MPI_Datatype L = MPI_INT64_T;
	int64_t *in = malloc(COUNT * 8), *out = calloc(COUNT, 8), one = 1, old, zero = 0;
	MPI_Request r;
	MPI_Aint mine = window_at(w, 0, COUNT * w->rank), sum = window_at(w, 0, 0);
	for (int i = 0; i < COUNT; i++)
		in[i] = w->rank * 10000 + i;
	if (strcmp(check_arg, "pscw") == 0) {
		DO(w, MPI_Win_start(target, 0, w->win));
		DO(w, MPI_Put(in, COUNT, L, 0, mine, COUNT, L, w->win));
		DO(w, MPI_Accumulate(in, COUNT, L, 0, sum, COUNT, L, MPI_SUM, w->win));
		DO(w, MPI_Get_accumulate(in, 3, L, out, 3, L, 0, sum, 3, L, MPI_SUM, w->win));
		DO(w, MPI_Fetch_and_op(&one, &old, L, 0, sum, MPI_SUM, w->win));
		DO(w, MPI_Win_complete(w->win));
		free(in);
		free(out);
		return;
	}
	for (int time = 0; time < 4; time++) {
		int count = time % 2 ? COUNT : 2;
		if (time < 2)
			DO(w, MPI_Win_lock(time == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, w->win));
		else
			DO(w, MPI_Win_lock_all(0, w->win));
		DO(w, MPI_Put(in, count, L, 0, mine, count, L, w->win));
		DO(w, MPI_Win_flush(0, w->win));
		DO(w, MPI_Get(out, count, L, 0, mine, count, L, w->win));
		DO(w, MPI_Win_flush_all(w->win));
		CHECK(memcmp(in, out, count * 8) == 0, "%s window: got %lld ...", w->name, (long long)out[0]);
		DO(w, MPI_Accumulate(in, count, L, 0, mine, count, L, MPI_SUM, w->win));
		DO(w, MPI_Win_flush_local(0, w->win));
		DO(w, MPI_Get_accumulate(NULL, 0, L, out, count, L, 0, mine, count, L, MPI_NO_OP, w->win));
		DO(w, MPI_Win_flush_local_all(w->win));
		CHECK(out[count - 1] == 2 * in[count - 1], "%s window: the sum is %lld", w->name,
		      (long long)out[count - 1]);
		DO(w, MPI_Fetch_and_op(&one, &old, L, 0, sum, MPI_SUM, w->win));
		DO(w, MPI_Compare_and_swap(&one, &zero, &old, L, 0, mine, w->win));
		DO(w, (MPI_Rput(in, count, L, 0, mine, count, L, w->win, &r), MPI_Wait(&r, MPI_STATUS_IGNORE)));
		DO(w, (MPI_Raccumulate(in, count, L, 0, mine, count, L, MPI_REPLACE, w->win, &r),
		       MPI_Wait(&r, MPI_STATUS_IGNORE)));
		DO(w, (MPI_Rget_accumulate(in, count, L, out, count, L, 0, mine, count, L, MPI_SUM, w->win, &r),
		       MPI_Wait(&r, MPI_STATUS_IGNORE)));
		DO(w, (MPI_Rget(out, count, L, 0, mine, count, L, w->win, &r), MPI_Wait(&r, MPI_STATUS_IGNORE)));
		if (time < 2)
			DO(w, MPI_Win_unlock(0, w->win));
		else
			DO(w, MPI_Win_unlock_all(w->win));
	}
	MPI_Barrier(rest);
	DO(w, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
	DO(w, MPI_Get(&old, 1, L, 0, sum, 1, L, w->win));
	DO(w, MPI_Win_unlock(0, w->win));
	CHECK(old == 4 * (w->n - 1), "%s window: the sum of all is %lld, not %d", w->name, (long long)old,
	      4 * (w->n - 1));
	free(in);
	free(out);
}

static struct window *windows[KINDS];

/* Creates the windows of all other kinds by recursion, so that all windows exist at once. In the last recursion the
 * target stops calling MPI, and the other ranks operate on all windows. */
static void body(struct window *w) {
	memset(w->mem, 0, w->size);
	if (w->rank == 0 && strcmp(check_arg, "pscw") == 0)
		MPI_Win_post(origins, 0, w->win);
	windows[depth++] = w;
	int next = w->kind + 1;
	if (next == KIND_SHARED && !windows_one_node(w->comm))
		next++;
	if (next < KINDS) {
		windows_one(next, w->size, 8, w->comm, body);
		return;
	}
	MPI_Barrier(w->comm);
	if (w->rank == 0) {
		if (strcmp(check_arg, "pause") == 0)
			for (;;)
				pause();
		for (volatile long forever = 0;; forever++)
			;
	}
	signal(SIGALRM, stuck);
	alarm(30);
	for (int i = 0; i < depth; i++)
		work(windows[i]);
	int errors = 0;
	MPI_Allreduce(&check_errors, &errors, 1, MPI_INT, MPI_SUM, rest);
	alarm(0);
	if (errors != 0 || w->rank == 1)
		check_print_result(errors);
	fflush(stdout);
	MPI_Barrier(rest);
	MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Group all;
	int zero = 0;
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 1, &zero, &target);
	MPI_Group_excl(all, 1, &zero, &origins);
	MPI_Comm_split(MPI_COMM_WORLD, check_rank == 0, 0, &rest);
	windows_one(0, (MPI_Aint)COUNT * PARTS * 8, 8, MPI_COMM_WORLD, body);
	return check_end();
}
