// Services: the work that other packages add to each wait.
#ifndef GOMPI_SERVICE_H
#define GOMPI_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/node.h"
#include "base/ranks.h"

struct gompi_wait_desc;

// The properties of a wait's object that a package reports for the wait record. Fields without a comment are as in
// struct gompi_wait_record.
struct gompi_wait_details {
	uint64_t id;
	int32_t member_count, stride, member[GOMPI_WAIT_RECORD_MEMBERS], pending_count;
	const char *operation; // name of the awaited MPI function; NULL if unknown
	uint64_t missing_bitmap[GOMPI_WAIT_MISSING_WORDS];
	char name[MPI_MAX_OBJECT_NAME];
};

// Stores the processes of r in t: member_count, stride, member.
void gompi_fill_wait_ranks(struct gompi_wait_details *t, const struct gompi_ranks *r);

// Work that a waiting thread does for its process, for example serving a ring. The function has_work is a quick check
// whether there is work. The function `serve` does the work without blocking, and returns true if there was work.
// Several threads may call these functions at the same time.
struct gompi_service {
	bool (*has_work)(void);
	bool (*serve)(void);
	// May be NULL. Called when a wait has lasted for GOMPI_LONG_WAIT_POLLS checks, and before each sleep. Must not
	// block.
	void (*on_long_wait)(void);
	// Called at the end of each wait in place of has_work and serve, for services whose has_work is expensive. If
	// on_wait_end is NULL, has_work and serve are called at the end of each wait.
	void (*on_wait_end)(void);
	// May be NULL. Returns the process number of member i of an object; -1 if i is out of range or the object
	// belongs to another package. Called only after a process has failed.
	int (*member_process)(uint64_t object, int i);
	// May be NULL. Returns true if the object has been revoked. Called only after a failure or revocation.
	bool (*is_revoked)(uint64_t object);
	// May be NULL. Describes the object of a wait that is about to sleep. Returns false if the object belongs to
	// another package.
	bool (*fill_details)(const struct gompi_wait_desc *what, struct gompi_wait_details *t);
	// May be NULL. Checks whether a sender has reserved an entry in the ring or inbox of a process on this node and
	// not filled it. Returns a nonzero number that identifies the entry, or 0 if all entries are filled. Reclaims
	// the entry of a failed sender if possible.
	uint64_t (*stuck_entry)(int process);
};

// Adds a service to every wait, also to waits in progress. Does nothing if it has been added before. The service must
// stay valid until the process ends.
void gompi_service_add(const struct gompi_service *s);

// Calls has_work of each service, and then `serve` if the service has work. Returns true if there was work.
bool gompi_serve(void);
// Calls `serve` of every service, without has_work, for a thread that is about to sleep. Returns true if there was
// work. The quick check has_work may miss work. For example, another thread may have removed the entry for which the
// doorbell was rung, but left further work to the next thread that calls `serve`.
bool gompi_serve_all(void);
// Serves the entries of senders that rang no doorbell because they saw this thread polling. Called at the end of a
// wait.
void gompi_serve_at_wait_end(void);

// Notifies the services that a wait has lasted for GOMPI_LONG_WAIT_POLLS checks, or is about to sleep.
void gompi_notify_long_wait(void);

// Calls member_process of one service after another, until a service has a result. The other functions call
// is_revoked, stuck_entry and fill_details in the same way. If no service has a result, gompi_services_member returns
// -1, gompi_services_revoked false, gompi_services_stuck_entry 0, and gompi_fill_wait_details changes nothing.
int gompi_services_member(uint64_t object, int i);
bool gompi_services_revoked(uint64_t object);
uint64_t gompi_services_stuck_entry(int process);
void gompi_fill_wait_details(const struct gompi_wait_desc *desc, struct gompi_wait_details *t);

#endif
