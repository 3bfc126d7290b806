/* Proves: MPI_Wtime never runs backwards in one thread. If MPI_WTIME_IS_GLOBAL is true, a rank that receives a message
 *   never reads an earlier time than its sender read before. The unit of MPI_Wtime is the second (compared with
 *   clock_gettime over 50 ms). MPI_Wtick is positive and below a millisecond. MPI-5.0 9.6
 * np: 1 2
 * ref: mpich
 * timeout: 30
 */
#include "../check.h"
#include <time.h>

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	double tick = MPI_Wtick(), outer = now(), first = MPI_Wtime(), inner = now(), last = first, t;
	CHECK(tick > 0 && tick < 1e-3, "the tick is %g s", tick);
	do {
		t = MPI_Wtime();
		CHECK(t >= last, "time ran back by %g s", last - t);
		last = t;
	} while (now() - inner < 0.05);
	double inner_end = now();
	last = MPI_Wtime();
	double outer_end = now(); /* clock_gettime: `inner` lies within the interval of MPI_Wtime, `outer` around it */
	CHECK(last - first > 0.99 * (inner_end - inner) - tick && last - first < 1.01 * (outer_end - outer) + tick,
	      "%g s by MPI_Wtime, %g to %g s by the clock", last - first, inner_end - inner, outer_end - outer);
	int flag, *global = NULL;
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &global, &flag);
	if (flag && *global)
		for (int i = 0; i < 50; i++) {
			t = MPI_Wtime();
			MPI_Sendrecv(&t, 1, MPI_DOUBLE, (check_rank + 1) % check_size, 0, &last, 1, MPI_DOUBLE,
				     (check_rank + check_size - 1) % check_size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			CHECK(MPI_Wtime() >= last, "a message arrived before it was sent");
		}
	return check_end();
}
