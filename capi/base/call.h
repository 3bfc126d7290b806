// Which MPI function the application is in, for the report on a hang.
#ifndef GOMPI_CALL_H
#define GOMPI_CALL_H

#include <stdbool.h>
#include <stdint.h>

// The innermost function implemented in Go that this thread has called and that has not returned; NULL: none. What is
// implemented in C names itself where it waits, so that the quick calls need not.
extern _Thread_local const char *gompi_call __attribute__((tls_model("initial-exec")));

// Around a call of such a function. A function that it calls back may call MPI too.
static inline const char *gompi_enter(const char *call) {
	const char *outer = gompi_call;
	gompi_call = call;
	return outer;
}

static inline void gompi_leave(const char *outer) { gompi_call = outer; }

// The frame, with a frame pointer, by which this thread has called Go last and not returned; 0: it has not. A launcher
// that looks for the place of a call goes on from there, since it does not understand Go's frames.
extern _Thread_local uintptr_t gompi_crossing __attribute__((tls_model("initial-exec")));

// Returns true if this thread is the library's own, which makes progress: it calls no function of the application.
extern _Thread_local bool gompi_progress_thread __attribute__((tls_model("initial-exec")));

// gompi_call for Go, which cannot read what each thread has of its own.
const char *gompi_current_call(void);

#endif
