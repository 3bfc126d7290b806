// The progress thread of the network: it makes progress while no other thread of the process does.
//
// It is either armed or makes rounds. If armed, it sleeps until something arrives. While application threads
// communicate, waking it would only occupy their core. So it then sleeps for one round at a time; at the end of a round
// it sends queued records, and handles arrivals if no other thread does. After a round without any activity it is armed
// again.
#ifndef GOMPI_FABRIC_PROGRESS_THREAD_H
#define GOMPI_FABRIC_PROGRESS_THREAD_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

// Runs the progress thread's loop until gompi_net_progress_stop. Called by one goroutine, on an OS thread of its own.
void gompi_net_progress_run(void);
// gompi_net_progress_open resets the state, before the first loop of a network. gompi_net_progress_stop ends the loop.
void gompi_net_progress_open(void);
void gompi_net_progress_stop(void);
#pragma GCC visibility pop
#endif
