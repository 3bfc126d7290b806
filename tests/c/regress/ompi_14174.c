/* Reported (open-mpi/ompi issue 14174): with two or more ranks on a node, a single MPI_Get_accumulate that writes
 * (MPI_SUM, MPI_REPLACE) aborted the job, while MPI_NO_OP and MPI_Fetch_and_op worked.
 * Must hold: each of these calls with each of the three operations returns the old value and leaves the right new value
 * at every target. MPI-5.0 12.3.4
 * np: 1 2 4
 * args: get_accumulate rget_accumulate fetch_and_op
 * ref: mpich
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

static void body(struct window *w) {
	int64_t *mem = w->mem, value, old;
	MPI_Op ops[] = {MPI_NO_OP, MPI_SUM, MPI_REPLACE};
	for (int o = 0; o < 3; o++) {
		for (int t = 0; t < w->n; t++)
			mem[t] = 1000 * w->rank + t;
		MPI_Barrier(w->comm);
		MPI_Win_lock_all(0, w->win);
		MPI_Win_sync(w->win);
		MPI_Barrier(w->comm);
		for (int t = 0; t < w->n; t++) {
			MPI_Request request = MPI_REQUEST_NULL;
			value = 77;
			old = -1;
			if (strcmp(check_arg, "fetch_and_op") == 0)
				CHECK_OK(MPI_Fetch_and_op(&value, &old, MPI_INT64_T, t, window_at(w, t, w->rank),
							  ops[o], w->win));
			else if (strcmp(check_arg, "get_accumulate") == 0)
				CHECK_OK(MPI_Get_accumulate(&value, 1, MPI_INT64_T, &old, 1, MPI_INT64_T, t,
							    window_at(w, t, w->rank), 1, MPI_INT64_T, ops[o], w->win));
			else
				CHECK_OK(MPI_Rget_accumulate(&value, 1, MPI_INT64_T, &old, 1, MPI_INT64_T, t,
							     window_at(w, t, w->rank), 1, MPI_INT64_T, ops[o], w->win,
							     &request));
			MPI_Wait(&request, MPI_STATUS_IGNORE);
			MPI_Win_flush(t, w->win);
			CHECK(old == 1000 * t + w->rank, "%s, operation %d: rank %d had %lld, not %d", w->name, o, t,
			      (long long)old, 1000 * t + w->rank);
		}
		MPI_Win_unlock_all(w->win);
		MPI_Barrier(w->comm);
		MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win);
		for (int t = 0; t < w->n; t++) {
			int64_t was = 1000 * w->rank + t, expect = o == 0 ? was : o == 1 ? was + 77 : 77;
			CHECK(mem[t] == expect, "%s, operation %d: rank %d left %lld, not %lld", w->name, o, t,
			      (long long)mem[t], (long long)expect);
		}
		MPI_Win_unlock(w->rank, w->win);
		MPI_Barrier(w->comm);
	}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(check_size * (MPI_Aint)sizeof(int64_t), sizeof(int64_t), MPI_COMM_WORLD, body);
	return check_end();
}
