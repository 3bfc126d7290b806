#include "fabric/health.h"

#include <stdlib.h>
#include <string.h>

#include "base/event.h"
#include "base/failure.h"
#include "base/go_callbacks.h"
#include "base/wait.h"
#include "fabric/doorbell.h"
#include "fabric/peer.h"

enum {
	PROBE_NS = 750000000,        // interval of the probes of the next node
	SECOND_CHECK_NS = 500000000, // interval at which a node's second living process checks whether the first lives
	// interval at which a node's other processes check whether they are now the first or second living one
	OTHERS_CHECK_NS = 2000000000,
	REFUSED_NS = 500000000, // time after which a peer that refuses to reconnect is declared failed
	// Time after which a peer of another job that refuses to reconnect is declared failed. It is longer, so that a
	// notice of MPI_Finalize from that job can arrive first.
	FOREIGN_REFUSED_NS = 2000000000,
	REFUSED_RETRY_NS = 150000000, // interval of the probes while a peer refuses connections
	FOREIGN_CHECK_NS = 500000000, // interval of the checks while calls wait for several members of another job
	MAX_UNANSWERED = 8,           // maximum number of unanswered probes
	// maximum number of other processes of a node to probe when its lowest process is silent
	WITNESSES = 3,
};

// FINALIZED: the processes of the job may end at any time. The end of a peer is an error only for calls of this process
// that depend on it. STOPPED: no peer is declared failed.
enum health_stage { RUNNING, FINALIZED, STOPPED };

static struct {
	int32_t *lowest_rank; // [nodes]: lowest rank of each node
	int nodes, node;      // number of nodes, and number of this node
	int64_t timeout_ns, interval_ns;
	int64_t next_tick_ns, last_tick_ns; // times of the next and of the previous tick
	int64_t silence_since_ns; // silence of peers before this time is ignored; set after this process was stopped
	int probed_rank;          // rank of the process on the next node that this process probes; -1 if none
	bool is_refused;          // a peer that was connected before refuses connections
	bool *is_reported;        // by index on this node: the process' failure has been reported
	gompi_a32 stage;          // enum health_stage
} health = {.probed_rank = -1};

// The record that reports the failure of a process; or, between jobs, that the sender's job has called MPI_Finalize
// (JOB_FINALIZED); or, in a job, that the sender ends after MPI_Finalize (PROCESS_ENDING).
struct failure_report {
	int32_t rank;
	int32_t cause;
};
enum { JOB_FINALIZED = -1, PROCESS_ENDING = -2 };

static void on_failure_report(int peer, const char *data, size_t length);

static int node_of(int rank) { return gompi_process(gompi_node.processes, rank)->node; }

bool gompi_health_open(int64_t timeout) {
	static const struct gompi_port_handler handler = {on_failure_report, NULL};
	free(health.lowest_rank); // array of a previous network
	free(health.is_reported);
	memset(&health, 0, sizeof health);
	health.probed_rank = -1;
	health.nodes = gompi_node.processes->node_count;
	health.lowest_rank = malloc((size_t)health.nodes * sizeof *health.lowest_rank);
	health.is_reported = calloc((size_t)gompi_node.n, sizeof *health.is_reported);
	if (health.lowest_rank == NULL || health.is_reported == NULL)
		return false;
	for (int i = gompi_net.size; i-- > 0;)
		health.lowest_rank[node_of(i)] = (int32_t)i;
	health.node = node_of(gompi_node.self);
	health.timeout_ns = timeout;
	health.interval_ns = timeout > 0 && timeout / 8 < PROBE_NS ? timeout / 8 : PROBE_NS;
	gompi_fabric_set_handler(FABRIC_FAILURES, &handler);
	return true;
}

void gompi_health_job_finalized(void) { gompi_store_seq_cst(&health.stage, FINALIZED); }
void gompi_health_stop(void) { gompi_store_seq_cst(&health.stage, STOPPED); }

// --- A process has failed

