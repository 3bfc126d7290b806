/* Proves for the heartbeats of fabric/health.c: the number of requests and answers per process and per job is bounded.
 * The time until all nodes know of a silent node or a killed process is bounded, too. No process that is merely slow is
 * declared failed. This process simulates all processes of the job, the network and the clock. The code of health.c,
 * peers.c and sending is real. The test switches its per-process state before it runs the code for a process.
 *
 * Usage: heartbeats NODES EACH runs only a job of that size and prints its figures; docs/SCALING.md has them.
 *
 * sanitizer: address (one thread)
 */
#include "../unit.h"

#include <sys/wait.h>

#include "fabric/frame_send.c"
#include "fabric/health.c"
#include "fabric/peers.c"
#include "fabric/progress.h"
#include "fabric/records.c"

#define MS 1000000LL
#define SECONDS 1000000000LL

/* --- The job: ranks are consecutive on each node */

static int nodes, ranks_per_node, ranks;
static int32_t *node_on;

struct process {
	__typeof__(health) health;
	struct gompi_peer *_Atomic *peers;
	struct gompi_peer *peer_list, *pending_list, *retry_list;
	int64_t next_round_ns;    /* the time of the next round of the process's progress thread */
	int64_t stopped_until_ns; /* the process runs no code before this time */
	bool is_killed;           /* true if the process is killed, which processes of its node detect */
	bool is_cut;              /* true if no frame leaves or reaches the process */
	int64_t known_since_ns;   /* the time when the process learned of a failure; 0 if it does not know of one */
};
static struct process *job;
static char **control; /* the control memory of each node */
static int self = -1;
static int64_t now;
static uint64_t seed = 1;

static uint64_t draw(uint64_t below) { return check_random(&seed) % below; }

/* Switches the global state to that of process `rank`. */
static void switch_to_process(int rank) {
	if (rank == self)
		return;
	if (self >= 0) {
		struct process *p = &job[self];
		p->health = health;
		p->peers = gompi_peers;
		p->peer_list = gompi_load(&peer_list), p->pending_list = gompi_load(&pending_list),
		p->retry_list = gompi_load(&retry_list);
	}
	const struct gompi_processes *all = gompi_node.processes;
	if (self < 0 || node_on[self] != node_on[rank])
		for (int i = 0; i < ranks_per_node; i++) {
			if (self >= 0)
				gompi_process(all, node_on[self] * ranks_per_node + i)->local_index = -1;
			gompi_process(all, node_on[rank] * ranks_per_node + i)->local_index = i;
		}
	struct process *p = &job[rank];
	health = p->health;
	gompi_peers = p->peers;
	gompi_store(&peer_list, p->peer_list), gompi_store(&pending_list, p->pending_list),
		gompi_store(&retry_list, p->retry_list);
	gompi_node.control = control[node_on[rank]];
	gompi_node.local_index = rank % ranks_per_node;
	gompi_node.self = rank;
	self = rank;
}

static struct gompi_node_header *header_of(int node) { return (struct gompi_node_header *)(void *)control[node]; }

/* Number of calls of find_dead, which simulates how a process detects failed processes of its own node. */
static uint64_t find_dead_calls;
static void find_dead(void) {
	find_dead_calls++;
	for (int i = 0; i < ranks_per_node; i++)
		if (job[node_on[self] * ranks_per_node + i].is_killed &&
		    gompi_load(&gompi_cell(i)->state) != GOMPI_STATE_FAILED) {
			gompi_store(&gompi_cell(i)->state, GOMPI_STATE_FAILED);
			gompi_add(&gompi_node_header()->failed_count, 1);
		}
}

/* --- Future events: rounds of progress threads, and frames in flight */

struct event {
	int64_t at;
	uint64_t number; /* sequence number: orders the events that have the same time */
	int32_t from, to;
	uint32_t length; /* length of the frame; 0 if the event is a round of a progress thread */
	char frame[64];
};
static struct event *events;
static size_t events_n, events_room;
static uint64_t events_all;

static bool is_earlier(const struct event *a, const struct event *b) {
	return a->at != b->at ? a->at < b->at : a->number < b->number;
}

