// Refusals that C code and the generated entry points hand to Go, where the error handlers are.
#include <stdarg.h>
#include <stdio.h>

#include "_cgo_export.h"
#include "refuse.h"
#include "z_entry.h"

int gompi_unsupported(const char *name, int kind, uintptr_t object) {
	int rc = gompi_unsupported_go((uintptr_t)name, kind, object);
	return rc < 0 ? gompi_raise(rc) : rc;
}

int gompi_wrong(struct gompi_verdict *v, int class, const char *text, ...) {
	va_list ap;
	va_start(ap, text);
	vsnprintf(v->text, sizeof v->text, text, ap);
	va_end(ap);
	return v->class = class;
}

int gompi_refuse(int class, const char *name, const char *text, int kind, uintptr_t object) {
	int rc = gompi_refused_go(class, (uintptr_t)name, (uintptr_t)text, kind, object);
	return rc < 0 ? gompi_raise(rc) : rc;
}
