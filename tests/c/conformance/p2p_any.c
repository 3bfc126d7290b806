/* Proves: MPI_ANY_SOURCE and MPI_ANY_TAG receive from every rank; the status has source and tag. Messages that do not
 *   match a receive stay queued and can be received later in any order of source and tag. Messages with the same source
 *   and tag keep the order of sending. MPI-5.0 3.2.4, 3.5
 * np: 2 4 5
 * ref: mpich
 * nodes: 2
 * timeout: 30
 */
#include "../check.h"

enum { TAGS = 7, TIMES = 10 };

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int n = check_size, value;
	MPI_Status status;
	if (check_rank > 0) {
		for (int phase = 0; phase < 3; phase++)
			for (int time = 0; time < TIMES; time++)
				for (int tag = 0; tag < TAGS; tag++) {
					value = check_rank * 10000 + tag * 100 + time;
					MPI_Send(&value, 1, MPI_INT, 0, phase * TAGS + tag, MPI_COMM_WORLD);
				}
		return check_end();
	}
	int next[64][TAGS] = {{0}};
	for (int i = 0; i < (n - 1) * TAGS * TIMES;
	     i++) { /* phase 0: receives from any source; messages of phase 1 may be between them in the queue */
		int tag = i % TAGS;
		MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
		int want = status.MPI_SOURCE * 10000 + tag * 100 + next[status.MPI_SOURCE][tag]++;
		CHECK(value == want && status.MPI_TAG == tag, "any source: %d, not %d; tag %d", value, want,
		      status.MPI_TAG);
	}
	for (int time = 0; time < TIMES; time++) /* phase 1: receives by source and tag, in reverse order */
		for (int source = n - 1; source > 0; source--)
			for (int tag = TAGS - 1; tag >= 0; tag--) {
				MPI_Recv(&value, 1, MPI_INT, source, TAGS + tag, MPI_COMM_WORLD, &status);
				CHECK(value == source * 10000 + tag * 100 + time, "from %d, tag %d: %d", source, tag,
				      value);
			}
	for (int i = 0; i < TAGS * TIMES; i++) /* phase 2: receives any tag of one source, in send order */
		for (int source = 1; source < n; source++) {
			MPI_Recv(&value, 1, MPI_INT, source, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
			int want = source * 10000 + i % TAGS * 100 + i / TAGS;
			CHECK(value == want && status.MPI_TAG == 2 * TAGS + i % TAGS,
			      "any tag of %d: %d, not %d; tag %d", source, value, want, status.MPI_TAG);
		}
	return check_end();
}
