// The doorbell of the network's progress thread: the descriptors on which the thread sleeps, and the functions by which
// other threads wake it. The thread's loop is in progress_thread.c.
#ifndef GOMPI_FABRIC_DOORBELL_H
#define GOMPI_FABRIC_DOORBELL_H

#include "base/atomics.h"

// The state of the progress thread (progress_thread.h). PROGRESS_ROUNDS: the thread makes rounds. PROGRESS_ARMED: it
// sleeps until something arrives. PROGRESS_ARM_REQUESTED: an application thread has requested that the thread end its
// rounds and arm itself.
enum { PROGRESS_ROUNDS, PROGRESS_ARMED, PROGRESS_ARM_REQUESTED };

struct gompi_net_doorbell {
	gompi_a32 mode;       // PROGRESS_*
	gompi_a32 app_active; // 1 if an application thread has communicated since the progress thread last checked
	gompi_a32 app_polled; // 1 if an application thread has polled for arrivals since that check
	int fd;               // eventfd on which the progress thread sleeps; -1 if not open
};

#pragma GCC visibility push(hidden)

extern struct gompi_net_doorbell gompi_net_doorbell;

// Creates the descriptor on which the progress thread sleeps. Returns 0 or an errno.
int gompi_net_doorbell_open(void);
// Sleeps until the doorbell is rung, for at most ns nanoseconds (-1: no limit). If armed is true, an arrival also ends
// the sleep. Returns true if something has arrived.
bool gompi_net_doorbell_sleep(bool armed, int64_t ns);

// Wakes the progress thread if it is armed. Called after work has been added to a list, because an armed progress
// thread no longer checks the lists.
void gompi_net_wake_if_armed(void);

// Wakes the progress thread for work that only the progress thread does. The caller has published the work.
void gompi_net_doorbell_ring(void);

// gompi_net_app_polled records that an application thread polls for arrivals. gompi_net_app_sleeps records that an
// application thread is about to sleep.
void gompi_net_app_polled(void);
void gompi_net_app_sleeps(void);

#pragma GCC visibility pop
#endif
