// Services: what the rooms add to each wait.
#ifndef GOMPI_SERVICE_H
#define GOMPI_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/node.h"
#include "base/ranks.h"

struct gompi_waiting;

// What a room tells of the object of a wait (struct gompi_wait_record).
struct gompi_told {
	uint64_t id;
	int32_t members, stride, member[GOMPI_TOLD_MEMBERS], lacks;
	const char *operation; // NULL: none
	uint64_t missing[GOMPI_TOLD_MISSING];
	char name[MPI_MAX_OBJECT_NAME];
};

// Tells the processes that a list has.
void gompi_tell_ranks(struct gompi_told *t, const struct gompi_ranks *r);

// Work that a thread which waits does for its process: serving a ring, say. ready is a quick look whether there is any;
// serve does it, without waiting for anything, and says whether there was something to do. Both may be called by
// several threads at once.
struct gompi_service {
	bool (*ready)(void);
	bool (*serve)(void);
	void (*lasts)(void); // NULL, or called by each wait that lasts, once and before it sleeps; must not block
	void (*ends)(void);  // NULL, or called by a wait that has ended, which else serves once more; if a look is dear
	// Once a process is lost; NULL: there is nothing to tell. The number of the process of member i of an object,
	// -1: it has not so many, or is none of this room's.
	int (*member)(uint64_t object, int i);
	// NULL, or tells of the object of a wait that is about to sleep. false: it is none of this room's.
	bool (*tell)(const struct gompi_waiting *what, struct gompi_told *t);
	// A place of a process of the node that has been taken and not filled, as a number that tells it from others;
	// 0: there is none. What a dead process has left there is given back if that is possible.
	uint64_t (*stuck)(int process);
};

// Makes s part of every wait from now on. Before the first wait; the service stays where it is.
void gompi_service_add(const struct gompi_service *s);

// Serves once what is ready. Returns true if there was anything.
bool gompi_serve(void);
// The same for who goes to sleep: asks every service, since what a look sees is not all. A thread that only started
// something may have taken out what somebody rang for, and left the rest of it to who comes for it.
bool gompi_serve_all(void);
// Serves whoever rang no doorbell, since he saw a thread that polls, which does so no longer.
void gompi_serve_last(void);

// Tells the services that a wait lasts.
void gompi_serve_lasts(void);

// The first answer of a service, see there; -1 and 0: none has one.
int gompi_services_member(uint64_t object, int i);
uint64_t gompi_services_stuck(int process);
void gompi_services_tell(const struct gompi_waiting *what, struct gompi_told *t);

#endif