// Records a failure for all processes of this node, and wakes all their waits, which check whether they depend on the
// failed process. Returns false if the failure was already recorded; in this case the other nodes have been notified,
// too.
static bool record_failure(int rank, int cause) {
	if (!gompi_record_failure(rank, (uint32_t)cause))
		return false;
	gompi_add_seq_cst(&gompi_node_header()->failed_count, 1);
	for (int i = 0; i < gompi_node_count(); i++)
		gompi_cell_recheck_waits(gompi_cell(i));
	return true;
}

bool gompi_fabric_peer_failed(int peer) {
	struct gompi_peer *p = gompi_peer_find(peer);
	if (p != NULL && gompi_load(&p->has_failed) != 0)
		return true;
	return gompi_failure_count() != 0 && (uint32_t)peer < (uint32_t)gompi_net.size && gompi_is_failed(peer);
}

// Marks the peer `rank` as failed or, if `cause` is GOMPI_FAILED_NODE_TIMEOUT, all peers on its node. Their transfers
// then end, and their failures are not reported again.
static void mark_failed(int rank, int cause) {
	for (struct gompi_peer *p = gompi_peers_first(); p != NULL; p = p->next)
		if (p->rank == rank || (cause == GOMPI_FAILED_NODE_TIMEOUT && node_of(p->rank) == node_of(rank))) {
			gompi_store_seq_cst(&p->is_reported, 1);
			gompi_store_seq_cst(&p->has_failed, 1);
			gompi_peer_schedule_retry(p);
		}
}

// Returns the next higher living rank on the node of `rank`, or -1 if no higher rank lives.
static int next_living(int rank) {
	for (int next = rank + 1; next < gompi_net.size; next++)
		if (node_of(next) == node_of(rank) && !gompi_fabric_peer_failed(next))
			return next;
	return -1;
}

// Returns the lowest living process of a node; -1 if all have failed.
static int lowest_living(int node) {
	const int first = health.lowest_rank[node];
	return gompi_fabric_peer_failed(first) ? next_living(first) : first;
}

static void send_failure_report(int to, struct failure_report d) {
	int class;
	char *at = gompi_fabric_reserve(to, FABRIC_FAILURES, sizeof d, FABRIC_ANSWER, &class);
	if (at == NULL)
		return;
	memcpy(at, &d, sizeof d);
	gompi_fabric_commit(to, sizeof d, FABRIC_NOW);
}

// Notifies the nodes 1, 2, 4 ... after this node, which forward the report once. So each node receives the report from
// several nodes. A failure that all nodes detect at the same time causes no more messages than a failure that one
// process detects. If the failed process is silent, other processes on its node may be silent too, so up to WITNESSES
// more processes of that node are notified.
static void report_failure(int rank, int cause) {
	for (int64_t ahead = 1; ahead < health.nodes; ahead *= 2) {
		const int node = (int)((health.node + ahead) % health.nodes);
		int extra = cause == GOMPI_FAILED_TIMEOUT && node == node_of(rank) ? WITNESSES : 0;
		for (int to = lowest_living(node); to >= 0; to = extra-- > 0 ? next_living(to) : -1)
			send_failure_report(to, (struct failure_report){rank, cause});
	}
}

// Declares that a process has failed. Only this process has to know the failure of a process of another job, or of a
// process that has called MPI_Finalize.
static void declare_failed(int rank, int cause) {
	if (rank >= gompi_net.size || gompi_load(&health.stage) == FINALIZED) {
		mark_failed(rank, GOMPI_FAILED_CONNECTION);
		if (gompi_record_foreign_failure(rank))
			gompi_recheck_waits();
		return;
	}
	mark_failed(rank, cause);
	if (record_failure(rank, cause))
		report_failure(rank, cause);
}

// Handles the report of a failure from a peer.
static void on_failure_report(int peer, const char *data, size_t length) {
	struct failure_report d;
	if (length != sizeof d || gompi_load(&health.stage) == STOPPED)
		return;
	memcpy(&d, data, sizeof d);
	if (peer >= gompi_net.size) { // a peer of another job; its own job numbers its processes differently
		if (d.cause == JOB_FINALIZED) {
			gompi_record_job_end(peer);
			gompi_recheck_waits();
		}
		return;
	}
	if (d.cause == PROCESS_ENDING) {
		gompi_record_process_end(peer);
		gompi_recheck_waits();
		return;
	}
	if (gompi_load(&health.stage) == FINALIZED || (uint32_t)d.rank >= (uint32_t)gompi_net.size || d.cause <= 0 ||
	    d.cause > GOMPI_FAILED_UNREACHABLE)
		return;
	declare_failed(d.rank, d.cause);
}

