// Refusing a call: what a check has found, and the one way from there to the error handlers.
#ifndef GOMPI_VERDICT_H
#define GOMPI_VERDICT_H

#include <stdint.h>

#include "base/abi.h"

#pragma GCC visibility push(hidden)

// What a check has found to be wrong: an error class, and a text with numbers. Whether a call goes on is asked of the
// check and never of the code that an error handler has left, which may be MPI_SUCCESS: a check raises nothing, the
// call that asked for it does, as its last act.
struct gompi_verdict {
	int class;
	char text[400];
};

// Why waits end with MPI_ERR_PROC_ABORTED: who is lost. The text is this thread's until its next call.
__attribute__((cold)) const char *gompi_lost_text(void);

// The object that an error is raised on: the numbers of core/handle.Kind, compared in capi/layout.go.
enum {
	GOMPI_ON_NONE = 0,
	GOMPI_ON_COMM = 2,
	GOMPI_ON_WIN = 4,
	GOMPI_ON_FILE = 5,
	GOMPI_ON_SESSION = 6,
};

// gompi_error fills in a verdict and returns its class.
__attribute__((cold, format(printf, 3, 4))) int gompi_error(struct gompi_verdict *v, int class, const char *text, ...);

// gompi_refuse raises an error of the given class on object (kind is one of GOMPI_ON_) with a text that says what was
// wrong, and returns what the function called name shall return. Not for the fast path: it calls Go. Only as the last
// act of a call: see gompi_verdict.
__attribute__((cold)) int gompi_refuse(int class, const char *name, const char *text, int kind, uintptr_t object);

// gompi_no_place is gompi_refuse for a call that would store a result at NULL: MPI_ERR_ARG.
__attribute__((cold)) int gompi_no_place(const char *name, int kind, uintptr_t object);

#pragma GCC visibility pop
#endif
