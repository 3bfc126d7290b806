#include "base/call.h"

_Thread_local const char *gompi_call __attribute__((tls_model("initial-exec")));

_Thread_local uintptr_t gompi_crossing __attribute__((tls_model("initial-exec")));

_Thread_local bool gompi_progress_thread __attribute__((tls_model("initial-exec")));

const char *gompi_current_call(void) { return gompi_call; }
