// Failed processes, and the waits that depend on them. The cell of a failed process of this node has the state
// GOMPI_STATE_FAILED. The node header lists the failed processes of other nodes, which are of this process' job. A wait
// specifies the processes on which it depends: a single process, or all members of an object. The package of the object
// enumerates its members (member_process of struct gompi_service).
//
// A failed process may also make a live process unreachable. If the failed process has reserved an entry in the ring or
// inbox of the live process and not filled it, the live process cannot read any later entry. So a wait that depends on
// the live process also ends with an error. This wait ends after it has seen the same entry unfilled for max_sleep_ns
// (struct gompi_wait_policy). An entry that the failed process has filled, but not released after the target's
// answer, does not block the ring: the package that owns the ring releases the entry instead.
#include "base/failure.h"

#include <stdio.h>

#include "base/tuning.h"
#include "base/go_callbacks.h"
#include "base/error_status.h"

// Returns true if two processes are on one node.
static bool on_same_node(int a, int b) {
	const struct gompi_processes *t = gompi_node.processes;
	return gompi_process(t, a)->node == gompi_process(t, b)->node;
}

static bool is_failed_local(int process) { return gompi_load(&gompi_cell(process)->state) == GOMPI_STATE_FAILED; }

// Returns true if the entry l reports the failure of the process `rank`. The argument entry_rank is the value of
// l->rank. An entry with the cause GOMPI_FAILED_NODE_TIMEOUT reports the failure of all processes on its node.
static bool covers_process(struct gompi_failed_process *l, uint32_t entry_rank, int rank) {
	return entry_rank == (uint32_t)rank + 1 ||
	       (gompi_load(&l->cause) == GOMPI_FAILED_NODE_TIMEOUT && on_same_node((int)entry_rank - 1, rank));
}

// Returns the entry of a process of another node, or NULL if the process has none. If the result is NULL, *free is the
// first free entry, or NULL if all entries are used.
static struct gompi_failed_process *failed_entry_of(int rank, struct gompi_failed_process **free) {
	*free = NULL;
	for (int i = 0; i < GOMPI_FAILED_ENTRIES; i++) {
		struct gompi_failed_process *l = &gompi_node_header()->failed_processes[i];
		uint32_t entry_rank = gompi_load(&l->rank);
		if (entry_rank == 0) {
			*free = l;
			return NULL;
		}
		if (covers_process(l, entry_rank, rank))
			return l;
	}
	return NULL;
}

// Returns the first failed process of this node among the n processes from number `first` on, or else the first failed
// process of another node, or GOMPI_NONE_FAILED.
static int first_failed_of(int first, int n) {
	for (int rank = first; rank < first + n; rank++) {
		int process = gompi_local_index(rank);
		if (process >= 0 && is_failed_local(process))
			return rank;
	}
	return (int)gompi_load(&gompi_node_header()->failed_processes[0].rank) - 1;
}

bool gompi_is_failed(int rank) {
	struct gompi_failed_process *free;
	int process = gompi_local_index(rank);
	if (process >= 0)
		return is_failed_local(process);
	return gompi_process_has_failed(gompi_node.processes, rank) || failed_entry_of(rank, &free) != NULL;
}

int gompi_first_failed(void) {
	struct gompi_node_header *h = gompi_node_header();
	if (h == NULL)
		return GOMPI_UNKNOWN_FAILED;
	int failed = first_failed_of(0, gompi_processes_count(gompi_node.processes));
	if (failed != GOMPI_NONE_FAILED)
		return failed;
	return gompi_load(&h->failed_count) != 0 ? GOMPI_UNKNOWN_FAILED : GOMPI_NONE_FAILED;
}

