/* Reported (pmodels/mpich issue 2268): the library implemented the atomic reads, MPI_Get_accumulate and
 * MPI_Fetch_and_op with MPI_NO_OP, by MPI_Get. They returned values that another rank had replaced only in part. The
 * library also required valid origin arguments, which are not significant with MPI_NO_OP.
 * Must hold: every value read was written as a whole, for elements of 8, 16 and 32 bytes and at an unaligned address,
 * with NULL and count 0 as the origin. MPI-5.0 12.3.4, 12.7.1
 * np: 2 4
 * args: int64 complex long_double_complex unaligned
 * ref: mpich (Open MPI 4.1.4 hangs if the element is not aligned)
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"
#include <complex.h>

enum { ROUNDS = 3000 };

static int is(const char *name) { return strcmp(check_arg, name) == 0; }

/* Writes to p a value whose parts all encode the number n. n == 0 gives zeros. */
static int make(void *p, int n) {
	if (is("complex"))
		*(double complex *)p = n + n * I;
	else if (is("long_double_complex"))
		*(long double complex *)p = n + n * (long double complex)I;
	else
		*(int64_t *)p = (int64_t)n << 32 | n;
	return n;
}

/* Returns the number that the value at p encodes, or -1 if its parts differ. */
static int number(const void *p) {
	if (is("complex")) {
		double complex z = *(const double complex *)p;
		return creal(z) == cimag(z) ? (int)creal(z) : -1;
	}
	if (is("long_double_complex")) {
		long double complex z = *(const long double complex *)p;
		return creall(z) == cimagl(z) ? (int)creall(z) : -1;
	}
	int64_t v = *(const int64_t *)p;
	return v >> 32 == (v & 0xffffffff) ? (int)(v >> 32) : -1;
}

static void body(struct window *w) {
	_Alignas(32) char value[32] = {0}, got[32];
	MPI_Datatype type = is("complex")               ? MPI_C_DOUBLE_COMPLEX
			    : is("long_double_complex") ? MPI_C_LONG_DOUBLE_COMPLEX
							: MPI_INT64_T;
	MPI_Aint at = is("unaligned") ? 61 : 0; /* the element at 61 spans two cache lines */
	memset(w->mem, 0, w->size);
	MPI_Barrier(w->comm);
	MPI_Win_lock_all(0, w->win);
	MPI_Win_sync(w->win);
	MPI_Barrier(w->comm);
	for (int i = 0; i < ROUNDS; i++) {
		if (w->rank == 1 || (w->rank == 0 && w->n > 2 && i % 2 == 0)) {
			make(value, 1 + i % 100000);
			CHECK_OK(MPI_Accumulate(value, 1, type, 0, window_at(w, 0, at), 1, type, MPI_REPLACE, w->win));
			if (i % 16 == 0)
				MPI_Win_flush(0, w->win);
			else
				MPI_Win_flush_local(0, w->win);
		} else {
			memset(got, 0xee, sizeof got);
			if (i % 2)
				CHECK_OK(MPI_Get_accumulate(NULL, 0, type, got, 1, type, 0, window_at(w, 0, at), 1,
							    type, MPI_NO_OP, w->win));
			else
				CHECK_OK(MPI_Fetch_and_op(NULL, got, type, 0, window_at(w, 0, at), MPI_NO_OP, w->win));
			MPI_Win_flush(0, w->win);
			CHECK(number(got) >= 0 && number(got) <= 100000, "%s: read a value that nobody wrote", w->name);
		}
	}
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(128, 1, MPI_COMM_WORLD, body);
	return check_end();
}
