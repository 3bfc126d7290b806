// The progress thread of a process.
#ifndef GOMPI_SERVE_H
#define GOMPI_SERVE_H

#include <stdbool.h>

// Before gompi_progress_run of a node.
void gompi_progress_open(void);
// The progress thread's loop: serves until gompi_progress_stop; sleeps while there is nothing. Called by one goroutine.
void gompi_progress_run(void);
void gompi_progress_stop(void);

#endif
