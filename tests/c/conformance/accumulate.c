/* Proves: when all ranks call MPI_Accumulate on the same elements of every rank, the sums are exact. Covers SUM of
 *   int64 and double, MAX and REPLACE, with 0, 1, 3 and 304 elements. Tests every synchronization on every window kind.
 *   MPI-5.0 12.3.4, 12.5
 * np: 1 2 5
 * args: fence pscw lock lock_shared lock_all flush flush_all flush_local flush_local_all
 * ref: mpich
 * timeout: 60
 */
#include "../epochs.h"

enum { MOST = 304, ROUNDS = 4 };

static int sync_mode;

struct area {
	int64_t sum[MOST];
	double real[MOST];
	int max[MOST];
	int16_t last[MOST]; /* element i is replaced only by rank i mod n */
};

static void check_area(struct window *w, int count) {
	struct area *mem = w->mem;
	int n = w->n;
	for (int i = 0; i < MOST; i++) {
		int in = i < count;
		int64_t sum = in ? (int64_t)n * i + n * (n + 1) / 2 + 1000 : 1000;
		double real = in ? n * (n + 1) / 2 * 0.5 + i : i;
		int max = in ? n * 100 + i : 7;
		int last = in ? i % n : -1;
		CHECK(mem->sum[i] == sum, "%s window: SUM [%d of %d] is %lld, not %lld", w->name, i, count,
		      (long long)mem->sum[i], (long long)sum);
		CHECK(mem->real[i] == real, "%s window: SUM of double [%d of %d] is %g, not %g", w->name, i, count,
		      mem->real[i], real);
		CHECK(mem->max[i] == max, "%s window: MAX [%d of %d] is %d, not %d", w->name, i, count, mem->max[i],
		      max);
		CHECK(mem->last[i] == last, "%s window: REPLACE [%d of %d] is %d, not %d", w->name, i, count,
		      mem->last[i], last);
	}
}

static void body(struct window *w) {
	static const int counts[ROUNDS] = {304, 0, 1, 3};
	struct area *mem = w->mem;
	struct area *from = malloc(sizeof *from);
	for (int i = 0; i < MOST; i++) {
		from->sum[i] = i + w->rank + 1;
		from->real[i] = (w->rank + 1) * 0.5;
		from->max[i] = (w->rank + 1) * 100 + i;
		from->last[i] = w->rank;
	}
	for (int round = 0; round < ROUNDS; round++) {
		int count = counts[round];
		for (int i = 0; i < MOST; i++) {
			mem->sum[i] = 1000;
			mem->real[i] = i;
			mem->max[i] = 7;
			mem->last[i] = -1;
		}
		epoch_open(sync_mode, w);
		for (int k = 0; k < w->n; k++) {
			int t = (w->rank + k) % w->n;
			epoch_target(sync_mode, w, t);
			MPI_Accumulate(from->sum, count, MPI_INT64_T, t, offsetof(struct area, sum), count, MPI_INT64_T,
				       MPI_SUM, w->win);
			MPI_Accumulate(from->real, count, MPI_DOUBLE, t, offsetof(struct area, real), count, MPI_DOUBLE,
				       MPI_SUM, w->win);
			MPI_Accumulate(from->max, count, MPI_INT, t, offsetof(struct area, max), count, MPI_INT,
				       MPI_MAX, w->win);
			for (int i = w->rank; i < count; i += w->n)
				MPI_Accumulate(from->last + i, 1, MPI_INT16_T, t, offsetof(struct area, last) + 2 * i,
					       1, MPI_INT16_T, MPI_REPLACE, w->win);
			epoch_target_done(sync_mode, w, t);
		}
		epoch_close(sync_mode, w);
		check_area(w, count);
	}
	free(from);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	sync_mode = epoch_named(check_arg);
	windows_each(sizeof(struct area), 1, MPI_COMM_WORLD, body);
	return check_end();
}