static void add_event(int64_t at, int from, int to, const void *frame, size_t length) {
	if (events_n == events_room)
		events = realloc(events, (events_room = events_room * 2 + 1024) * sizeof *events);
	size_t i = events_n++;
	struct event e = {.at = at, .number = events_all++, .from = from, .to = to, .length = (uint32_t)length};
	if (length > 0)
		memcpy(e.frame, frame, length);
	for (; i > 0 && is_earlier(&e, &events[(i - 1) / 2]); i = (i - 1) / 2)
		events[i] = events[(i - 1) / 2];
	events[i] = e;
}

static struct event take_event(void) {
	struct event first = events[0], last = events[--events_n];
	size_t i = 0, child;
	while ((child = 2 * i + 1) < events_n) {
		child += child + 1 < events_n && is_earlier(&events[child + 1], &events[child]);
		if (!is_earlier(&events[child], &last))
			break;
		events[i] = events[child];
		i = child;
	}
	events[i] = last;
	return first;
}

/* --- The simulated network */

static uint64_t asked, answered, records; /* number of requests, answers and other records sent so far */
static struct gompi_net_op *posted[64];
static int posted_n;
static struct gompi_net_completion finished[64];
static int finished_n;

static enum gompi_net_error fake_inject(int peer, char *at, size_t bytes) {
	const struct gompi_frame_head *h = (const struct gompi_frame_head *)(const void *)at;
	const bool has_records = bytes > sizeof *h;
	asked += !has_records && h->sequence == GOMPI_FRAME_PROBE;
	answered += !has_records && h->sequence == GOMPI_FRAME_CREDITS;
	records += has_records && !job[self].is_cut;
	if (!job[self].is_cut && !job[peer].is_cut)
		add_event(now + 20000 + (int64_t)draw(draw(50) == 0 ? 50 * MS : 200000), self, peer, at, bytes);
	return NET_SUCCESS;
}

static enum gompi_net_error fake_send(int peer, char *at, size_t bytes, struct gompi_net_local *local,
				      struct gompi_net_op *op) {
	CHECK(false, "a frame of %zu bytes", bytes);
	return NET_SUCCESS;
}

static enum gompi_net_error fake_post_receive(char *at, size_t bytes, struct gompi_net_local *local,
					      struct gompi_net_op *op) {
	posted[posted_n++] = op;
	return NET_SUCCESS;
}

static int fake_poll(struct gompi_net_completion *to, int most) {
	if (finished_n == 0)
		return 0;
	*to = finished[--finished_n];
	return 1;
}

/* --- Progress threads */

static int64_t spent; /* nanoseconds of real time spent in rounds */
static uint64_t rounds;

static int64_t real_ns(void) {
	struct timespec t;
	__real_clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECONDS + t.tv_nsec;
}

/* Runs one round of a progress thread, with the same steps as gompi_net_progress_run after each sleep. */
static void progress_round(void) {
	struct process *p = &job[self];
	int64_t begin = real_ns();
	p->next_round_ns = gompi_health_tick(now);
	gompi_fabric_flush(-1);
	while (finished_n > 0 || gompi_peers_have_retries())
		gompi_fabric_progress();
	int64_t again = gompi_health_tick(now);
	spent += real_ns() - begin;
	rounds++;
	p->next_round_ns = again;
	if (again != INT64_MAX)
		add_event(again, self, self, NULL, 0);
	if (p->known_since_ns == 0 && gompi_load(&gompi_node_header()->failed_processes[0].rank) != 0)
		p->known_since_ns = now;
}

static void run_event(const struct event *e) {
	struct process *p = &job[e->to];
	if (p->is_killed || (p->is_cut && e->length > 0))
		return;
	if (now < p->stopped_until_ns) {
		add_event(p->stopped_until_ns, e->from, e->to, e->frame, e->length);
		return;
	}
	if (e->length == 0 && e->at < p->next_round_ns && p->next_round_ns != 0)
		return; /* the progress thread has run since this event was added, and its next round is later */
	switch_to_process(e->to);
	/* Only a process that has received a frame, or the lowest living process of its node, which sends the probes,
	 * needs the table of peers. */
	if (gompi_peers == NULL && (e->length > 0 || living_below() == 0))
		CHECK(gompi_peers_open(), "no memory");
	if (e->length > 0) {
		struct gompi_frame *f = (struct gompi_frame *)posted[--posted_n];
		memcpy(f->bytes, e->frame, e->length);
		finished[finished_n++] =
			(struct gompi_net_completion){.op = &f->op, .bytes = e->length, .peer = e->from};
	}
	progress_round();
}

