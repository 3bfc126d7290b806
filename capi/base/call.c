#include "base/call.h"

#include "base/signals.h"

_Thread_local const char *gompi_call __attribute__((tls_model("initial-exec")));

_Thread_local bool gompi_progress_thread __attribute__((tls_model("initial-exec")));

_Thread_local struct gompi_signals gompi_signals
	__attribute__((tls_model("initial-exec"))) = {.depth = GOMPI_NOT_BIASED_TO};

void gompi_signals_come(void) {
	if (!gompi_signals_wait() && !gompi_load(&gompi_signals.in_go))
		gompi_up.take_signals();
}

const char *gompi_current_call(void) { return gompi_call; }
