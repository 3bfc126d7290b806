// The doorbell of the network's progress thread: what it sleeps on, and how other threads wake it. Its loop is in
// progress_thread.c.
#ifndef GOMPI_FABRIC_DOORBELL_H
#define GOMPI_FABRIC_DOORBELL_H

#include "base/atomics.h"

// The state of the progress thread.
enum {
	PROGRESS_ROUNDS,
	PROGRESS_ARMED,
	PROGRESS_ARM_REQUESTED
}; // PROGRESS_ARM_REQUESTED: it is asked to check whether it can be armed

struct gompi_net_doorbell {
	gompi_a32 mode;
	gompi_a32 app_active; // 1 if an application thread has communicated since the progress thread last checked
	gompi_a32 app_polled; // 1 if an application thread has polled for arrivals since then
	int fd;
};

#pragma GCC visibility push(hidden)

extern struct gompi_net_doorbell gompi_net_doorbell;

// Creates the descriptor that it sleeps on. Returns 0 or an errno.
int gompi_net_doorbell_open(void);
// Sleeps for at most ns nanoseconds (-1: no limit) or until the doorbell is rung. If armed, arrivals end the sleep too.
// Returns true if something has arrived.
bool gompi_net_doorbell_sleep(bool armed, int64_t ns);

// Wakes an armed progress thread, which would not notice a new list entry. Call it after the entry is added.
void gompi_net_wake_if_armed(void);

// Wakes the progress thread for work that only one of its rounds does. Call it after the work is published.
void gompi_net_doorbell_ring(void);

// gompi_net_app_polled records that an application thread polls for arrivals; gompi_net_app_sleeps that it is about to
// sleep.
void gompi_net_app_polled(void);
void gompi_net_app_sleeps(void);

#pragma GCC visibility pop
#endif
