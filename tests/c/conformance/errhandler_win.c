/* Proves: error handlers of windows work. The default is MPI_ERRORS_ARE_FATAL; MPI_ERRORS_RETURN returns the code. A
 *   failing call calls the user's function with the window and the code. The handler may be freed while it is set, and
 *   is called only for errors of its own window. MPI_Win_call_errhandler calls the function. Tests every window kind.
 *   MPI-5.0 9.3.2
 * np: 1 2
 * ref: mpich
 * timeout: 60
 */
#include "../windows.h"

static int calls, last_class;
static MPI_Win last_win;

static void handler(MPI_Win *win, int *code, ...) {
	calls++;
	last_win = *win;
	MPI_Error_class(*code, &last_class);
}

static void other_handler(MPI_Win *win, int *code, ...) {
	(void)win;
	(void)code;
	calls += 100;
}

static void body(struct window *w) {
	MPI_Errhandler at_first, mine, other, got;
	MPI_Win second;
	int *mem, value = 1;
	MPI_Win_get_errhandler(w->win, &at_first);
	CHECK(at_first == MPI_ERRORS_ARE_FATAL, "%s window: the handler at first is not MPI_ERRORS_ARE_FATAL", w->name);
	MPI_Errhandler_free(&at_first);
	MPI_Win_allocate(64, 4, MPI_INFO_NULL, w->comm, &mem, &second);
	MPI_Win_create_errhandler(handler, &mine);
	MPI_Win_create_errhandler(other_handler, &other);
	MPI_Win_set_errhandler(w->win, mine);
	MPI_Win_set_errhandler(second, other);
	MPI_Win_get_errhandler(w->win, &got);
	CHECK(got == mine, "%s window: the handler got is not the one set", w->name);
	MPI_Errhandler_free(&got);
	MPI_Errhandler_free(&mine);
	MPI_Errhandler_free(&other);
	CHECK(mine == MPI_ERRHANDLER_NULL, "the freed handler is not null");

	calls = 0;
	int code = MPI_Put(&value, 1, MPI_INT, w->n + 3, 0, 1, MPI_INT, w->win);
	CHECK(calls == 1 && last_class == MPI_ERR_RANK && last_win == w->win, "%s window: put: %d calls, class %d",
	      w->name, calls, last_class);
	CHECK(check_class(code) == MPI_ERR_RANK, "%s window: put returned %d behind the handler", w->name, code);
	code = MPI_Win_unlock(0, w->win);
	CHECK(calls == 2 && last_class == MPI_ERR_RMA_SYNC, "%s window: unlock: %d calls, class %d", w->name, calls,
	      last_class);
	CHECK_OK(MPI_Win_call_errhandler(w->win, MPI_ERR_OTHER));
	CHECK(calls == 3 && last_class == MPI_ERR_OTHER, "%s window: call: %d calls, class %d", w->name, calls,
	      last_class);
	MPI_Put(&value, 1, MPI_INT, -77, 0, 1, MPI_INT, second);
	CHECK(calls == 103, "the second window's handler: %d calls", calls);
	MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, -77, 0, 1, MPI_INT, w->win), MPI_ERR_RANK);
	CHECK(calls == 103, "%s window: the old handler was called", w->name);
	MPI_Win_free(&second);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(64, 4, MPI_COMM_WORLD, body);
	return check_end();
}
