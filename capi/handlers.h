// The application's signal handlers while Go runs.
#ifndef GOMPI_HANDLERS_H
#define GOMPI_HANDLERS_H

#pragma GCC visibility push(hidden)

// Delivers the signals that this thread held back (gompi_thread.held). The thread is not in Go.
void gompi_release_signals(void);

// Called by MPI_Init: the signal of profilers is the one that Go's own threads cannot block, so its handler gets the flag that has it run on their alternate stacks.
void gompi_adapt_profiler(void);

#pragma GCC visibility pop
#endif
