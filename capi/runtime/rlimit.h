// Checks the process limits (getrlimit(2)) that the Go runtime needs.
#ifndef GOMPI_RLIMIT_H
#define GOMPI_RLIMIT_H

// Ends the process with a one-line message if a limit is too low for the Go runtime. Must run before the runtime
// starts.
__attribute__((visibility("hidden"))) void gompi_check_limits(void);

#endif
