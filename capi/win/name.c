// The names of windows (MPI-5.0 7.8).
#include "attribute/name.h"
#include "base/state.h"
#include "win/win.h"
#include "win/z_calls.h"

int gompi_win_name(MPI_Win win, char *name) {
	struct gompi_win *w = gompi_win_get(win);
	// acquire: pairs with the release in gompi_attributes_make
	return w == NULL ? 0 : gompi_name_get(gompi_load_acquire(&w->attributes), GOMPI_DEFAULT_NAME(""), name);
}

int gompi_win_set_name(MPI_Win win, const char *win_name) {
	struct gompi_error_status v;
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_set_name");
	int rc = gompi_name_set(&v, gompi_attributes_ensure(&w->attributes), win_name);
	return rc == MPI_SUCCESS ? rc : gompi_win_raise(win, "MPI_Win_set_name", &v);
}
GOMPI_ENTRY(MPI_Win_set_name, gompi_win_set_name);

int gompi_win_get_name(MPI_Win win, char *win_name, int *resultlen) {
	static const char call[] = "MPI_Win_get_name";
	bool null = win == MPI_WIN_NULL && gompi_load(&gompi_state.running);
	bool has_outputs = win_name != NULL && resultlen != NULL;
	if (gompi_win_get(win) == NULL && !(null && has_outputs))
		return gompi_not_a_window(win, call);
	if (!has_outputs)
		return gompi_null_argument_error(call, "win_name or resultlen", GOMPI_ON_WIN, (uintptr_t)win);
	*resultlen = null ? gompi_name_get(NULL, GOMPI_DEFAULT_NAME("MPI_WIN_NULL"), win_name)
			  : gompi_win_name(win, win_name);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Win_get_name, gompi_win_get_name);
