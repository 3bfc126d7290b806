// The application's signal handlers while Go runs.
#ifndef GOMPI_HANDLERS_H
#define GOMPI_HANDLERS_H

#pragma GCC visibility push(hidden)

// Delivers the signals that this thread held back (gompi_signals.held). The thread is not in Go.
void gompi_release_signals(void);

#pragma GCC visibility pop
#endif
