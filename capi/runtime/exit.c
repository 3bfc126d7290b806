#include "runtime/exit.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/go_callbacks.h"

static gompi_ai32 registered_pid; // the process in which the function is registered; 0 if none

// Calls Go, except in a child of fork(2), which inherits the registration but not Go's threads.

static void at_exit(void) {
	if (gompi_load(&registered_pid) == (int32_t)getpid())
		gompi_go_callbacks.at_exit();
}

void gompi_register_exit(void) {
	int32_t none = 0;
	if (gompi_load(&registered_pid) == 0 && gompi_cas_strong(&registered_pid, &none, (int32_t)getpid()))
		atexit(at_exit);
}