bool gompi_record_failure(int rank, uint32_t cause) {
	for (;;) {
		struct gompi_failed_process *free, *l = failed_entry_of(rank, &free);
		if (l != NULL)
			return cause == GOMPI_FAILED_NODE_TIMEOUT && gompi_swap_seq_cst(&l->cause, cause) != cause;
		if (free == NULL)
			return gompi_swap_seq_cst(&gompi_node_header()->failed_overflow, 1) == 0;
		uint32_t expected = 0;
		if (gompi_cas_strong(&free->rank, &expected, (uint32_t)rank + 1)) {
			gompi_store_seq_cst(&free->cause, cause);
			return true;
		}
	}
}

bool gompi_record_foreign_failure(int number) {
	struct gompi_processes *t = gompi_node.processes;
	if (gompi_process_has_ended(t, number) ||
	    (gompi_or(&gompi_process(t, number)->job, GOMPI_JOB_FAILED) & GOMPI_JOB_FAILED) != 0)
		return false;
	gompi_add_seq_cst(&t->failed_count, 1);
	return true;
}

void gompi_record_job_end(int number) {
	struct gompi_processes *t = gompi_node.processes;
	const uint32_t job = gompi_load(&gompi_process(t, number)->job) & ~GOMPI_JOB_FLAGS;
	for (int i = 0; i < gompi_processes_count(t); i++)
		if ((gompi_load(&gompi_process(t, i)->job) & ~GOMPI_JOB_FLAGS) == job)
			gompi_or(&gompi_process(t, i)->job, GOMPI_JOB_ENDED);
	gompi_add_seq_cst(&t->failed_count, 1);
}

void gompi_record_process_end(int number) {
	gompi_or(&gompi_process(gompi_node.processes, number)->job, GOMPI_JOB_ENDED);
	gompi_add_seq_cst(&gompi_node.processes->failed_count, 1);
}

// --- Dependencies of waits

// Returns true if one entry in the shared memory of a process has been stuck for at least max_sleep_ns: a sender has
// reserved it and not filled it. A wait tracks only one entry, in *stuck.
static bool is_stuck_for_long(int process, struct gompi_stuck_entry *stuck) {
	if (stuck->since_ns != 0 && stuck->process != process)
		return false;
	uint64_t at = gompi_services_stuck_entry(process);
	if (at == 0) {
		stuck->since_ns = 0;
		return false;
	}
	int64_t now = gompi_now_ns();
	if (stuck->since_ns != 0 && stuck->entry_id == at)
		return now - stuck->since_ns >= gompi_node.policy.max_sleep_ns;
	*stuck = (struct gompi_stuck_entry){process, at, now};
	return false;
}

bool gompi_is_unreachable(int rank, struct gompi_stuck_entry *stuck) {
	int process = gompi_local_index(rank);
	return gompi_is_failed(rank) || (process >= 0 && is_stuck_for_long(process, stuck));
}

int gompi_find_failed_for_wait(const struct gompi_wait_desc *desc, struct gompi_stuck_entry *stuck) {
	if (desc->find_failed != NULL)
		return desc->find_failed(desc->find_failed_arg, stuck);
	if (gompi_services_revoked(desc->object) || gompi_services_revoked(desc->outer))
		return GOMPI_REVOKED;
	if (gompi_load(&gompi_node_header()->failed_overflow) != 0)
		return gompi_first_failed();
	if (gompi_is_unreachable(gompi_node.self, stuck))
		return gompi_node.self;
	for (int i = 0, rank; (rank = gompi_services_member(desc->outer, i)) >= 0; i++)
		if (gompi_is_unreachable(rank, stuck))
			return rank;
	if (desc->peer >= 0 && !desc->depends_on_all)
		return gompi_is_unreachable(desc->peer, stuck) ||
				       gompi_process_has_ended(gompi_node.processes, desc->peer)
			       ? desc->peer
			       : GOMPI_NONE_FAILED;
	int rank, i = 0;
	for (; !desc->only_members && (rank = gompi_services_member(desc->object, i)) >= 0; i++)
		if (gompi_is_unreachable(rank, stuck))
			return rank;
	if (i > 0)
		return GOMPI_NONE_FAILED;
	for (; i < desc->member_count; i++)
		if (gompi_is_unreachable(desc->members[i], stuck))
			return desc->members[i];
	// Without fault tolerance, the failure of any process of the job will end the job.
	if (i > 0 && gompi_node.is_fault_tolerant)
		return GOMPI_NONE_FAILED;
	const struct gompi_processes *t = gompi_node.processes;
	return gompi_processes_count(t) == t->world_size ? gompi_first_failed()
							 : first_failed_of(t->world_first, t->world_size);
}

