/* Reported (open-mpi/ompi issue 10633): MPI_Get_accumulate returned wrong data above a certain number of elements.
 * Must hold: for MPI_SUM, MPI_REPLACE and MPI_NO_OP and for counts from zero to many, the call returns the old content,
 * and the window has the result of the operation. The largest count needs several messages on each path. Bytes after
 * the last element stay unchanged. MPI-5.0 12.3.4
 * np: 2 4
 * ref: mpich (Open MPI 4.1.4 is wrong from 1025 elements on)
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { MOST = 70000 };

static const int counts[] = {0, 1, 2, 3, 7, 63, 64, 65, 127, 500, 1023, 1024, 1025, 4097, 16385, MOST - 1};
static int64_t in[MOST], out[MOST];

static void body(struct window *w) {
	int64_t *mem = w->mem;
	int right = (w->rank + 1) % w->n, left = (w->rank + w->n - 1) % w->n;
	MPI_Op ops[] = {MPI_SUM, MPI_REPLACE, MPI_NO_OP};
	for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
		for (int o = 0; o < 3; o++) {
			int n = counts[c], wrong = 0;
			for (int i = 0; i <= n; i++) {
				mem[i] = (int64_t)w->rank << 32 | i;
				in[i] = 3 * i + w->rank;
				out[i] = -1;
			}
			MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win);
			CHECK_OK(MPI_Get_accumulate(in, n, MPI_INT64_T, out, n, MPI_INT64_T, right,
						    window_at(w, right, 0), n, MPI_INT64_T, ops[o], w->win));
			MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
			for (int i = 0; i <= n; i++) {
				int64_t was = (int64_t)w->rank << 32 | i, add = 3 * i + left,
					got = i < n ? (int64_t)right << 32 | i : -1;
				int64_t now = i == n || o == 2 ? was : o == 1 ? add : was + add;
				if (mem[i] == now && out[i] == got)
					continue;
				if (wrong++ == 0)
					CHECK(0,
					      "%s, %d elements, operation %d, element %d: window %llx, not %llx; "
					      "result %llx, not %llx",
					      w->name, n, o, i, (unsigned long long)mem[i], (unsigned long long)now,
					      (unsigned long long)out[i], (unsigned long long)got);
			}
		}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(MOST * sizeof(int64_t), sizeof(int64_t), MPI_COMM_WORLD, body);
	return check_end();
}
