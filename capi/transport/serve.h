// The progress thread of a process.
#ifndef GOMPI_SERVE_H
#define GOMPI_SERVE_H

#include <stdbool.h>

// Resets the state. Call it before gompi_progress_run on a node.
void gompi_progress_open(void);
// gompi_progress_run runs the progress thread's loop until gompi_progress_stop; it sleeps while there is no work.
// Called by one goroutine.
void gompi_progress_run(void);
void gompi_progress_stop(void);

#endif
