/* Reported (open-mpi/ompi issue 385): MPI_Accumulate with MPI_SUM and a derived target type replaced some elements
 * instead of adding to them.
 * Must hold: all elements are added even if the first block of the origin type, of the target type, or of both types
 * does not begin at offset 0. All other elements stay unchanged. MPI-5.0 12.3.4
 * np: 2 5
 * ref: mpich
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../epochs.h"

enum { PAIRS = 5, SKIPPED = 2, ELEMENTS = 2 * PAIRS + SKIPPED };

static void body(struct window *w) {
	/* All types leave out the first SKIPPED elements. The blocks are in ascending order in the first type, in mixed
	 * order in the second type, and in descending order in the third type. */
	MPI_Datatype types[3];
	int displs[3][PAIRS];
	for (int i = 0; i < PAIRS; i++) {
		displs[0][i] = SKIPPED + 2 * i;
		displs[1][i] = 2 * ((3 * i) % PAIRS) + SKIPPED;
		displs[2][i] = SKIPPED + 2 * (PAIRS - 1 - i);
	}
	for (int t = 0; t < 3; t++) {
		MPI_Type_create_indexed_block(PAIRS, 2, displs[t], MPI_DOUBLE, &types[t]);
		MPI_Type_commit(&types[t]);
	}
	double *mem = w->mem, origin[ELEMENTS], expect[ELEMENTS];
	for (int sync = 0; sync < SYNCS; sync++)
		for (int a = 0; a < 3; a++)
			for (int b = 0; b < 3; b++) {
				for (int i = 0; i < ELEMENTS; i++) {
					mem[i] = expect[i] = 10 * (w->rank + 1);
					origin[i] = i + 1;
				}
				epoch_open(sync, w);
				int right = (w->rank + 1) % w->n;
				epoch_target(sync, w, right);
				CHECK_OK(MPI_Accumulate(origin, 1, types[a], right, window_at(w, right, 0), 1, types[b],
							MPI_SUM, w->win));
				epoch_target_done(sync, w, right);
				epoch_close(sync, w);
				for (int p = 0; p < PAIRS; p++)
					for (int e = 0; e < 2; e++)
						expect[displs[b][p] + e] += displs[a][p] + e + 1;
				for (int i = 0; i < ELEMENTS; i++)
					CHECK(mem[i] == expect[i], "%s, %s, types %d to %d: element %d is %g, not %g",
					      w->name, sync_name[sync], a, b, i, mem[i], expect[i]);
			}
	for (int t = 0; t < 3; t++)
		MPI_Type_free(&types[t]);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(ELEMENTS * sizeof(double), sizeof(double), MPI_COMM_WORLD, body);
	return check_end();
}
