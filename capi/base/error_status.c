#include "base/error_status.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/node.h"
#include "base/go_callbacks.h"

int gompi_set_error(struct gompi_error_status *v, int class, const char *text, ...) {
	va_list ap;
	va_start(ap, text);
	vsnprintf(v->text, sizeof v->text, text, ap);
	va_end(ap);
	return v->class = class;
}

_Thread_local int gompi_class_in_status;

int gompi_return_error(int class, const char *name, const char *text, int kind, uintptr_t object) {
	return gompi_go_callbacks.raise_error(class, name, text, kind, object);
}

int gompi_null_argument_error(const char *name, const char *argument, int kind, uintptr_t object) {
	char text[100];
	snprintf(text, sizeof text, "%s is NULL", argument);
	return gompi_return_error(MPI_ERR_ARG, name, text, kind, object);
}
