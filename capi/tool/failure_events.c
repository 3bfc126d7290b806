// The events of failed processes. A service of waits and of progress threads compares the failures that the node's
// memory lists with those for which it has raised an event.
#include "base/failure.h"
#include "base/service.h"
#include "message/inbox.h"
#include "tool/tool.h"

// The failures for which an event has been raised, and those from before the first observer. The thread that holds
// is_raising accesses them.
static struct {
	uint64_t local[GOMPI_MAX_NODE_PROCESSES / 64]; // bit i: process i of this node
	int remote_count;                              // entries of the node header's list of failed processes
} raised;
static atomic_flag is_raising = ATOMIC_FLAG_INIT;
static gompi_a32 failures_raised; // failed_count of the node header at the last comparison

static uint32_t failed_count(void) {
	struct gompi_node_header *h = gompi_node_header();
	return h == NULL ? 0 : gompi_load_acquire(&h->failed_count);
}

static void notify_failed(bool is_silent, int process, uint32_t cause) {
	if (!is_silent)
		gompi_event_raise(EVENT_PROCESS_FAILED, MPI_T_CB_REQUIRE_THREAD_SAFE, (uint64_t)process, cause, 0);
}

// Raises an event for each failed process of this node that has not been raised, unless is_silent.
static void raise_local(bool is_silent) {
	for (int process = 0; process < gompi_processes_count(gompi_node.processes); process++) {
		const int i = gompi_local_index(process);
		if (i < 0)
			continue;
		const uint64_t bit = (uint64_t)1 << i % 64;
		if (gompi_load(&gompi_cell(i)->state) != GOMPI_STATE_FAILED) {
			raised.local[i / 64] &= ~bit; // another process may use the cell of a failed one
		} else if (!(raised.local[i / 64] & bit)) {
			raised.local[i / 64] |= bit;
			notify_failed(is_silent, process, GOMPI_FAILED_ENDED);
		}
	}
}

// Raises an event for each new entry of the list of failed processes, except those of this node, unless is_silent.
static void raise_remote(bool is_silent) {
	for (; raised.remote_count < GOMPI_FAILED_ENTRIES; raised.remote_count++) {
		struct gompi_failed_process *f = &gompi_node_header()->failed_processes[raised.remote_count];
		const uint32_t rank = gompi_load(&f->rank), cause = gompi_load_seq_cst(&f->cause);
		if (rank == 0 || cause == 0) // an entry is free, or is counted in failed_count when it is complete
			return;
		if (gompi_local_index((int)rank - 1) < 0)
			notify_failed(is_silent, (int)rank - 1, cause);
	}
}

static void raise_failures(bool is_silent) {
	if (gompi_flag_test_and_set(&is_raising))
		return; // another thread, or a callback of this thread
	gompi_store(&failures_raised, failed_count());
	if (gompi_node_header() != NULL) {
		raise_local(is_silent);
		raise_remote(is_silent);
	}
	gompi_flag_clear(&is_raising);
}

static bool has_failures(void) {
	return gompi_event_is_observed(EVENT_PROCESS_FAILED) && failed_count() != gompi_load(&failures_raised);
}

// Returns false even if an event has been raised: the caller need not poll for more work.
static bool serve_failures(void) {
	if (has_failures())
		raise_failures(false);
	return false;
}

void gompi_failure_events_start(void) {
	static const struct gompi_service service = {.has_work = has_failures, .serve = serve_failures};
	raise_failures(true);
	gompi_service_add(&service);
}