static void run_until(int64_t end) {
	while (events_n > 0 && events[0].at < end) {
		struct event e = take_event();
		now = e.at;
		run_event(&e);
	}
	now = end;
}

/* Returns the number of peers that process i has communicated with. */
static uint32_t peers_created(int i) {
	uint32_t n = 0;
	switch_to_process(i);
	for (const struct gompi_peer *p = gompi_peers_first(); p != NULL; p = p->next)
		n++;
	return n;
}

/* --- Start */

static void begin(int n, int p, int64_t timeout) {
	static const struct gompi_net_ops ops = {
		.inject = fake_inject, .send = fake_send, .post_receive = fake_post_receive, .poll = fake_poll};
	nodes = n, ranks_per_node = p, ranks = n * p, now = SECONDS;
	unit_node(1);
	gompi_go_callbacks.find_failed = find_dead;
	struct gompi_node node = gompi_node;
	node.n = ranks_per_node, node.cell_stride = sizeof(struct gompi_cell);
	const size_t bytes = 4096 + (size_t)ranks_per_node * node.cell_stride;
	node_on = malloc((size_t)ranks * sizeof *node_on);
	int32_t *places = malloc((size_t)ranks * sizeof *places);
	job = calloc((size_t)ranks, sizeof *job);
	control = malloc((size_t)nodes * sizeof *control);
	for (int i = 0; i < nodes; i++)
		control[i] = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < nodes; i++)
		gompi_store(&header_of(i)->process_count, (uint32_t)ranks_per_node);
	for (int i = 0; i < ranks; i++)
		node_on[i] = i / ranks_per_node, places[i] = -1;
	node.processes = unit_processes(ranks, node_on, places);
	gompi_node_open(&node);
	free(places);
	gompi_net.ops = &ops, gompi_net.fd = -1;
	gompi_net.inject_bytes = 64, gompi_net.size = gompi_net.capacity = ranks;
	CHECK(gompi_health_open(timeout) && gompi_net_post_receives(), "opening");
	gompi_fabric_open_flag = true;
	for (int i = 0; i < ranks; i++) {
		job[i].health = health;
		job[i].health.node = node_on[i];
		job[i].health.is_reported = calloc((size_t)ranks_per_node, sizeof(bool));
		add_event(now + (int64_t)draw(SECONDS), i, i, NULL, 0);
	}
	run_until(now + 5 * SECONDS); /* long enough for heartbeat requests between all neighboring nodes */
	CHECK(gompi_load(&header_of(0)->failed_count) == 0, "somebody is lost at once");
}

/* --- Scenes */

static bool print;
#define SAY(...) (void)(print && printf(__VA_ARGS__))

/* Runs the job for some seconds while all processes live. */
static void steady(int seconds) {
	uint64_t a = asked, b = answered, c = records, l = find_dead_calls, r = rounds;
	int64_t s = spent;
	run_until(now + seconds * SECONDS);
	a = asked - a, b = answered - b, l = find_dead_calls - l, r = rounds - r, s = spent - s;
	double expected = seconds / (PROBE_NS / 1e9) * nodes;
	SAY("steady: a node sends %.2f questions and as many answers a second, the job %.0f messages; %.1f times a "
	    "second somebody looks for the dead of a node; a round takes %.2f us, those of a node %.0f us a second\n",
	    (double)a / seconds / nodes, (double)(a + b) / seconds, (double)l / seconds / nodes,
	    (double)s / (double)r / 1000, (double)s / 1000 / seconds / nodes);
	CHECK(records == c && (double)a <= 1.05 * expected && (double)a > 0.8 * expected && b <= a + (uint64_t)nodes,
	      "%llu questions and %llu answers in %d s of %d nodes", (unsigned long long)a, (unsigned long long)b,
	      seconds, nodes);
	uint32_t most = 0;
	for (int i = 0; i < ranks; i++) {
		const uint32_t created = peers_created(i);
		most = created > most ? created : most;
		CHECK(created == 0 || i % ranks_per_node == 0, "process %d of its node talks to others",
		      i % ranks_per_node);
	}
	CHECK(most <= 2, "a process talks to %u others", most);
	for (int i = 0; i < nodes; i++)
		CHECK(gompi_load(&header_of(i)->failed_count) == 0, "node %d has lost somebody", i);
}

