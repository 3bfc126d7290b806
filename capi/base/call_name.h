// Keeps the name of the MPI function that each thread executes, for the report on a hang.
#ifndef GOMPI_CALL_NAME_H
#define GOMPI_CALL_NAME_H

#include <stdbool.h>
#include <stdint.h>

// Name of the innermost MPI function implemented in Go that this thread executes; NULL if it executes none. MPI
// functions implemented in C pass their name to a wait instead (struct gompi_wait_desc), so that short calls need not
// record it.
extern _Thread_local const char *gompi_call_name __attribute__((tls_model("initial-exec")));

// gompi_enter_call and gompi_leave_call bracket a call of a function implemented in Go. They nest, because a callback
// of the application may call MPI: gompi_enter_call returns the previous name, which gompi_leave_call restores.
static inline const char *gompi_enter_call(const char *call) {
	const char *outer = gompi_call_name;
	gompi_call_name = call;
	return outer;
}

static inline void gompi_leave_call(const char *outer) { gompi_call_name = outer; }

// Address of the stack frame from which this thread called Go; 0 if the thread is not inside Go. The launcher starts to
// unwind at this frame, by frame pointers, because it cannot unwind Go's frames.
extern _Thread_local uintptr_t gompi_go_caller_frame __attribute__((tls_model("initial-exec")));

// True if the current thread is one of the library's progress threads, which call no function of the application.
extern _Thread_local bool gompi_is_progress_thread __attribute__((tls_model("initial-exec")));

// Returns gompi_call_name. For Go, which cannot read thread-local variables of C.
const char *gompi_current_call(void);

#endif
