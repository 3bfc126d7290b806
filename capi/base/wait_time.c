#include "base/wait_time.h"

#include <string.h>

#include "base/event.h"
#include "base/wait.h"

gompi_a32 gompi_wait_times_requested;
gompi_a64 gompi_wait_times[GOMPI_WAIT_KINDS];
gompi_a64 gompi_lock_event_ns;

static bool begins_with(const char *name, const char *prefix) { return strncmp(name, prefix, strlen(prefix)) == 0; }

static bool begins_with_any(const char *name, const char *const prefixes[], int n) {
	for (int i = 0; i < n; i++)
		if (begins_with(name, prefixes[i]))
			return true;
	return false;
}

// Returns the kind of a wait.
static enum gompi_wait_kind wait_kind(const struct gompi_wait_desc *desc) {
	static const char *const flush[] = {"Win_flush",    "Win_unlock",       "Put",  "Get",  "Accumulate",
					    "Fetch_and_op", "Compare_and_swap", "Rput", "Rget", "Raccumulate"},
				 *const message[] = {"Send",        "Bsend",      "Ssend",          "Rsend",
						     "Isend",       "Ibsend",     "Issend",         "Irsend",
						     "Recv",        "Mrecv",      "Irecv",          "Imrecv",
						     "Sendrecv",    "Isendrecv",  "Probe",          "Mprobe",
						     "Iprobe",      "Improbe",    "Wait",           "Test",
						     "Start",       "Pready",     "Parrived",       "Buffer_",
						     "Comm_detach", "Comm_flush", "Session_detach", "Session_flush",
						     "Cancel"},
				 *const pscw[] = {"Win_start", "Win_complete", "Win_post", "Win_wait"};
	const char *name = begins_with(desc->call, "MPI_") ? desc->call + strlen("MPI_") : desc->call;
	if (desc->reason == GOMPI_FOR_LOCK || begins_with(name, "Win_lock"))
		return WAIT_FOR_LOCK;
	if (begins_with(name, "Win_fence"))
		return WAIT_IN_FENCE;
	if (desc->reason == GOMPI_FOR_POST || desc->reason == GOMPI_FOR_COMPLETE ||
	    begins_with_any(name, pscw, sizeof pscw / sizeof *pscw))
		return WAIT_IN_PSCW;
	if (begins_with_any(name, flush, sizeof flush / sizeof *flush))
		return WAIT_IN_FLUSH;
	return begins_with_any(name, message, sizeof message / sizeof *message) ? WAIT_FOR_MESSAGE : WAIT_IN_ANOTHER;
}

void gompi_wait_time_add(const struct gompi_wait_desc *desc, int64_t ns) {
	if (desc->call == NULL || desc->call[0] == 0)
		return;
	gompi_add(&gompi_wait_times[wait_kind(desc)], (uint64_t)ns);
	if (desc->reason == GOMPI_FOR_LOCK && (uint64_t)ns >= gompi_load(&gompi_lock_event_ns))
		gompi_event_raise(EVENT_LOCK_WAITED, MPI_T_CB_REQUIRE_MPI_RESTRICTED, desc->object, (uint64_t)desc->tag,
				  (uint64_t)ns);
}