/* Returns the seconds from the time `begin` until the last live node learned of the failure. Checks that each node has
 * recorded the right rank and cause. */
static double detection_seconds(int64_t begin, int rank, uint32_t why) {
	int64_t last = begin;
	for (int i = 0; i < nodes; i++) {
		if (job[i * ranks_per_node].is_cut)
			continue;
		int64_t soonest = INT64_MAX;
		for (int k = i * ranks_per_node; k < (i + 1) * ranks_per_node; k++)
			if (job[k].known_since_ns != 0 && job[k].known_since_ns < soonest)
				soonest = job[k].known_since_ns;
		int failed = (int)gompi_load(&header_of(i)->failed_processes[0].rank) - 1;
		CHECK(soonest != INT64_MAX && failed == rank &&
			      gompi_load(&header_of(i)->failed_processes[0].cause) == why,
		      "node %d knows of %d, why %u", i, failed, gompi_load(&header_of(i)->failed_processes[0].cause));
		if (soonest != INT64_MAX && soonest > last)
			last = soonest;
	}
	return (double)(last - begin) / 1e9;
}

/* Returns the largest number of peers that any process has created. */
static uint32_t max_peers_created(void) {
	uint32_t most = 0;
	for (int i = 0; i < ranks; i++)
		most = peers_created(i) > most ? peers_created(i) : most;
	return most;
}

static int log2_of(int n) {
	int log = 0;
	while (1 << log < n)
		log++;
	return log;
}

/* Prints and checks the detection time, the number of failure reports (some nodes get several), and the number of peers
 * that a process has created to send them. */
static void check_reports(const char *what, double seconds, double most, uint64_t before, int extra_nodes) {
	const uint64_t reports = records - before;
	SAY("%s: all nodes know after %.4f s, by %llu messages; a process has talked to %u others at most\n", what,
	    seconds, (unsigned long long)reports, max_peers_created());
	CHECK(seconds <= most, "%s: known after %.3f s, more than %.3f", what, seconds, most);
	CHECK(reports <= (uint64_t)(nodes + extra_nodes) * (uint64_t)(log2_of(nodes) + 1),
	      "%s: %llu messages among %d nodes", what, (unsigned long long)reports, nodes);
}

/* Cuts `count` consecutive nodes off the network. One process detects that the first of these nodes is silent, and
 * notifies all nodes. It does not know that the other nodes are cut off, too. */
static void nodes_are_cut(int count, int64_t timeout) {
	int node = nodes / 3;
	int64_t begin = now;
	uint64_t before = records;
	for (int i = node * ranks_per_node; i < (node + count) * ranks_per_node; i++)
		job[i].is_cut = true;
	run_until(now + timeout + 3 * SECONDS);
	double took = detection_seconds(begin, node * ranks_per_node, GOMPI_FAILED_NODE_TIMEOUT);
	check_reports(count == 1 ? "a node is silent" : "three nodes are silent", took,
		      (double)(timeout + 2 * PROBE_NS) / 1e9 + 0.5, before, 0);
}

/* Kills the process with index `place` on a node. */
static void process_is_killed(int place) {
	int node = nodes / 2, rank = node * ranks_per_node + place;
	int64_t begin = now;
	uint64_t before = records;
	job[rank].is_killed = true;
	run_until(now + 4 * SECONDS);
	double took = detection_seconds(begin, rank, GOMPI_FAILED_ENDED);
	check_reports(place == 0 ? "the first process of a node is killed" : "another process is killed", took, 2,
		      before, 0);
}

