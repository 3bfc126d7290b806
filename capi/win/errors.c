// Errors of calls on windows: their texts, and raising the errors.
#include <stdarg.h>
#include <stdio.h>

#include "base/verdict.h"
#include "win/why.h"
#include "win/win.h"

int gompi_not_a_window(MPI_Win win, const char *call) {
	char text[80];
	snprintf(text, sizeof text,
		 win == MPI_WIN_NULL ? "the window is MPI_WIN_NULL" : "%#lx is not a window, or has been freed",
		 (unsigned long)(uintptr_t)win);
	return gompi_refuse(MPI_ERR_WIN, call, text, GOMPI_ON_NONE, 0);
}

void gompi_operation_verdict(struct gompi_verdict *v, bool dynamic, int class) {
	char why[200];
	gompi_reason_text(class, why, sizeof why);
	if (class == MPI_ERR_PROC_ABORTED)
		gompi_error(v, class, "%s", gompi_lost_text());
	else
		gompi_error(v, class, "%s%s%s",
			    class == MPI_ERR_RMA_RANGE && dynamic
				    ? "an operation accessed bytes that its target has not attached"
				    : "an operation failed at its target",
			    why[0] != 0 ? ": " : "", why);
}

int gompi_wait_error(struct gompi_win *w, const char *call, int class) {
	struct gompi_verdict v;
	gompi_operation_verdict(&v, w->attached != NULL, class);
	return gompi_win_refuse((MPI_Win)w->handle, call, &v);
}

int gompi_win_refuse(MPI_Win win, const char *call, const struct gompi_verdict *v) {
	return gompi_refuse(v->class, call, v->text, GOMPI_ON_WIN, (uintptr_t)win);
}

int gompi_win_error(MPI_Win win, const char *call, int class, const char *format, ...) {
	struct gompi_verdict v = {.class = class};
	va_list ap;
	va_start(ap, format);
	vsnprintf(v.text, sizeof v.text, format, ap);
	va_end(ap);
	return gompi_win_refuse(win, call, &v);
}
