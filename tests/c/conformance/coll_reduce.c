/* Proves: MPI_Reduce, MPI_Allreduce and MPI_Scan give the right results for 0 elements to 1 MB, to every root, with and
 *   without MPI_IN_PLACE, and for vector types. Nothing is written outside the result. MPI-5.0 6.9, 6.11
 * np: 1 2 5
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

enum { MOST = 130001 };

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	static const int counts[] = {0, 1, 7, 1000, 20000, MOST - 1};
	int n = check_size, me = check_rank;
	double *in = malloc(MOST * 2 * sizeof *in), *out = malloc(MOST * 2 * sizeof *out);
	MPI_Comm W = MPI_COMM_WORLD;
	for (int c = 0; c < 6; c++) {
		int count = counts[c], step = 1 + count / 2000;
		for (int root = 0; root < n; root++) {
			for (int i = 0; i <= count; i++)
				in[i] = (me + 1) * 0.5 + i, out[i] = -1;
			MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, root, W);
			for (int i = 0; i < count; i += step) {
				double sum = n * (n + 1) * 0.25 + (double)n * i;
				CHECK(out[i] == (me == root ? sum : -1), "reduce of %d to %d: [%d] is %g, not %g",
				      count, root, i, out[i], me == root ? sum : -1);
			}
			CHECK(out[count] == -1, "reduce of %d: one more was written", count);
		}
		for (int i = 0; i <= count; i++)
			in[i] = (me + 1) * 0.5 + i, out[i] = -1;
		MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_MAX, W);
		for (int i = 0; i < count; i += step)
			CHECK(out[i] == n * 0.5 + i, "allreduce of %d: [%d] is %g", count, i, out[i]);
		CHECK(out[count] == -1, "allreduce of %d: one more was written", count);
		MPI_Scan(in, out, count, MPI_DOUBLE, MPI_SUM, W);
		for (int i = 0; i < count; i += step) {
			double sum = (me + 1) * (me + 2) * 0.25 + (me + 1.0) * i;
			CHECK(out[i] == sum, "scan of %d: [%d] is %g, not %g", count, i, out[i], sum);
		}
		CHECK(out[count] == -1, "scan of %d: one more was written", count);
		/* elements 0, 2, 4, ...: `count` blocks of one element */
		MPI_Datatype vector;
		MPI_Type_vector(count, 1, 2, MPI_INT64_T, &vector);
		MPI_Type_commit(&vector);
		int64_t *a = (int64_t *)in, *b = (int64_t *)out;
		for (int i = 0; i < 2 * count; i++)
			a[i] = me + i, b[i] = -9;
		MPI_Bcast(a, 1, vector, 0, W); /* the even elements of a are now those of rank 0 */
		for (int i = 0; i < 2 * count; i += i % 2 ? 1 + step / 2 * 2 : 1)
			CHECK(a[i] == (i % 2 ? me : 0) + i, "vector of %d: [%d] is %lld", count, i, (long long)a[i]);
		MPI_Allreduce(MPI_IN_PLACE, a, 2 * count, MPI_INT64_T, MPI_SUM, W);
		for (int i = 0; i < 2 * count; i += step) {
			int64_t sum = (int64_t)n * i + (i % 2 ? n * (n - 1) / 2 : 0);
			CHECK(a[i] == sum, "allreduce in place of %d: [%d] is %lld, not %lld", 2 * count, i,
			      (long long)a[i], (long long)sum);
		}
		MPI_Type_free(&vector);
	}
	free(in);
	free(out);
	return check_end();
}
