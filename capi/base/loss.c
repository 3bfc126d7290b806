// Failed processes, and the waits that depend on them. The cell of a process of this node shows that it has ended
// without MPI_Finalize. The header lists the failed processes of other nodes. The wait itself specifies which processes
// it depends on: a single one, or all members of its object, which the package of the object knows (struct
// gompi_service).
//
// A dead process may also block a live one. An entry in the ring or inbox of another process which it has reserved and
// not filled hides all entries behind it. The live process is then unreachable, and as useless as a dead one. So a wait
// that needs it also ends, after it has seen the same entry unfilled for so long that only a dead sender explains it.
// Entries that a dead process has filled but not cleared are reclaimed by their packages.
#include "base/loss.h"

#include <stdio.h>

#include "base/tuning.h"
#include "base/up.h"
#include "base/verdict.h"

// Returns true if two processes are on one node.
static bool share_node(int a, int b) {
	const struct gompi_processes *t = gompi_node.processes;
	return gompi_process(t, a)->node == gompi_process(t, b)->node;
}

static bool dead_here(int process) { return gompi_load(&gompi_cell(process)->state) == GOMPI_STATE_DEAD; }

// Returns true if an entry covers a process: directly, or through its whole node.
static bool tells_of(struct gompi_loss *l, uint32_t lost, int rank) {
	return lost == (uint32_t)rank + 1 ||
	       (gompi_load(&l->why) == GOMPI_LOST_SILENT_NODE && share_node((int)lost - 1, rank));
}

// Returns the entry of a process of another node, or NULL if it has none. *free: the first free entry.
static struct gompi_loss *entry_of(int rank, struct gompi_loss **free) {
	*free = NULL;
	for (int i = 0; i < GOMPI_LOSSES; i++) {
		struct gompi_loss *l = &gompi_header()->losses[i];
		uint32_t lost = gompi_load(&l->rank);
		if (lost == 0) {
			*free = l;
			return NULL;
		}
		if (tells_of(l, lost, rank))
			return l;
	}
	return NULL;
}

bool gompi_is_lost(int rank) {
	struct gompi_loss *free;
	int process = gompi_on_node(rank);
	return process >= 0 ? dead_here(process) : entry_of(rank, &free) != NULL;
}

int gompi_first_lost(void) {
	struct gompi_header *h = gompi_header();
	if (h == NULL)
		return GOMPI_SOMEBODY;
	for (int rank = 0; rank < gompi_processes_n(gompi_node.processes); rank++) {
		int process = gompi_on_node(rank);
		if (process >= 0 && dead_here(process))
			return rank;
	}
	uint32_t first = gompi_load(&h->losses[0].rank);
	if (first != 0)
		return (int)first - 1;
	return gompi_load(&h->broken) != 0 ? GOMPI_SOMEBODY : GOMPI_NOBODY;
}

bool gompi_lose(int rank, uint32_t why) {
	for (;;) {
		struct gompi_loss *free, *l = entry_of(rank, &free);
		if (l != NULL)
			return why == GOMPI_LOST_SILENT_NODE && gompi_swap_total(&l->why, why) != why;
		if (free == NULL)
			return gompi_swap_total(&gompi_header()->losses_more, 1) == 0;
		uint32_t nobody = 0;
		if (gompi_change_once(&free->rank, &nobody, (uint32_t)rank + 1)) {
			gompi_store_total(&free->why, why);
			return true;
		}
	}
}

// --- Dependences of waits

// Returns true if a process has not passed the same unfilled entry in its memory for at least one slice of waiting. The
// wait remembers one such entry.
static bool stays_stuck(int process, struct gompi_stuck *place) {
	if (place->since != 0 && place->process != process)
		return false;
	uint64_t at = gompi_services_stuck(process);
	if (at == 0) {
		place->since = 0;
		return false;
	}
	int64_t now = gompi_now_ns();
	if (place->since != 0 && place->at == at)
		return now - place->since >= gompi_node.policy.slice;
	*place = (struct gompi_stuck){process, at, now};
	return false;
}

bool gompi_is_gone(int rank, struct gompi_stuck *place) {
	int process = gompi_on_node(rank);
	return gompi_is_lost(rank) || (process >= 0 && stays_stuck(process, place));
}

int gompi_loss_found(const struct gompi_waiting *what, struct gompi_stuck *place) {
	if (what->lost != NULL)
		return what->lost(what->of, place);
	if (gompi_load(&gompi_header()->losses_more) != 0)
		return gompi_first_lost();
	if (gompi_is_gone(gompi_node.self, place))
		return gompi_node.self;
	if (what->peer >= 0 && !what->all)
		return gompi_is_gone(what->peer, place) ? what->peer : GOMPI_NOBODY;
	int rank, i = 0;
	for (; (rank = gompi_services_member(what->object, i)) >= 0; i++)
		if (gompi_is_gone(rank, place))
			return rank;
	return i > 0 ? GOMPI_NOBODY : gompi_first_lost();
}

// --- Error texts

static _Thread_local int noted = GOMPI_NOBODY;

void gompi_loss_note(int rank) { noted = rank; }

static const char *reason(uint32_t why) {
	switch (why) {
	case GOMPI_LOST_CONNECTION:
		return "closed its connection: it ended without calling MPI_Finalize, or its network failed";
	case GOMPI_LOST_SILENT:
		return "has sent nothing for longer than GOMPIRMA_PEER_TIMEOUT";
	case GOMPI_LOST_UNREACHABLE:
		return "cannot be reached over the network from this node";
	case GOMPI_LOST_SILENT_NODE:
		return "and its whole node have sent nothing for longer than GOMPIRMA_PEER_TIMEOUT";
	}
	return "ended without calling MPI_Finalize";
}

const char *gompi_lost_text(void) {
	static _Thread_local char text[240];
	const int lost = noted != GOMPI_NOBODY ? noted : gompi_first_lost();
	noted = GOMPI_NOBODY;
	if (lost == GOMPI_NOBODY || lost == GOMPI_SOMEBODY)
		return "a process ended without calling MPI_Finalize while this process waited for it";
	const int process = gompi_on_node(lost), rank = gompi_process(gompi_node.processes, lost)->rank;
	if (process >= 0) {
		int pid = (int)gompi_load(&gompi_cell(process)->pid);
		snprintf(text, sizeof text,
			 dead_here(process)
				 ? "rank %d of MPI_COMM_WORLD (pid %d) ended without calling MPI_Finalize"
				 : "a process ended without calling MPI_Finalize while it sent to rank %d of "
				   "MPI_COMM_WORLD (pid %d), which cannot receive any more",
			 rank, pid);
		return text;
	}
	struct gompi_loss *free, *l = entry_of(lost, &free);
	char host[80] = "?";
	if (gompi_up.host_of != NULL)
		gompi_up.host_of(lost, host, sizeof host);
	snprintf(text, sizeof text, "rank %d of MPI_COMM_WORLD, on host %s, %s", rank, host,
		 reason(l == NULL ? 0 : gompi_load(&l->why)));
	return text;
}
