#include "base/verdict.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/node.h"
#include "base/up.h"

int gompi_error(struct gompi_verdict *v, int class, const char *text, ...) {
	va_list ap;
	va_start(ap, text);
	vsnprintf(v->text, sizeof v->text, text, ap);
	va_end(ap);
	return v->class = class;
}

int gompi_refuse(int class, const char *name, const char *text, int kind, uintptr_t object) {
	return gompi_up.raise(class, name, text, kind, object);
}

int gompi_no_place(const char *name, int kind, uintptr_t object) {
	return gompi_refuse(MPI_ERR_ARG, name, "a result pointer is NULL", kind, object);
}
