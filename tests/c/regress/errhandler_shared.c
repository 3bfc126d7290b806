/* What went wrong: an error handler that two communicators share was freed too early, after MPI_Errhandler_free or
 * another call of MPI_Comm_get_errhandler.
 * Must hold: the handler works as long as an object uses it. New communicators inherit it. MPI-5.0 9.3
 * np: 1 4
 * nodes: 2
 * ref: none (MPI_LASTUSEDCODE of MPICH is not the last code)
 * timeout: 60
 */
#include "../check.h"

static int calls;
static MPI_Comm last;
static int lastcode;
static void h(MPI_Comm *c, int *code, ...) {
	calls++;
	last = *c;
	lastcode = *code;
}
static void wh(MPI_Win *w, int *code, ...) {
	(void)w, (void)code;
	calls += 100;
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Errhandler e, f, g;
	MPI_Comm d, s;
	int x;
	MPI_Status st;
	MPI_Comm_create_errhandler(h, &e);
	CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, e));
	CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, e));
	CHECK_OK(MPI_Errhandler_free(&e));
	MPI_Comm_get_errhandler(MPI_COMM_WORLD, &f);
	MPI_Errhandler_free(&f);
	MPI_Comm_get_errhandler(MPI_COMM_SELF, &g);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Send(&x, 1, MPI_INT, check_size + 5, 0, MPI_COMM_WORLD);
	CHECK(calls == 1 && last == MPI_COMM_WORLD, "world: %d", calls);
	MPI_Send(&x, 1, MPI_INT, 9, 0, MPI_COMM_SELF);
	CHECK(calls == 1, "self: %d", calls);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, g);
	MPI_Errhandler_free(&g);
	MPI_Send(&x, 1, MPI_INT, 9, 0, MPI_COMM_SELF);
	CHECK(calls == 2 && last == MPI_COMM_SELF, "self again: %d", calls);
	MPI_Comm_dup(MPI_COMM_WORLD, &d);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Send(&x, 1, MPI_INT, check_size + 5, 0, d);
	CHECK(calls == 3 && last == d, "dup: %d", calls);
	MPI_Comm_split(d, 0, 0, &s);
	MPI_Recv(&x, 1, MPI_INT, -77, 0, s, &st);
	CHECK(calls == 4 && last == s, "split: %d", calls);
	int cls, code;
	MPI_Add_error_class(&cls);
	MPI_Add_error_code(cls, &code);
	MPI_Add_error_string(code, "my code");
	CHECK_OK(MPI_Comm_call_errhandler(s, code));
	CHECK(calls == 5 && lastcode == code, "call_errhandler");
	char str[MPI_MAX_ERROR_STRING];
	int l, cc;
	MPI_Error_string(code, str, &l);
	MPI_Error_class(code, &cc);
	CHECK(!strcmp(str, "my code") && cc == cls && l == 7, "string %s class", str);
	MPI_Error_string(cls, str, &l);
	CHECK(l == 0 && !str[0], "class without a string: '%s'", str);
	int *lu, fl;
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &lu, &fl);
	CHECK(fl && *lu >= code, "lastusedcode %d %d", *lu, code);
	MPI_Win w;
	int *p;
	MPI_Errhandler we;
	MPI_Win_allocate(8, 4, MPI_INFO_NULL, s, &p, &w);
	MPI_Win_create_errhandler(wh, &we);
	MPI_Win_set_errhandler(w, we);
	MPI_Errhandler_free(&we);
	MPI_Win_fence(0, w);
	MPI_Put(&x, 1, MPI_INT, check_size + 9, 0, 1, MPI_INT, w);
	CHECK(calls == 105, "window %d", calls);
	MPI_Win_fence(0, w);
	MPI_Win_free(&w);
	MPI_Comm_free(&s);
	MPI_Comm_free(&d);
	return check_end();
}
