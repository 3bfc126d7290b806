/* Proves for every predefined type and each operation that the standard allows for it: the plain kernel (datatype/op.h)
 * at any address, and the atomic kernel (datatype/atomic.h), give the same results as the serial operations of types.h,
 * also on overflow. They return the old values. No atomic update is lost if several threads update concurrently. */
#include "../unit.h"

enum { VALUES = 300, THREADS = 4, ADDS = 20000, MAX_ELEMENT_BYTES = 32 };

static uint64_t state = 7;

static void check_kernel(const struct type *t, int op, gompi_kernel plain, gompi_atomic_kernel atomic) {
	_Alignas(64) char a[MAX_ELEMENT_BYTES], b[MAX_ELEMENT_BYTES], want[MAX_ELEMENT_BYTES],
		at[MAX_ELEMENT_BYTES + 1], target[MAX_ELEMENT_BYTES], before[MAX_ELEMENT_BYTES];
	t->set(a, check_random(&state));
	t->set(b, check_random(&state));
	memcpy(want, a, t->size);
	t->apply(op, want, b);
	memcpy(at + 1, a, t->size); /* the plain kernel must accept an odd address */
	plain(b, at + 1, 1);
	memcpy(target, at + 1, t->size);
	CHECK(t->equal(target, want), "%s %s: %s, not %s", t->name, op_name[op], types_show(t, target),
	      types_show(t, want));
	for (int fetch = 0; atomic != NULL && fetch < 2; fetch++) {
		memcpy(target, a, t->size);
		atomic(op == OP_NO_OP ? NULL : b, target, fetch ? before : NULL, 1);
		CHECK(t->equal(target, want), "%s %s, atomic: %s, not %s", t->name, op_name[op], types_show(t, target),
		      types_show(t, want));
		if (fetch)
			CHECK(t->equal(before, a), "%s %s, atomic: %s was there, not %s", t->name, op_name[op],
			      types_show(t, before), types_show(t, a));
	}
}

static void check_all_kernels(void) {
	int kernels = 0, atomics = 0;
	for (int i = 0; i < unit_types_count(); i++) {
		const struct type *t = unit_type(i);
		for (int op = 0; op < OPS; op++) {
			gompi_kernel plain = gompi_op_kernel(op_handle(op), t->handle);
			gompi_atomic_kernel atomic = gompi_atomic_kernel_for(op_handle(op), t->handle);
			CHECK((plain != NULL) == (op_allowed(op, t->class) != 0), "%s %s: %s kernel", t->name,
			      op_name[op], plain ? "a" : "no");
			CHECK(plain != NULL || atomic == NULL, "%s %s: atomic only", t->name, op_name[op]);
			for (int k = 0; plain != NULL && k < VALUES; k++)
				check_kernel(t, op, plain, atomic);
			kernels += plain != NULL;
			atomics += atomic != NULL;
		}
	}
	CHECK(kernels > 300 && atomics > 200, "%d kernels, %d atomic ones", kernels, atomics);
}

/* --- Threads */

static _Alignas(64) int8_t sum8;
static int32_t sum32;
static int64_t sum64, swapped;
static double sum_double;

static void add_concurrently(int i) {
	(void)i;
	for (int k = 0; k < ADDS; k++) {
		gompi_atomic_kernel_for(MPI_SUM, MPI_INT8_T)(&(int8_t){1}, &sum8, NULL, 1);
		gompi_atomic_kernel_for(MPI_SUM, MPI_INT32_T)(&(int32_t){1}, &sum32, NULL, 1);
		gompi_atomic_kernel_for(MPI_SUM, MPI_INT64_T)(&(int64_t){1}, &sum64, NULL, 1);
		gompi_atomic_kernel_for(MPI_SUM, MPI_DOUBLE)(&(double){1}, &sum_double, NULL, 1);
		int64_t was = 0, next;
		do
			next = was + 1;
		while (!gompi_compare_and_swap_element(&swapped, &next, &(int64_t){was}, &was, 8));
	}
}

int main(void) {
	unit_types();
	check_all_kernels();
	unit_threads(THREADS, add_concurrently);
	const int64_t want = THREADS * ADDS;
	CHECK(sum8 == (int8_t)want && sum32 == want && sum64 == want && sum_double == (double)want && swapped == want,
	      "%d, %d, %lld, %g and %lld, not %lld", sum8, sum32, (long long)sum64, sum_double, (long long)swapped,
	      (long long)want);
	return unit_end();
}
