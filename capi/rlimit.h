// Limits of the process (getrlimit(2)) that the Go runtime cannot live with.
#ifndef GOMPI_RLIMIT_H
#define GOMPI_RLIMIT_H

// Before the runtime starts: ends the process with one line if it could not.
__attribute__((visibility("hidden"))) void gompi_check_limits(void);

#endif
