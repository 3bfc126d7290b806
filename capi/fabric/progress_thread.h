// The progress thread of the network: the thread of a process that sees to the network while no other does.
//
// It is armed, or it makes rounds. Armed it sleeps until something arrives. While threads of the application
// communicate it would only take the core from them, so it sleeps for a round at a time, and then sends what lies there
// and takes what has arrived if nobody else does. A round in which nothing happened is the last: it is armed again.
#ifndef GOMPI_FABRIC_PROGRESS_THREAD_H
#define GOMPI_FABRIC_PROGRESS_THREAD_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

// The progress thread's loop, until gompi_net_progress_stop. Called by one goroutine, on a thread of its own.
void gompi_net_progress_run(void);
// Before the first of a network.
void gompi_net_progress_open(void);
void gompi_net_progress_stop(void);
#pragma GCC visibility pop
#endif