int gompi_ignore_failures(const void *of, struct gompi_stuck_entry *place) { return GOMPI_NONE_FAILED; }

// --- Error texts

static _Thread_local int noted_failed = GOMPI_NONE_FAILED;

void gompi_note_failed(int rank) { noted_failed = rank; }

static const char *cause_text(uint32_t cause) {
	switch (cause) {
	case GOMPI_FAILED_CONNECTION:
		return "closed its connection: it ended without calling MPI_Finalize, or its network failed";
	case GOMPI_FAILED_TIMEOUT:
		return "has sent nothing for longer than GOMPIRMA_PEER_TIMEOUT (default 30 s)";
	case GOMPI_FAILED_UNREACHABLE:
		return "cannot be reached over the network from this node";
	case GOMPI_FAILED_NODE_TIMEOUT:
		return "has failed: no process of its node has sent anything for longer than GOMPIRMA_PEER_TIMEOUT "
		       "(default 30 s)";
	}
	return "ended without calling MPI_Finalize";
}

// Returns a failed process of another job, or GOMPI_NONE_FAILED.
static int first_failed_foreign(void) {
	const struct gompi_processes *t = gompi_node.processes;
	if (gompi_load(&t->failed_count) > 0)
		for (int i = 0; i < gompi_processes_count(t); i++)
			if (gompi_process_has_failed(t, i))
				return i;
	return GOMPI_NONE_FAILED;
}

const char *gompi_failure_text(void) {
	static _Thread_local char text[240];
	int failed = noted_failed != GOMPI_NONE_FAILED ? noted_failed : gompi_first_failed();
	if (failed == GOMPI_NONE_FAILED)
		failed = first_failed_foreign();
	noted_failed = GOMPI_NONE_FAILED;
	if (failed == GOMPI_REVOKED)
		return "the communicator has been revoked";
	if (failed == GOMPI_NONE_FAILED || failed == GOMPI_UNKNOWN_FAILED)
		return "a process ended without calling MPI_Finalize while this process waited for it";
	const struct gompi_processes *t = gompi_node.processes;
	const int process = gompi_local_index(failed), rank = failed - t->world_first;
	if (process >= 0) {
		int pid = (int)gompi_load(&gompi_cell(process)->pid);
		char name[40] = "a process of another job";
		if ((uint32_t)rank < (uint32_t)t->world_size)
			snprintf(name, sizeof name, "rank %d of MPI_COMM_WORLD", rank);
		snprintf(text, sizeof text,
			 is_failed_local(process)
				 ? "%s (pid %d) ended without calling MPI_Finalize"
				 : "%s (pid %d) can receive no more messages: another process ended without calling "
				   "MPI_Finalize while it was sending to that process",
			 name, pid);
		return text;
	}
	char host[80] = "?";
	if (gompi_go_callbacks.host_of != NULL)
		gompi_go_callbacks.host_of(failed, host, sizeof host);
	if (gompi_process_is_foreign(t, failed)) {
		snprintf(text, sizeof text, "rank %d of another job, on host %s, has ended, or its network has failed",
			 gompi_process(t, failed)->rank, host);
		return text;
	}
	if (gompi_process_has_failed(t, failed) || gompi_process_has_ended(t, failed))
		return "a process has ended after MPI_Finalize, or its network has failed";
	struct gompi_failed_process *free, *l = failed_entry_of(failed, &free);
	snprintf(text, sizeof text, "rank %d of MPI_COMM_WORLD, on host %s, %s", rank, host,
		 cause_text(l == NULL ? 0 : gompi_load(&l->cause)));
	return text;
}