void gompi_health_notify_finalize(const int32_t *to, int n) {
	int class;
	for (int i = 0; i < n; i++)
		if (!gompi_fabric_peer_failed(to[i]) && !gompi_process_has_ended(gompi_node.processes, to[i]))
			gompi_peer_get(to[i], &class);
	for (struct gompi_peer *p = gompi_peers_first(); p != NULL; p = p->next) {
		bool is_listed = false;
		for (int i = 0; i < n && !is_listed; i++)
			is_listed = to[i] == p->rank;
		if (p->rank < gompi_net.size || p->finalize_notified || gompi_fabric_peer_failed(p->rank) ||
		    gompi_process_has_ended(gompi_node.processes, p->rank) ||
		    (!is_listed && p->frames_sent == 0 && gompi_load(&p->frames_received) == 0))
			continue;
		p->finalize_notified = true;
		send_failure_report(p->rank, (struct failure_report){0, JOB_FINALIZED});
	}
}

void gompi_health_notify_end(void) {
	for (struct gompi_peer *p = gompi_peers_first(); p != NULL; p = p->next)
		if (p->rank < gompi_net.size && !gompi_fabric_peer_failed(p->rank) &&
		    (p->frames_sent != 0 || gompi_load(&p->frames_received) != 0))
			send_failure_report(p->rank, (struct failure_report){gompi_node.self, PROCESS_ENDING});
}

// --- The progress thread's ticks

// Returns the number of living processes of this node with a lower index than this process.
static int living_below(void) {
	int before = 0;
	for (int i = 0; i < gompi_node.local_index; i++)
		before += gompi_load(&gompi_cell(i)->state) != GOMPI_STATE_FAILED;
	return before;
}

// Reports the failed processes of this node.
static void check_local_processes(void) {
	if (health.nodes == 1)
		return; // there are no other nodes to report to
	for (int i = 0; i < gompi_node_count(); i++) {
		if (health.is_reported[i] || gompi_load(&gompi_cell(i)->state) != GOMPI_STATE_FAILED)
			continue;
		health.is_reported[i] = true;
		for (int rank = 0; rank < gompi_net.size; rank++)
			if (gompi_local_index(rank) == i)
				declare_failed(rank, GOMPI_FAILED_ENDED);
	}
}

int gompi_health_node_count(void) { return health.nodes; }

int gompi_health_lowest_rank(int ahead) {
	const int node = ((health.node + ahead) % health.nodes + health.nodes) % health.nodes;
	return node == health.node ? -1 : lowest_living(node);
}

bool gompi_health_is_lowest(void) { return living_below() == 0; }

// Returns the time after which a peer that was connected and refuses connections is declared failed.
static int64_t refused_ns(const struct gompi_peer *p) {
	const int64_t usual = p->rank >= gompi_net.size ? FOREIGN_REFUSED_NS : REFUSED_NS;
	return health.timeout_ns > 0 && health.timeout_ns < usual ? health.timeout_ns : usual;
}

// Sends a probe to a peer, unless MAX_UNANSWERED probes are unanswered, and stores the result in the peer's state.
// Marks the peer as failed if it was connected and has refused connections for refused_ns(p).
static void probe_peer(struct gompi_peer *p, int64_t now) {
	if (p->probes_unanswered >= MAX_UNANSWERED)
		return;
	switch (gompi_peer_probe(p)) {
	case GOMPI_PROBE_SENT:
		p->probes_unanswered++;
		p->refused_since_ns = 0;
		break;
	case GOMPI_PROBE_REFUSED:
		// A peer that was connected and now refuses connections has ended.
		health.is_refused = p->was_connected;
		if (p->refused_since_ns == 0)
			p->refused_since_ns = now;
		else if (p->was_connected && now - p->refused_since_ns >= refused_ns(p))
			gompi_peer_mark_failed(p);
		break;
	case GOMPI_PROBE_BUSY:
		break;
	}
}

