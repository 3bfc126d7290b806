// The progress thread of a process.
#ifndef GOMPI_PROGRESS_THREAD_H
#define GOMPI_PROGRESS_THREAD_H

#include <stdbool.h>

// Resets the state. Call it before gompi_progress_run on a node.
void gompi_progress_open(void);
// Runs the progress thread's loop until gompi_progress_stop; sleeps while there is no work. One goroutine calls it.
void gompi_progress_run(void);
void gompi_progress_stop(void);

#endif
