// Errors of calls on windows: their texts, and raising the errors.
#include <stdarg.h>
#include <stdio.h>

#include "base/error_status.h"
#include "win/error_detail.h"
#include "win/win.h"

int gompi_not_a_window(MPI_Win win, const char *call) {
	char text[80];
	snprintf(text, sizeof text,
		 win == MPI_WIN_NULL ? "the window is MPI_WIN_NULL" : "%#lx is not a window, or has been freed",
		 (unsigned long)(uintptr_t)win);
	return gompi_return_error(MPI_ERR_WIN, call, text, GOMPI_ON_NONE, 0);
}

void gompi_describe_op_error(struct gompi_error_status *v, bool dynamic, int class) {
	char detail[200];
	gompi_error_detail_text(class, detail, sizeof detail);
	if (class == MPI_ERR_PROC_ABORTED)
		gompi_set_error(v, class, "%s", gompi_failure_text());
	else
		gompi_set_error(v, class, "%s%s%s",
				class == MPI_ERR_RMA_RANGE && dynamic
					? "an operation accessed memory that its target has not attached"
					: "an operation failed at its target",
				detail[0] != 0 ? ": " : "", detail);
}

int gompi_win_raise_class(struct gompi_win *w, const char *call, int class) {
	struct gompi_error_status v;
	gompi_describe_op_error(&v, w->attached != NULL, class);
	return gompi_win_raise((MPI_Win)w->handle, call, &v);
}

int gompi_win_raise(MPI_Win win, const char *call, const struct gompi_error_status *v) {
	return gompi_return_error(v->class, call, v->text, GOMPI_ON_WIN, (uintptr_t)win);
}

int gompi_win_error(MPI_Win win, const char *call, int class, const char *format, ...) {
	struct gompi_error_status v = {.class = class};
	va_list ap;
	va_start(ap, format);
	vsnprintf(v.text, sizeof v.text, format, ap);
	va_end(ap);
	return gompi_win_raise(win, call, &v);
}
