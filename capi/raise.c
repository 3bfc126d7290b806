// Running the user's error handlers: in C, below no Go frame, so that they may call MPI or leave by longjmp.
#include "z_entry.h"

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
