/* Proves: copy functions of window attributes are never called. When an attribute is replaced or deleted, its delete
 *   function gets window, keyval, value and extra state. When the window is freed, the delete functions of all
 *   attributes run in reverse order of setting. A freed keyval stays valid for existing attributes. Two windows and two
 *   keyvals are independent. A freed keyval or a keyval of another object kind is MPI_ERR_KEYVAL. The delete function
 *   may use the window. Tests every window kind. MPI-5.0 7.7.3, 12.2.6
 * np: 1 2
 * ref: none (MPICH deletes attributes in the order in which they were set)
 * timeout: 60
 */
#include "../windows.h"

enum { MOST = 20 };
static struct {
	MPI_Win win;
	int keyval;
	void *value, *extra;
} calls[MOST];
static int called, copied;

static int copy_function(MPI_Win win, int keyval, void *extra, void *in, void *out, int *flag) {
	(void)win, (void)keyval, (void)extra, (void)in, (void)out, (void)flag;
	copied++;
	return MPI_SUCCESS;
}

static int delete_function(MPI_Win win, int keyval, void *value, void *extra) {
	char name[MPI_MAX_OBJECT_NAME];
	int len;
	CHECK_OK(MPI_Win_get_name(win, name, &len));
	if (called < MOST) {
		calls[called].win = win;
		calls[called].keyval = keyval;
		calls[called].value = value;
		calls[called].extra = extra;
	}
	called++;
	return MPI_SUCCESS;
}

static void was(int i, MPI_Win win, int keyval, void *value, void *extra, const char *what) {
	CHECK(i < called && calls[i].win == win && calls[i].keyval == keyval && calls[i].value == value &&
		      calls[i].extra == extra,
	      "%s: call %d of %d: keyval %d (want %d), value %p (want %p)", what, i, called, calls[i].keyval, keyval,
	      calls[i].value, value);
}

static void body(struct window *w) {
	int a, b, c, of_comm, flag, state_a, state_b, v[8];
	void *value, *mem;
	MPI_Win win, old;
	MPI_Win_create_keyval(copy_function, delete_function, &a, &state_a);
	MPI_Win_create_keyval(MPI_WIN_DUP_FN, delete_function, &b, &state_b);
	MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &c, NULL);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &of_comm, NULL);
	MPI_Win_allocate(64, 1, MPI_INFO_NULL, w->comm, &mem, &win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	called = copied = 0;
	CHECK_OK(MPI_Win_set_attr(win, a, &v[0]));
	CHECK_OK(MPI_Win_set_attr(win, c, &v[1]));
	CHECK_OK(MPI_Win_set_attr(win, b, &v[2]));
	CHECK_OK(MPI_Win_set_attr(w->win, a, &v[3]));
	CHECK(called == 0, "setting called %d delete functions", called);
	CHECK_OK(MPI_Win_set_attr(win, a, &v[4])); /* replaces the value; the order of deletion stays */
	CHECK(called == 1, "replacing called %d delete functions", called);
	was(0, win, a, &v[0], &state_a, "replace");
	CHECK_OK(MPI_Win_get_attr(win, a, &value, &flag));
	CHECK(flag && value == &v[4], "the value is not the new one");
	CHECK_OK(MPI_Win_get_attr(w->win, a, &value, &flag));
	CHECK(flag && value == &v[3], "the other window's value changed");
	CHECK_OK(MPI_Win_get_attr(w->win, b, &value, &flag));
	CHECK(!flag, "the other window has what was never set");
	CHECK_OK(MPI_Win_delete_attr(w->win, a));
	CHECK(called == 2, "deleting called %d delete functions", called);
	was(1, w->win, a, &v[3], &state_a, "delete");
	CHECK_OK(MPI_Win_get_attr(w->win, a, &value, &flag));
	CHECK(!flag, "the deleted attribute is there");
	CHECK_CLASS(MPI_Win_set_attr(win, of_comm, &v[5]), MPI_ERR_KEYVAL);
	CHECK_CLASS(MPI_Win_get_attr(win, of_comm, &value, &flag), MPI_ERR_KEYVAL);
	CHECK_CLASS(MPI_Win_set_attr(win, MPI_WIN_BASE, &v[5]), MPI_ERR_KEYVAL);
	CHECK_CLASS(MPI_Win_set_attr(win, MPI_KEYVAL_INVALID, &v[5]), MPI_ERR_KEYVAL);
	CHECK_CLASS(MPI_Win_delete_attr(win, MPI_WIN_SIZE), MPI_ERR_KEYVAL);
	int freed = b;
	CHECK_OK(MPI_Win_free_keyval(&b));
	CHECK(b == MPI_KEYVAL_INVALID, "the freed keyval is %d", b);
	CHECK_CLASS(MPI_Win_set_attr(win, freed, &v[5]), MPI_ERR_KEYVAL);
	CHECK(called == 2, "freeing a keyval called a delete function");
	old = win;
	CHECK_OK(MPI_Win_free(&win));
	CHECK(called == 4, "freeing the window called %d delete functions, not 2", called - 2);
	was(2, old, freed, &v[2], &state_b, "free: set last");
	was(3, old, a, &v[4], &state_a, "free: set first");
	CHECK(copied == 0, "%d copy functions were called", copied);
	CHECK_OK(MPI_Win_set_attr(w->win, a, &v[6])); /* windows_each deletes it when it frees the window */
	CHECK_OK(MPI_Win_free_keyval(&a));
	CHECK_OK(MPI_Win_free_keyval(&c));
	CHECK_OK(MPI_Comm_free_keyval(&of_comm));
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(64, 1, MPI_COMM_WORLD, body);
	return check_end();
}
