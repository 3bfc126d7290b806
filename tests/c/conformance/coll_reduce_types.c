/* Proves: MPI_Reduce, MPI_Allreduce and MPI_Scan give the same results as a serial computation for every predefined
 *   type and every operation allowed for it. Covers every root, with and without MPI_IN_PLACE; send buffers do not
 *   change. MPI-5.0 6.9, 6.11
 * np: 1 2 4
 * args: integer unsigned fortran_integer floating complex logical pair multi other
 * ref: mpich
 * ref-wrong: unsigned (MPICH takes MIN and MAX of unsigned types as signed)
 * timeout: 60
 */
#include "../types.h"

enum { COUNT = 9, MOST = 32 };

static char in[COUNT * MOST] __attribute__((aligned(16))), out[COUNT * MOST] __attribute__((aligned(16)));
static char want[COUNT * MOST] __attribute__((aligned(16))), other[COUNT * MOST] __attribute__((aligned(16)));

static void fill(const struct type *type, char *buffer, int rank) {
	uint64_t seed = rank * 77 + type->size;
	memset(buffer, 0, COUNT * MOST);
	for (int i = 0; i < COUNT; i++)
		type->set(buffer + i * type->size, check_random(&seed));
}

/* Computes the reduction over ranks 0 to last, and stores it to want. */
static void expect(const struct type *type, int op, int last) {
	fill(type, want, 0);
	for (int r = 1; r <= last; r++) {
		fill(type, other, r);
		for (int i = 0; i < COUNT; i++)
			type->apply(op, want + i * type->size, other + i * type->size);
	}
}

static void compare(const struct type *type, int op, const char *call, const char *got) {
	for (int i = 0; i < COUNT; i++)
		CHECK(type->equal(got + i * type->size, want + i * type->size),
		      "%s, %s of %s: element %d is %s, not %s", call, op_name[op], type->name, i,
		      types_show(type, got + i * type->size), types_show(type, want + i * type->size));
}

static void one(const struct type *type, int op) {
	MPI_Comm W = MPI_COMM_WORLD;
	MPI_Op handle = op_handle(op);
	MPI_Datatype T = type->handle;
	int n = check_size, me = check_rank, root = op % n;
	expect(type, op, n - 1);
	fill(type, in, me);
	memset(out, 0, sizeof out);
	MPI_Reduce(in, me == root ? out : NULL, COUNT, T, handle, root, W);
	if (me == root)
		compare(type, op, "reduce", out);
	root = (root + 1) % n;
	MPI_Reduce(me == root ? MPI_IN_PLACE : in, me == root ? in : NULL, COUNT, T, handle, root, W);
	if (me == root)
		compare(type, op, "reduce in place", in);
	fill(type, in, me);
	memset(out, 0, sizeof out);
	MPI_Allreduce(in, out, COUNT, T, handle, W);
	compare(type, op, "allreduce", out);
	fill(type, other, me);
	CHECK(memcmp(in, other, sizeof in) == 0, "%s of %s: the send buffer was changed", op_name[op], type->name);
	MPI_Allreduce(MPI_IN_PLACE, in, COUNT, T, handle, W);
	compare(type, op, "allreduce in place", in);
	expect(type, op, me);
	fill(type, in, me);
	memset(out, 0, sizeof out);
	MPI_Scan(in, out, COUNT, T, handle, W);
	compare(type, op, "scan", out);
	MPI_Scan(MPI_IN_PLACE, in, COUNT, T, handle, W);
	compare(type, op, "scan in place", in);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int only_unsigned = strcmp(check_arg, "unsigned") == 0;
	int classes = only_unsigned ? CLASS_INTEGER : types_class_named(check_arg);
	for (int t = 0; t < types_count(); t++)
		for (int op = 0; op < OP_REPLACE; op++) {
			if (!(types[t].class & classes) || !op_allowed(op, types[t].class))
				continue;
			if (only_unsigned == (types[t].is_unsigned && (op == OP_MIN || op == OP_MAX)))
				one(types + t, op);
		}
	return check_end();
}