/* Kills a process with many connections. Its peers detect the end of their connections at almost the same time. */
static void many_detect_it(void) {
	int rank = 0, class;
	run_until(now + SECONDS / 3);
	for (int i = ranks_per_node; i<ranks; i += ranks_per_node> 1 && nodes > 100 ? ranks_per_node / 2 : 1) {
		switch_to_process(i);
		if (gompi_peers == NULL)
			gompi_peers_open();
		gompi_peer_get(rank, &class);
	}
	job[rank].is_killed = job[rank].is_cut = true;
	uint64_t before = records;
	int64_t begin = now;
	for (int i = ranks_per_node; i < ranks; i++)
		if (job[i].peers != NULL || i == self) {
			switch_to_process(i);
			struct gompi_peer *p = gompi_peer_find(rank);
			if (p != NULL) {
				gompi_peer_mark_failed(p);
				add_event(now + 1000 + (int64_t)draw(100000), i, i, NULL, 0);
				job[i].next_round_ns = 0;
			}
		}
	run_until(now + 4 * SECONDS);
	double took = detection_seconds(begin, rank, GOMPI_FAILED_CONNECTION);
	check_reports("a process is killed that all are connected with", took, 2, before, 0);
}

/* Stops the first process of a node for less than the timeout. No node may declare it failed. */
static void stopped(int64_t timeout) {
	int rank = nodes / 2 * ranks_per_node;
	job[rank].stopped_until_ns = now + timeout * 6 / 10;
	run_until(now + 2 * timeout);
	for (int i = 0; i < nodes; i++)
		CHECK(gompi_load(&header_of(i)->failed_count) == 0, "node %d has lost somebody who was slow", i);
}

/* Stops the first or the first two processes of a node permanently. The other processes of the node live, so the other
 * nodes must not declare the whole node failed. */
static void stays_stopped(int count, int64_t timeout) {
	int rank = nodes / 2 * ranks_per_node;
	int64_t begin = now;
	uint64_t before = records;
	for (int i = 0; i < count; i++)
		job[rank + i].stopped_until_ns = now + 10 * timeout;
	run_until(now + timeout + 3 * SECONDS);
	double took = detection_seconds(begin, rank, GOMPI_FAILED_TIMEOUT);
	check_reports(count == 1 ? "the first process of a node is stopped" : "the first two of a node are stopped",
		      took, (double)(timeout + 2 * PROBE_NS) / 1e9 + 0.5, before,
		      WITNESSES /* additional reports on that node */);
}

enum { SCENES = 9 };
static void scene(int i, int n, int p) {
	const int64_t timeout = 30 * SECONDS;
	begin(n, p, timeout);
	switch (i) {
	case 0:
		steady(n * p > 10000 ? 15 : 60);
		SAY("each: %zu bytes for what a process keeps of its own, %zu for each peer, %zu for each process of "
		    "the job\n",
		    sizeof health, sizeof(struct gompi_peer), sizeof *node_on + sizeof *gompi_peers);
		break;
	case 1:
	case 2:
		nodes_are_cut(i == 1 ? 1 : 3, timeout);
		break;
	case 3:
		process_is_killed(0);
		break;
	case 4:
		process_is_killed(p - 1);
		break;
	case 5:
		many_detect_it();
		break;
	case 6:
		stopped(timeout);
		break;
	case 7:
	case 8:
		stays_stopped(i - 6, timeout);
		break;
	}
}

static void all_scenes(int n, int p) {
	SAY("%d processes on %d nodes\n", n * p, n);
	for (int i = 0; i < SCENES; i++) {
		if ((i == 2 && n < 16) || ((i == 3 || i == 4 || i == 7) && p == 1) || (i == 8 && p < 3))
			continue; /* the job has too few nodes or processes for this scene */
		fflush(stdout);
		pid_t child = fork();
		if (child == 0) {
			check_errors = 0;
			scene(i, n, p);
			fflush(stdout);
			_exit(check_errors != 0);
		}
		int status;
		waitpid(child, &status, 0);
		CHECK(status == 0, "scene %d of %d nodes of %d processes ended with %#x", i, n, p, status);
	}
}

int main(int argc, char **argv) {
	if (argc > 2) {
		print = true;
		all_scenes(atoi(argv[1]), atoi(argv[2]));
		return unit_end();
	}
	all_scenes(2, 1);
	all_scenes(3, 4);
	all_scenes(16, 2);
	all_scenes(1000, 3);
	return unit_end();
}
