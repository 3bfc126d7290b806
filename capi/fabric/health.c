#define _GNU_SOURCE
#include "fabric/health.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/loss.h"
#include "base/up.h"
#include "base/wait.h"
#include "fabric/bell.h"
#include "fabric/peer.h"

enum {
	ASK_NS = 750000000,     // between two questions to the next node
	SECOND_NS = 500000000,  // between two checks of the second process of a node whether the first lives
	OTHERS_NS = 2000000000, // between two checks of the other processes whether they have become first or second
	REFUSED_NS = 500000000, // after which a peer with a lost connection that cannot be made again is failed
	AGAIN_NS = 150000000,   // between two questions while connections are refused
	UNANSWERED = 8,         // maximum number of questions without an answer
	WITNESSES = 3,          // processes of a node that are asked when its lowest one is silent
};

static struct {
	int32_t *first;  // by node: its lowest rank
	int nodes, node; // number of nodes; this node
	int64_t timeout, interval;
	int64_t due, last; // times of the next tick and of the previous one
	int64_t since;     // start of the measurement of silence: later than any pause of this process itself
	int target;        // rank of the peer asked on the next node; -1 if none
	bool refused;      // a peer that was connected before refuses connections
	bool *told;        // by index on this node: its death has been reported
	gompi_a32 ended;
} health = {.target = -1};

// The record that reports the failure of a process.
struct death {
	int32_t rank;
	int32_t why;
};

static void take_death(int peer, const char *data, size_t length);

static int node_of(int rank) { return gompi_process(gompi_node.processes, rank)->node; }

bool gompi_health_open(int64_t timeout) {
	static const struct gompi_port_handler handler = {take_death, NULL};
	free(health.first); // of a previous network
	free(health.told);
	memset(&health, 0, sizeof health);
	health.target = -1;
	health.nodes = gompi_node.processes->nodes;
	health.first = malloc((size_t)health.nodes * sizeof *health.first);
	health.told = calloc((size_t)gompi_node.n, sizeof *health.told);
	if (health.first == NULL || health.told == NULL)
		return false;
	for (int i = gompi_net.size; i-- > 0;)
		health.first[node_of(i)] = (int32_t)i;
	health.node = node_of(gompi_node.self);
	health.timeout = timeout;
	health.interval = timeout > 0 && timeout / 8 < ASK_NS ? timeout / 8 : ASK_NS;
	gompi_fabric_listen(FABRIC_OWN, &handler);
	return true;
}

void gompi_health_end(void) { gompi_store_total(&health.ended, 1); }

// --- A process has failed

