// Records which MPI function the application has called, for the report on a hang.
#ifndef GOMPI_CALL_NAME_H
#define GOMPI_CALL_NAME_H

#include <stdbool.h>
#include <stdint.h>

// The innermost function implemented in Go that this thread has called and that has not returned; NULL outside of such
// a function. Functions implemented in C pass their name where they wait, so that short calls need not record it.
extern _Thread_local const char *gompi_call_name __attribute__((tls_model("initial-exec")));

// gompi_enter_call and gompi_leave_call bracket a call of a function implemented in Go. They nest, because a callback
// of the application may call MPI.
static inline const char *gompi_enter_call(const char *call) {
	const char *outer = gompi_call_name;
	gompi_call_name = call;
	return outer;
}

static inline void gompi_leave_call(const char *outer) { gompi_call_name = outer; }

// Address of the frame (with a frame pointer) from which this thread called Go; 0 if it is not inside Go. The launcher
// unwinds from this frame to find the caller, because it cannot unwind Go's frames.
extern _Thread_local uintptr_t gompi_go_caller_frame __attribute__((tls_model("initial-exec")));

// True if the current thread is one of the library's progress threads, which call no function of the application.
extern _Thread_local bool gompi_is_progress_thread __attribute__((tls_model("initial-exec")));

// Returns gompi_call_name. For Go, which cannot read thread-local variables of C.
const char *gompi_current_call(void);

#endif
