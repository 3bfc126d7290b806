// The progress thread of the network, which makes progress while no other thread of the process does.
//
// The thread is either armed or makes rounds. If armed, it sleeps until something arrives. While application threads
// communicate, it makes rounds instead, because a wake-up at each arrival would only occupy the application's cores. In
// a round, it sleeps for a fixed time, sends queued records, and handles arrivals if no other thread polls for them.
// After a round without any activity, it arms itself again.
#ifndef GOMPI_FABRIC_PROGRESS_THREAD_H
#define GOMPI_FABRIC_PROGRESS_THREAD_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

// Runs the progress thread's loop until gompi_net_progress_stop. One goroutine calls this function; it is locked to an
// OS thread.
void gompi_net_progress_run(void);
// Resets the state before the loop is run for a network. gompi_net_progress_stop ends the loop.
void gompi_net_progress_open(void);
void gompi_net_progress_stop(void);
#pragma GCC visibility pop
#endif
