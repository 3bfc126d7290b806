// The progress thread of a process.
#ifndef GOMPI_PROGRESS_THREAD_H
#define GOMPI_PROGRESS_THREAD_H

#include <stdbool.h>

// Resets the state of the progress thread. Called before gompi_progress_run.
void gompi_progress_open(void);
// Runs the progress thread's loop until gompi_progress_stop, and sleeps while there is no work. Called by one
// goroutine.
void gompi_progress_run(void);
void gompi_progress_stop(void);

#endif
