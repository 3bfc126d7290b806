// The agent of a process.
#ifndef GOMPI_SERVE_H
#define GOMPI_SERVE_H

#include <stdbool.h>

// The agent's loop: serves until gompi_agent_stop; sleeps while there is nothing. Called by one goroutine.
void gompi_agent_run(void);
void gompi_agent_stop(void);

#endif