// Updates the peer's state if a frame has arrived since the last check. Returns the latest of three times: the arrival
// of the peer's last frame, the argument `since`, and health.silence_since_ns.
static int64_t update_last_heard(struct gompi_peer *p, int64_t now, int64_t since) {
	if (gompi_load(&p->activity_seen) != 0) {
		gompi_store(&p->activity_seen, 0);
		p->last_heard_ns = now;
		p->was_connected = true;
		p->probes_unanswered = 0;
		p->refused_since_ns = 0;
	}
	int64_t last = p->last_heard_ns > since ? p->last_heard_ns : since;
	return last > health.silence_since_ns ? last : health.silence_since_ns;
}

static bool is_silent(int64_t heard, int64_t now) { return health.timeout_ns > 0 && now - heard > health.timeout_ns; }

// Probes other processes on the node of the silent rank `of`. Returns true if one of them has replied later than the
// time `after`.
static bool has_witness(int of, int64_t after, int64_t now) {
	bool lives = false;
	int class;
	for (int rank = next_living(of), n = 0; rank >= 0 && n < WITNESSES; rank = next_living(rank), n++) {
		struct gompi_peer *p = gompi_peer_get(rank, &class);
		if (p == NULL)
			continue;
		update_last_heard(p, now, 0);
		if (p->last_heard_ns > after)
			lives = true;
		else
			probe_peer(p, now);
	}
	return lives;
}

// Probes the lowest process of the next node. If that process has been silent for three quarters of the timeout, also
// probes other processes of its node. After the timeout, declares the process failed or, if no other process has
// replied, the node. So one stopped process is not mistaken for a failed node.
static void check_next_node(int64_t now) {
	int to = -1;
	for (int i = 1; i < health.nodes && to < 0; i++)
		to = lowest_living((health.node + i) % health.nodes);
	int class;
	struct gompi_peer *p = to < 0 ? NULL : gompi_peer_get(to, &class);
	if (p == NULL)
		return;
	if (to != health.probed_rank)
		p->watched_since_ns = now;
	health.probed_rank = to;
	const int64_t heard = update_last_heard(p, now, p->watched_since_ns),
		      witness_after_ns = heard + health.timeout_ns - health.timeout_ns / 4;
	const bool witness = health.timeout_ns > 0 && now > witness_after_ns && has_witness(to, witness_after_ns, now);
	if (is_silent(heard, now))
		declare_failed(to, witness ? GOMPI_FAILED_TIMEOUT : GOMPI_FAILED_NODE_TIMEOUT);
	else
		probe_peer(p, now);
}

// Finds the peers on other nodes for which a call of the application waits. Stores in awaited[0] the process that must
// act next, and in awaited[1] a member of another job, whose failure other processes may not report; -1 if there is
// none.
static void find_awaited_peers(int awaited[2]) {
	const struct gompi_cell *me = gompi_my_cell();
	awaited[0] = awaited[1] = -1;
	for (int i = 0; i < GOMPI_WAIT_RECORDS; i++) {
		const struct gompi_wait_record *r = &me->wait_records[i];
		if (gompi_load_acquire(&r->state) != RECORD_PUBLISHED)
			continue;
		const int ranks[] = {gompi_load(&r->peer), gompi_awaited_foreign(i)};
		for (int k = 0; k < 2; k++)
			if (awaited[k] < 0 && ranks[k] >= 0 && ranks[k] < gompi_net.capacity &&
			    gompi_local_index(ranks[k]) < 0)
				awaited[k] = ranks[k];
	}
}

