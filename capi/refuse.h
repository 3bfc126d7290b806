// Refusing a call from C.
#ifndef GOMPI_REFUSE_H
#define GOMPI_REFUSE_H

#include <stdint.h>

// What a check has found to be wrong: an error class, and a text with numbers. Whether a call goes on is asked of the
// check and never of the code that an error handler has left, which may be MPI_SUCCESS: a check raises nothing, the
// call that asked for it does, as its last act.
struct gompi_verdict {
	int class;
	char text[400];
};

// gompi_wrong fills in a verdict and returns its class.
__attribute__((visibility("hidden"), cold, format(printf, 3, 4))) int gompi_wrong(struct gompi_verdict *v, int class,
										  const char *text, ...);

// gompi_refuse raises an error of the given class on object (kind is one of GOMPI_ON_, see z_entry.h) with a text that
// says what was wrong, and returns what the function called name shall return. Not for the fast path: it calls Go. Only
// as the last act of a call: see gompi_verdict.
__attribute__((visibility("hidden"), cold)) int gompi_refuse(int class, const char *name, const char *text, int kind,
							     uintptr_t object);

#endif
