// Error handlers of windows (MPI-5.0 9.3.2 and 9.5).
#include "base/error_status.h"
#include "win/win.h"
#include "win/z_calls.h"

int gompi_win_call_errhandler(MPI_Win win, int errorcode) {
	static const char call[] = "MPI_Win_call_errhandler";
	const struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, call);
	return gompi_errhandler_call(&w->errhandler, call, errorcode, GOMPI_ON_WIN, (uintptr_t)win);
}
GOMPI_ENTRY(MPI_Win_call_errhandler, gompi_win_call_errhandler);

int gompi_win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler) {
	static const char call[] = "MPI_Win_set_errhandler";
	struct gompi_error_status v;
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, call);
	if (gompi_errhandler_attach(&v, GOMPI_ON_WIN, &w->errhandler, errhandler) != MPI_SUCCESS)
		return gompi_win_raise(win, call, &v);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Win_set_errhandler, gompi_win_set_errhandler);

int gompi_win_get_errhandler(MPI_Win win, MPI_Errhandler *errhandler) {
	static const char call[] = "MPI_Win_get_errhandler";
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, call);
	if (errhandler == NULL)
		return gompi_null_argument_error(call, "errhandler", GOMPI_ON_WIN, (uintptr_t)win);
	*errhandler = (MPI_Errhandler)gompi_errhandler_acquire(&w->errhandler);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Win_get_errhandler, gompi_win_get_errhandler);
