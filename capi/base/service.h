// Services: the work that other packages add to each wait.
#ifndef GOMPI_SERVICE_H
#define GOMPI_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/node.h"
#include "base/ranks.h"

struct gompi_waiting;

// What a package reports about the object of a wait (struct gompi_wait_record).
struct gompi_told {
	uint64_t id;
	int32_t members, stride, member[GOMPI_TOLD_MEMBERS], lacks;
	const char *operation; // NULL: none
	uint64_t missing[GOMPI_TOLD_MISSING];
	char name[MPI_MAX_OBJECT_NAME];
};

// Stores the processes of r in t: members, stride, member.
void gompi_tell_ranks(struct gompi_told *t, const struct gompi_ranks *r);

// Work that a waiting thread does for its process, for example serving a ring. ready is a quick check whether there is
// work. serve does the work without blocking, and returns whether there was any. Several threads may call both at the
// same time.
struct gompi_service {
	bool (*ready)(void);
	bool (*serve)(void);
	// NULL, or called when a wait has lasted for GOMPI_LASTING_LOOKS checks, and before each sleep. Must not block.
	void (*lasts)(void);
	// NULL, or called at the end of each wait, instead of the default ready and serve; for services whose check is
	// expensive
	void (*ends)(void);
	// NULL, or returns the number of the process of member i of an object; -1 if i is out of range or the object
	// belongs to another package. Called once a process has failed.
	int (*member)(uint64_t object, int i);
	// NULL, or describes the object of a wait that is about to sleep. Returns false if the object belongs to
	// another package.
	bool (*tell)(const struct gompi_waiting *what, struct gompi_told *t);
	// NULL, or returns a nonzero number that identifies an entry in the memory of a process of the node which a
	// sender has reserved and not filled; 0 if there is none. Reclaims the entry of a dead sender if possible.
	uint64_t (*stuck)(int process);
};

// Makes s part of every wait from now on. The caller calls it before the first wait, and keeps *s alive permanently.
void gompi_service_add(const struct gompi_service *s);

// Serves the services that are ready, once. Returns true if there was work.
bool gompi_serve(void);
// Calls every service without the quick check, for a thread that is about to sleep. The quick check may miss work: a
// thread that only started an operation may have consumed the entry that the doorbell announced, and left the rest of
// the work to the next thread that serves. Returns true if there was work.
bool gompi_serve_all(void);
// Serves, at the end of a wait, the senders that rang no doorbell because they saw this thread polling.
void gompi_serve_last(void);

// Notifies the services that a wait lasts.
void gompi_serve_lasts(void);

// Returns the first answer of any service (see struct gompi_service); -1 or 0 if no service has one.
int gompi_services_member(uint64_t object, int i);
uint64_t gompi_services_stuck(int process);
void gompi_services_tell(const struct gompi_waiting *what, struct gompi_told *t);

#endif