// Probes the peers with operations in progress, and the peers for which a call waits. Declares those failed that have
// been silent for longer than the timeout. Returns the time until the next check in ns, at most `next`.
static int64_t check_busy_peers(int64_t now, int64_t next) {
	const int64_t idle_probe_ns = health.timeout_ns / 8; // for a peer without operations in progress
	int awaited[2] = {-1, -1}, class;
	if (health.timeout_ns > 0)
		find_awaited_peers(awaited);
	for (int k = 0; k < 2; k++) {
		struct gompi_peer *p = awaited[k] < 0 ? NULL : gompi_peer_get(awaited[k], &class);
		if (p == NULL)
			continue;
		const int64_t check_ns = k == 1 && FOREIGN_CHECK_NS < idle_probe_ns ? FOREIGN_CHECK_NS : idle_probe_ns;
		if (next > check_ns)
			next = check_ns;
		if (k == 1) // longer than the silence after which the peer counts as failed
			p->awaited_until_ns = now + health.timeout_ns + health.timeout_ns / 2;
	}
	for (struct gompi_peer *p = gompi_peers_first(); p != NULL; p = p->next) {
		if (gompi_load(&p->has_failed) != 0)
			continue;
		bool busy = gompi_peer_busy(p);
		if (!busy && p->rank != awaited[0] && now >= p->awaited_until_ns) {
			p->busy_since_ns = 0;
			continue;
		}
		if (busy && next > health.interval_ns)
			next = health.interval_ns;
		// a process of another job is probed at once, since it may have ended long ago
		const bool is_new = p->busy_since_ns == 0 && p->last_heard_ns == 0 && p->rank >= gompi_net.size;
		if (p->busy_since_ns == 0)
			p->busy_since_ns = now;
		int64_t heard = update_last_heard(p, now, p->busy_since_ns);
		if (is_silent(heard, now))
			declare_failed(p->rank, GOMPI_FAILED_TIMEOUT);
		else if (p->rank != health.probed_rank &&
			 (is_new || now - heard >= (busy ? health.interval_ns / 2 : idle_probe_ns)))
			probe_peer(p, now);
	}
	return next;
}

// Reports the peers whose connections have ended.
static void report_failed_peers(void) {
	if (gompi_load(&gompi_peers_unreported) == 0 || gompi_swap_seq_cst(&gompi_peers_unreported, 0) == 0)
		return;
	for (struct gompi_peer *p = gompi_peers_first(); p != NULL; p = p->next)
		if (gompi_load(&p->has_failed) != 0 && gompi_swap_seq_cst(&p->is_reported, 1) == 0)
			declare_failed(p->rank, gompi_load(&p->is_unreachable) != 0 ? GOMPI_FAILED_UNREACHABLE
										    : GOMPI_FAILED_CONNECTION);
}

// Raises an event for each failed peer for which none has been raised.
static void raise_lost_connections(void) {
	for (struct gompi_peer *p = gompi_peers_first(); p != NULL; p = p->next)
		if (!p->is_loss_raised && gompi_load(&p->has_failed) != 0) {
			p->is_loss_raised = true;
			gompi_event_raise(EVENT_CONNECTION_LOST, MPI_T_CB_REQUIRE_THREAD_SAFE, (uint64_t)p->rank, 0, 0);
		}
}

int64_t gompi_health_tick(int64_t now) {
	const uint32_t stage = gompi_load(&health.stage);
	if (stage == STOPPED || health.lowest_rank == NULL)
		return INT64_MAX;
	report_failed_peers();
	if (gompi_event_is_observed(EVENT_CONNECTION_LOST))
		raise_lost_connections();
	if (now < health.next_tick_ns) {
		if (health.next_tick_ns - now > health.interval_ns && gompi_peers_busy())
			health.next_tick_ns = now + health.interval_ns;
		return health.next_tick_ns;
	}
	// A late tick means that this process itself was stopped and received nothing. So the silence of its peers
	// until now is ignored.
	if (health.last_tick_ns != 0 && now - health.next_tick_ns > health.interval_ns)
		health.silence_since_ns = now;
	health.last_tick_ns = now;
	int below = living_below();
	if (below < 2)
		gompi_go_callbacks.find_failed();
	int64_t next = below == 1 ? SECOND_CHECK_NS : OTHERS_CHECK_NS;
	health.is_refused = false;
	if (below == 0 && stage == RUNNING) {
		check_local_processes();
		check_next_node(now);
		next = health.interval_ns;
	}
	next = check_busy_peers(now, next);
	if (health.is_refused && next > REFUSED_RETRY_NS)
		next = REFUSED_RETRY_NS;
	report_failed_peers();
	return health.next_tick_ns = now + next;
}