// Records a failure for this node, and wakes all waits of its processes to check whether they depend on it. Returns
// false if it was recorded before: then other nodes have been notified.
static bool break_node(int rank, int why) {
	if (!gompi_lose(rank, (uint32_t)why))
		return false;
	gompi_add_total(&gompi_header()->broken, 1);
	for (int i = 0; i < gompi_node.n; i++) {
		struct gompi_waitword *w = &gompi_cell(i)->wait;
		gompi_add_total(&w->wake, 1);
		syscall(SYS_futex, &w->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	}
	return true;
}

bool gompi_fabric_gone(int peer) {
	struct gompi_peer *p = gompi_peer_known(peer);
	if (p != NULL && gompi_load(&p->gone) != 0)
		return true;
	return gompi_load(&gompi_header()->broken) != 0 && (uint32_t)peer < (uint32_t)gompi_net.size &&
	       gompi_is_lost(peer);
}

// Marks a process, or all processes of its node (GOMPI_LOST_SILENT_NODE), as failed: its transfers end, and its failure
// is not reported again.
static void mark_gone(int rank, int why) {
	for (struct gompi_peer *p = gompi_peers_first(); p != NULL; p = p->next)
		if (p->rank == rank || (why == GOMPI_LOST_SILENT_NODE && node_of(p->rank) == node_of(rank))) {
			gompi_store_total(&p->announced, 1);
			gompi_store_total(&p->gone, 1);
			gompi_peer_retry(p);
		}
}

// Returns the next living process on the node of rank; -1 if there is none.
static int living_after(int rank) {
	for (int next = rank + 1; next < gompi_net.size; next++)
		if (node_of(next) == node_of(rank) && !gompi_fabric_gone(next))
			return next;
	return -1;
}

// Returns the lowest living process of a node; -1 if there is none.
static int lowest_of(int node) {
	const int first = health.first[node];
	return gompi_fabric_gone(first) ? living_after(first) : first;
}

static void tell(int to, struct death d) {
	int class;
	char *at = gompi_fabric_reserve(to, FABRIC_OWN, sizeof d, FABRIC_ANSWER, &class);
	if (at == NULL)
		return;
	memcpy(at, &d, sizeof d);
	gompi_fabric_commit(to, sizeof d, FABRIC_NOW);
}

// Notifies the nodes 1, 2, 4 ... after this one, which forward the news: each node receives it from several others. A
// failure that all nodes detect at the same time causes no more messages than one that a single process detects. If the
// failed process is silent, other processes on its node may be silent too, so up to WITNESSES more processes of that
// node are notified.
static void tell_death(int rank, int why) {
	for (int64_t ahead = 1; ahead < health.nodes; ahead *= 2) {
		const int node = (int)((health.node + ahead) % health.nodes);
		int more = why == GOMPI_LOST_SILENT && node == node_of(rank) ? WITNESSES : 0;
		for (int to = lowest_of(node); to >= 0; to = more-- > 0 ? living_after(to) : -1)
			tell(to, (struct death){rank, why});
	}
}

static void lose(int rank, int why) {
	mark_gone(rank, why);
	if (break_node(rank, why))
		tell_death(rank, why);
}

// Handles the report of a failure from a peer.
static void take_death(int peer, const char *data, size_t length) {
	struct death d;
	if (length != sizeof d || gompi_load(&health.ended) != 0)
		return;
	memcpy(&d, data, sizeof d);
	if ((uint32_t)d.rank >= (uint32_t)gompi_net.size || d.why <= 0 || d.why > GOMPI_LOST_UNREACHABLE)
		return;
	lose(d.rank, d.why);
}

// --- The progress thread's ticks

// Returns the number of living processes of the node with a lower index.
static int place_here(void) {
	int before = 0;
	for (int i = 0; i < gompi_node.me; i++)
		before += gompi_load(&gompi_cell(i)->state) != GOMPI_STATE_DEAD;
	return before;
}

// Reports the processes of this node that have died.
static void look_here(void) {
	for (int i = 0; i < gompi_node.n; i++) {
		if (health.told[i] || gompi_load(&gompi_cell(i)->state) != GOMPI_STATE_DEAD)
			continue;
		health.told[i] = true;
		for (int rank = 0; rank < gompi_net.size; rank++)
			if (gompi_on_node(rank) == i)
				lose(rank, GOMPI_LOST_ENDED);
	}
}

int gompi_health_nodes(void) { return health.nodes; }

int gompi_health_lowest(int ahead) {
	const int node = ((health.node + ahead) % health.nodes + health.nodes) % health.nodes;
	return node == health.node ? -1 : lowest_of(node);
}

bool gompi_health_first(void) { return place_here() == 0; }

// Asks a peer for an answer.
static void ask_peer(struct gompi_peer *p, int64_t now) {
	if (p->asked >= UNANSWERED)
		return;
	switch (gompi_peer_ask(p)) {
	case GOMPI_ASKED:
		p->asked++;
		p->refused = 0;
		break;
	case GOMPI_REFUSED:
		// A peer that was connected and now refuses connections has ended.
		health.refused = p->met;
		if (p->refused == 0)
			p->refused = now;
		else if (p->met &&
			 now - p->refused >=
				 (health.timeout > 0 && health.timeout < REFUSED_NS ? health.timeout : REFUSED_NS))
			gompi_peer_is_gone(p);
		break;
	case GOMPI_BUSY:
		break;
	}
}

// Returns the time at which the last frame of the peer arrived, or since, whichever is later.
static int64_t heard_at(struct gompi_peer *p, int64_t now, int64_t since) {
	if (gompi_load(&p->alive) != 0) {
		gompi_store(&p->alive, 0);
		p->heard = now;
		p->met = true;
		p->asked = 0;
		p->refused = 0;
	}
	int64_t last = p->heard > since ? p->heard : since;
	return last > health.since ? last : health.since;
}

static bool silent(int64_t heard, int64_t now) { return health.timeout > 0 && now - heard > health.timeout; }

// Asks other processes on the node of a silent process. Returns true if one of them has answered after the given time.
static bool has_witness(int of, int64_t after, int64_t now) {
	bool lives = false;
	int class;
	for (int rank = living_after(of), n = 0; rank >= 0 && n < WITNESSES; rank = living_after(rank), n++) {
		struct gompi_peer *p = gompi_peer_of(rank, &class);
		if (p == NULL)
			continue;
		heard_at(p, now, 0);
		if (p->heard > after)
			lives = true;
		else
			ask_peer(p, now);
	}
	return lives;
}

// Asks the lowest process of the next node. In the last quarter of its timeout it also asks other processes of that
// node, so that one stopped process is not mistaken for a failed node.
static void look_next(int64_t now) {
	int to = -1;
	for (int i = 1; i < health.nodes && to < 0; i++)
		to = lowest_of((health.node + i) % health.nodes);
	int class;
	struct gompi_peer *p = to < 0 ? NULL : gompi_peer_of(to, &class);
	if (p == NULL)
		return;
	if (to != health.target)
		p->watched = now;
	health.target = to;
	const int64_t heard = heard_at(p, now, p->watched), doubt = heard + health.timeout - health.timeout / 4;
	const bool witness = health.timeout > 0 && now > doubt && has_witness(to, doubt, now);
	if (silent(heard, now))
		lose(to, witness ? GOMPI_LOST_SILENT : GOMPI_LOST_SILENT_NODE);
	else
		ask_peer(p, now);
}

// Returns the peer that a call of the application currently waits for; -1 if there is none.
static int waits_for(void) {
	const struct gompi_cell *me = gompi_my_cell();
	for (int i = 0; i < GOMPI_WAIT_RECORDS; i++) {
		const struct gompi_wait_record *r = &me->waits[i];
		if (gompi_load_acquire(&r->state) != RECORD_TOLD)
			continue;
		int rank = gompi_load(&r->peer);
		if (rank >= 0 && rank < gompi_net.size && gompi_on_node(rank) < 0)
			return rank;
	}
	return -1;
}

// Asks the peers with operations in progress, and the one that a call waits for. Returns the time until the next check,
// at most next (ns).
static int64_t look_busy(int64_t now, int64_t next) {
	const int64_t patience = health.timeout / 8; // if nothing is in progress
	int waits = health.timeout > 0 ? waits_for() : -1, class;
	if (waits >= 0 && gompi_peer_of(waits, &class) != NULL && next > patience)
		next = patience;
	for (struct gompi_peer *p = gompi_peers_first(); p != NULL; p = p->next) {
		if (gompi_load(&p->gone) != 0)
			continue;
		bool busy = gompi_peer_busy(p);
		if (!busy && p->rank != waits) {
			p->busy = 0;
			continue;
		}
		if (busy && next > health.interval)
			next = health.interval;
		if (p->busy == 0)
			p->busy = now;
		int64_t heard = heard_at(p, now, p->busy);
		if (silent(heard, now))
			lose(p->rank, GOMPI_LOST_SILENT);
		else if (p->rank != health.target && now - heard >= (busy ? health.interval / 2 : patience))
			ask_peer(p, now);
	}
	return next;
}

// Reports the peers whose connections have ended.
static void look_gone(void) {
	if (gompi_load(&gompi_peers_news) == 0 || gompi_swap_total(&gompi_peers_news, 0) == 0)
		return;
	for (struct gompi_peer *p = gompi_peers_first(); p != NULL; p = p->next)
		if (gompi_load(&p->gone) != 0 && gompi_swap_total(&p->announced, 1) == 0)
			lose(p->rank,
			     gompi_load(&p->unreachable) != 0 ? GOMPI_LOST_UNREACHABLE : GOMPI_LOST_CONNECTION);
}

int64_t gompi_health_tick(int64_t now) {
	if (gompi_load(&health.ended) != 0 || health.first == NULL)
		return INT64_MAX;
	look_gone();
	if (now < health.due) {
		if (health.due - now > health.interval && gompi_peers_busy())
			health.due = now + health.interval;
		return health.due;
	}
	// If this process was stopped itself, silence of its peers before now does not count.
	if (health.last != 0 && now - health.due > health.interval)
		health.since = now;
	health.last = now;
	int place = place_here();
	if (place < 2)
		gompi_up.find_dead();
	int64_t next = place == 1 ? SECOND_NS : OTHERS_NS;
	health.refused = false;
	if (place == 0) {
		look_here();
		look_next(now);
		next = health.interval;
	}
	next = look_busy(now, next);
	if (health.refused && next > AGAIN_NS)
		next = AGAIN_NS;
	look_gone();
	return health.due = now + next;
}
