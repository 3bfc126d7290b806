// Events that tools observe (MPI-5.0 15.3.8). The code that detects an event raises it. The observer, which capi/tool
// sets, calls the callbacks of tools.
#ifndef GOMPI_EVENT_H
#define GOMPI_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"
#include "base/atomics.h"

// The values of each event are listed in their order.
enum gompi_event_kind {
	EVENT_WINDOW_CREATED,  // handle of the window, bytes of this process' memory, flavor
	EVENT_WINDOW_FREED,    // handle of the window
	EVENT_LOCK_WAITED,     // handle of the window, rank of the locked member, nanoseconds
	EVENT_PROCESS_FAILED,  // number of the process, enum gompi_failure_cause
	EVENT_CONNECTION_LOST, // number of the process
	EVENT_CONFLICT_FOUND,  // kind of the object (GOMPI_ON_), handle of the object
	GOMPI_EVENT_KINDS
};
enum { GOMPI_EVENT_VALUES = 3 };

struct gompi_event {
	enum gompi_event_kind kind;
	// What the callbacks of tools must satisfy where the event was raised (MPI_T_cb_safety). MPI_T_CB_REQUIRE_NONE:
	// the thread executes an MPI call of the application, which permits any other MPI call.
	// MPI_T_CB_REQUIRE_MPI_RESTRICTED: the MPI call is not in such a state. MPI_T_CB_REQUIRE_THREAD_SAFE: the
	// thread may be a progress thread. The thread holds no lock except lock_mu (transport/stream.h).
	int safety;
	uint64_t value[GOMPI_EVENT_VALUES];
};

#pragma GCC visibility push(hidden)

// Bit k is 1 if a tool observes events of kind k.
extern gompi_a32 gompi_events_observed;
// Passes an event to the observer. Calls nothing if no observer has been set.
__attribute__((cold)) void gompi_event_notify(const struct gompi_event *e);
// Sets the function to which events are passed.
void gompi_event_set_observer(void (*observer)(const struct gompi_event *e));

#pragma GCC visibility pop

static inline bool gompi_event_is_observed(enum gompi_event_kind kind) {
	return __builtin_expect((gompi_load(&gompi_events_observed) >> kind & 1) != 0, 0);
}

// Raises an event if a tool observes events of its kind.
static inline void gompi_event_raise(enum gompi_event_kind kind, int safety, uint64_t first, uint64_t second,
				     uint64_t third) {
	if (gompi_event_is_observed(kind))
		gompi_event_notify(&(struct gompi_event){kind, safety, {first, second, third}});
}

#endif
