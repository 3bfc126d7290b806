#include "error.h"

#include "_cgo_export.h"
#include "base/abi.h"

// In C, below no Go frame, so that handlers may call MPI or leave by longjmp.
int gompi_raise(int token) {
	uintptr_t function = 0, object = 0;
	int code = 0;
	int asked = gompi_take_handler(token, (uintptr_t)&function, (uintptr_t)&object, (uintptr_t)&code);
	// Error handler functions of communicators, windows, files and sessions differ in the type of the handle only,
	// and all of those are pointers.
	void *handle = (void *)object;
	if (function != 0)
		((void (*)(void **, int *, ...))function)(&handle, &code);
	return asked ? MPI_SUCCESS : code;
}

int gompi_raise_error(int class, const char *call, const char *text, int kind, uintptr_t object) {
	int rc = gompi_refused_go(class, (uintptr_t)call, (uintptr_t)text, kind, object);
	return rc < 0 ? gompi_raise(rc) : rc;
}

int gompi_unsupported(const char *name, int kind, uintptr_t object) {
	return gompi_raise_error(MPI_ERR_UNSUPPORTED_OPERATION, name, "not implemented", kind, object);
}
