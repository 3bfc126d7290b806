// What the progress thread of the network sleeps on, and what others tell it by. Its loop is in progress_thread.c.
#ifndef GOMPI_FABRIC_BELL_H
#define GOMPI_FABRIC_BELL_H

#include "base/order.h"

// What the progress thread does.
enum { ROUNDS, ARMED, CALLED }; // CALLED: it shall look whether it can be armed

struct gompi_bell {
	gompi_a32 mode;
	gompi_a32 active; // a thread of the application has communicated since the progress thread has looked
	gompi_a32 looked; // and has taken what had arrived
	int fd;
};

#pragma GCC visibility push(hidden)

extern struct gompi_bell gompi_bell;

// Makes what it sleeps on; 0 or an errno.
int gompi_bell_open(void);
// Sleeps for so many nanoseconds (-1: without end) or until the bell, and, if armed, until something arrives. Returns
// true if that was it.
bool gompi_bell_sleep(bool armed, int64_t ns);

// There is something on a list that an armed progress thread would not see. After it has been put there.
void gompi_bell_stir(void);

// There is something that only a round sees to. After it has been said where.
void gompi_bell_call(void);

// A thread of the application looks for what has arrived; it is about to sleep.
void gompi_bell_looked(void);
void gompi_bell_asleep(void);

#pragma GCC visibility pop
#endif
