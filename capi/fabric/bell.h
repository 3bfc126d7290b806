// The doorbell of the network's progress thread: what it sleeps on, and how other threads wake it. Its loop is in
// progress_thread.c.
#ifndef GOMPI_FABRIC_BELL_H
#define GOMPI_FABRIC_BELL_H

#include "base/order.h"

// The state of the progress thread.
enum { ROUNDS, ARMED, CALLED }; // CALLED: it is asked to check whether it can be armed

struct gompi_bell {
	gompi_a32 mode;
	gompi_a32 active; // 1 if an application thread has communicated since the progress thread last checked
	gompi_a32 looked; // 1 if an application thread has polled for arrivals since then
	int fd;
};

#pragma GCC visibility push(hidden)

extern struct gompi_bell gompi_bell;

// Creates the descriptor that it sleeps on. Returns 0 or an errno.
int gompi_bell_open(void);
// Sleeps for at most ns nanoseconds (-1: no limit) or until the doorbell is rung. If armed, arrivals end the sleep too.
// Returns true if something has arrived.
bool gompi_bell_sleep(bool armed, int64_t ns);

// Wakes an armed progress thread, which would not notice a new list entry. Call it after the entry is added.
void gompi_bell_stir(void);

// Wakes the progress thread for work that only one of its rounds does. Call it after the work is published.
void gompi_bell_call(void);

// gompi_bell_looked records that an application thread polls for arrivals; gompi_bell_asleep that it is about to sleep.
void gompi_bell_looked(void);
void gompi_bell_asleep(void);

#pragma GCC visibility pop
#endif
