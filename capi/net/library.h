// Loading of libraries for networks at run time.
#ifndef GOMPI_NET_LIBRARY_H
#define GOMPI_NET_LIBRARY_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

// An environment variable that is set while a library starts, unless the user has set it.
struct gompi_library_setting {
	const char *name, *value;
};

enum { GOMPI_LIBRARY_SETTINGS = 8, GOMPI_LIBRARY_SIGNALS = 6 };
struct gompi_library_start {
	const struct gompi_library_setting *settings;
	int count;
	bool is_set_here[GOMPI_LIBRARY_SETTINGS];
	struct sigaction saved[GOMPI_LIBRARY_SIGNALS];
};

// Begins and ends a part of a library's start. Between the calls, the `count` settings are in the environment;
// afterwards, programs that the application starts do not inherit them. Also restores the handlers of signals that
// report errors: libraries (for example Debian's libinfinipath) may install handlers that run on the stack of the
// interrupted thread, which crashes a Go process.
void gompi_library_start_begin(struct gompi_library_start *s, const struct gompi_library_setting *settings, int count);
void gompi_library_start_end(const struct gompi_library_start *s);

// Loads a library. Returns its handle, or NULL; then stores the reason in *error. Keeps the environment and signal
// handlers as described above.
void *gompi_library_load(const char *name, const struct gompi_library_setting *settings, int count, const char **error);

// Returns true if the system has a network device of one of these classes (directories of /sys/class).
bool gompi_has_network_device(const char *const *classes, size_t count);

#pragma GCC visibility pop
#endif
