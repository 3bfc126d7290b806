/* Proves: a started collective still completes after its communicator, datatype and operation are freed. The
 *   user-defined function gets elements of a datatype with gaps, in the order of ranks. MPI-5.0 6.12, 6.4.3, 6.9.5
 * np: 1 2 3 5
 * ref: none (MPICH 4.0 loses the communicator)
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#include "../check.h"

/* Composes the maps x -> ax + b. Each element has two longs, a and b, and a gap. */
static void join(void *in, void *inout, int *n, MPI_Datatype *type) {
	long *x = in, *y = inout;
	(void)type;
	for (int i = 0; i < *n; i++, x += 3, y += 3)
		y[1] = x[0] * y[1] + x[1], y[0] *= x[0]; /* the new map y applies the old y, then x */
}

/* Starts collectives whose communicator, datatype and operation are freed before the collectives complete. */
static void with_what_is_freed(int count) {
	MPI_Comm c;
	MPI_Datatype pair, gap;
	MPI_Op op;
	MPI_Request r[2];
	long *in = malloc(((size_t)count + 1) * 3 * sizeof *in), *out = malloc(((size_t)count + 1) * 3 * sizeof *out);
	CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &c));
	CHECK_OK(MPI_Type_contiguous(2, MPI_LONG, &pair));
	CHECK_OK(MPI_Type_create_resized(pair, 0, 3 * sizeof(long), &gap));
	CHECK_OK(MPI_Type_commit(&gap));
	CHECK_OK(MPI_Op_create(join, 0, &op));
	for (int i = 0; i < count; i++)
		in[3 * i] = check_rank + 2, in[3 * i + 1] = i + check_rank, out[3 * i + 2] = -7;
	CHECK_OK(MPI_Iallreduce(in, out, count, gap, op, c, &r[0]));
	CHECK_OK(MPI_Ibarrier(c, &r[1]));
	CHECK_OK(MPI_Comm_free(&c));
	CHECK_OK(MPI_Type_free(&pair));
	CHECK_OK(MPI_Op_free(&op));
	CHECK_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
	CHECK_OK(MPI_Type_free(&gap));
	for (int i = 0; i < count; i++) {
		long by = 1, and = 0;
		for (int p = check_size - 1; p >= 0; p--)
			and = (p + 2) * and+i + p, by *= p + 2;
		CHECK(out[3 * i] == by && out[3 * i + 1] == and&&out[3 * i + 2] == -7,
		      "element %d of %d is %ld, %ld, behind it %ld, not %ld, %ld, -7", i, count, out[3 * i],
		      out[3 * i + 1], out[3 * i + 2], by, and);
	}
	free(in);
	free(out);
}

int main(int argc, char **argv) {
	static const int counts[] = {0, 1, 7, 100, 127, 128, 129, 1000, 50000};
	check_begin(&argc, &argv);
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
		with_what_is_freed(counts[i]);
	return check_end();
}
