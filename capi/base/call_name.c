#include "base/call_name.h"

_Thread_local const char *gompi_call_name __attribute__((tls_model("initial-exec")));

_Thread_local uintptr_t gompi_go_caller_frame __attribute__((tls_model("initial-exec")));

_Thread_local bool gompi_is_progress_thread __attribute__((tls_model("initial-exec")));

const char *gompi_current_call(void) { return gompi_call_name; }
