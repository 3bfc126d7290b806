// Opening and closing links. A process with something to send connects, trying all addresses of the other host one
// after another. A link carries both directions.
//
// Handshake: the accepting side sends a random number (hello). The connecting side answers with its rank, a random
// number of its own and a keyed hash of both with the secret of the job (request). The accepting side answers whether
// it takes the link, with a hash as well (verdict). The connecting side confirms (TCP_CONFIRM). Until then the
// accepting side sends nothing, and does not treat the end of the connection as the loss of the peer.
//
// Crossed connections: two processes may connect to each other at the same time. The request of the lower rank wins.
// The higher rank accepts that one and closes its own. The lower rank refuses the other one once it has sent its own
// request. If it has not sent it yet, which may never be possible, it accepts the other's.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/random.h"
#include "base/sip.h"
#include "base/wait.h"
#include "tcp/link.h"

#define MS 1000000LL
static const int64_t STAGGER = 300 * MS, // then the next address is tried beside one that does not answer
	ATTEMPT = 5000 * MS,             // timeout of an attempt: the system repeats its first packet after 1 and 3 s
	PROOF = 2000 * MS,               // timeout of a stranger's proof that it belongs to the job
	PROOF_SHORT = 100 * MS,          // the same while other connections wait for its descriptor
	PAUSE = 10 * MS, PAUSE_MOST = 1000 * MS, // between two rounds of all addresses: first, maximum
	AGAIN = 20 * MS,                         // before the next attempt if the other side connects itself
	CALL = 1000 * MS,                        // then the other side is asked to connect
	TELL = 5000 * MS,                        // then the problem is printed
	CERTAIN = 12000 * MS;                    // then a peer is given up if the error of each address is definite

enum { BACKLOG = 4096, ACCEPTS = 64, STRANGERS = 256 };

static const uint64_t greeting = 0x31706d6f67; // "gomp1"

enum gompi_verdict_of_link { LINK_YES = 1, LINK_BUSY, LINK_CROSSED, LINK_ERROR };

struct hello {
	uint64_t greeting, number[2];
};
struct request {
	uint32_t source, destination;
	uint64_t number[2], proof;
};
struct verdict {
	uint32_t said, zero;
	uint64_t proof;
};
_Static_assert(sizeof(struct request) <= GOMPI_HANDSHAKE, "a message before a link is open");

struct gompi_tcp_counts gompi_tcp_counts;

// --- Pacing

// If the system paces packets by an estimate of the rate (BBR), the few packets of a message wait for each other, and
// the low rate lowers the estimate. So a link begins without pacing. Pacing that has begun does not end.
static const char paced[] = "bbr";
static bool is_paced; // the system's default is BBR

static void begin_unpaced(int fd) {
	char name[16] = ""; // the maximum length of a name
	socklen_t length = sizeof name;
	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &length) != 0 || strncmp(name, paced, sizeof name) != 0)
		return;
	is_paced = true;
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5) != 0) // may not be permitted
		setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
}

// Turns pacing on again on a connection with a long round-trip time, where it is useful.
static void pace_if_long(int fd) {
	enum { LONG_US = 1000 };
	struct tcp_info info;
	socklen_t length = sizeof info;
	if (is_paced && getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 && info.tcpi_rtt >= LONG_US)
		setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, paced, sizeof paced - 1);
}

static uint64_t proof(uint64_t what, uint32_t source, uint32_t destination, const uint64_t accepts[2],
		      const uint64_t asks[2]) {
	const uint64_t words[] = {what, source | (uint64_t)destination << 32, accepts[0], accepts[1], asks[0], asks[1]};
	return gompi_sip(gompi_tcp_state.job.secret, words, sizeof words / sizeof *words);
}

// --- Strangers
//
// A stranger is a connection that has not proved yet that it belongs to the job. The number (most_strangers) and time
// (PROOF) of strangers are bounded, and no link is closed for one. If the process has no descriptor left, a stranger is
// accepted with the spare descriptor (reserve). If the stranger proves to be a peer, it keeps that descriptor; then an
// idle link is closed in exchange.

// Sets the epoll events of the listeners: EPOLLIN, or 0 in order to ignore waiting connections.
static void watch_listeners(uint32_t events) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	struct epoll_event e = {.events = events, .data.ptr = NULL};
	for (int i = 0; i < t->n_listeners; i++)
		epoll_ctl(t->epoll, EPOLL_CTL_MOD, t->listeners[i], &e);
}

// Leaves connections in the listeners' queues until a descriptor or a stranger's place becomes free, or for
// PROOF_SHORT.
static void stop_accepting(int64_t now) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	if (t->accept_at == 0)
		watch_listeners(0);
	t->accept_at = now + PROOF_SHORT;
	gompi_timer_at(t->accept_at);
}

static void accept_again(void) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	if (t->accept_at == 0)
		return;
	t->accept_at = 0;
	watch_listeners(EPOLLIN);
}

static bool is_out_of_files(int error) { return error == EMFILE || error == ENFILE; }

void gompi_reserve_descriptor(void) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	if (t->reserve < 0)
		t->reserve = eventfd(0, EFD_CLOEXEC);
	if (t->reserve >= 0)
		t->reserve_owed = false;
}

static int most_strangers(void) {
	const int quarter = gompi_tcp_state.most_links / 4;
	return quarter < 1 ? 1 : quarter < STRANGERS ? quarter : STRANGERS;
}

// Closes the oldest stranger if it has existed for at least PROOF_SHORT. Returns false if there is no such stranger.
static bool drop_stranger(int64_t now) {
	struct gompi_tcp_link *oldest = NULL;
	for (struct gompi_tcp_link *l = gompi_tcp_state.links; l != NULL; l = l->next)
		if (l->state == LINK_STRANGE && (oldest == NULL || l->deadline < oldest->deadline))
			oldest = l;
	if (oldest == NULL || now < oldest->deadline - PROOF + PROOF_SHORT)
		return false;
	gompi_tcp_counts.strangers++;
	gompi_link_close(oldest);
	return true;
}

// --- Links

// Creates the link of a socket. On failure returns NULL and closes the socket.
static struct gompi_tcp_link *add_link(int fd, enum gompi_link_state state, int64_t deadline) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	struct gompi_tcp_link *l = calloc(1, sizeof *l);
	if (l == NULL) {
		close(fd);
		return NULL;
	}
	l->fd = fd;
	l->state = state;
	l->deadline = deadline;
	l->next = t->links;
	if (l->next != NULL)
		l->next->before = l;
	t->links = l;
	t->strangers += state == LINK_STRANGE;
	gompi_tcp_counts.links++;
	struct epoll_event e = {.events = state == LINK_CONNECTING ? EPOLLOUT : EPOLLIN, .data.ptr = l};
	l->watched = e.events;
	if (!gompi_random(l->mine, sizeof l->mine) || epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &e) != 0) {
		gompi_link_close(l);
		return NULL;
	}
	gompi_timer_at(deadline);
	return l;
}

// Closed links, kept until no caller can refer to them.
static struct gompi_tcp_link *closed;

void gompi_link_close(struct gompi_tcp_link *l) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	if (l->fd < 0)
		return;
	// A child of fork() may hold the socket open as well. So this shuts it down and removes it from epoll
	// explicitly.
	epoll_ctl(t->epoll, EPOLL_CTL_DEL, l->fd, NULL);
	shutdown(l->fd, SHUT_RDWR);
	close(l->fd);
	l->fd = -1;
	t->strangers -= l->state == LINK_STRANGE;
	gompi_tcp_counts.links--;
	gompi_reserve_descriptor();
	accept_again();
	if (l->next != NULL)
		l->next->before = l->before;
	*(l->before != NULL ? &l->before->next : &t->links) = l->next;
	if (l->stalled)
		for (struct gompi_tcp_link **at = &t->stalled; *at != NULL; at = &(*at)->next_stalled)
			if (*at == l) {
				*at = l->next_stalled;
				break;
			}
	if (t->hot == l)
		t->hot = NULL;
	if (l->place != NULL) { // the message is incomplete: the buffer is posted again
		l->place->next = t->places;
		t->places = l->place;
	}
	if (l->answered != NULL) {
		l->answered->next = l->peer->requests;
		l->peer->requests = l->answered;
	}
	l->next = closed;
	closed = l;
}

void gompi_links_free(void) {
	struct gompi_tcp_link *l;
	while ((l = closed) != NULL) {
		closed = l->next;
		free(l->stash);
		free(l);
	}
}

void gompi_timer_at(int64_t when) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	if (when == 0 || (t->timer_at != 0 && t->timer_at <= when))
		return;
	t->timer_at = when;
	struct itimerspec s = {.it_value = {when / 1000000000, when % 1000000000}};
	timerfd_settime(t->timer, TFD_TIMER_ABSTIME, &s, NULL);
}

// Sends a few bytes without blocking. Returns false if not all of them were sent.
static bool send_now(struct gompi_tcp_link *l, const void *what, size_t bytes) {
	return send(l->fd, what, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)bytes;
}

// --- Trying the addresses of a peer

static struct gompi_tcp_host *peer_host(const struct gompi_tcp_peer *p) {
	return &gompi_tcp_state.hosts[gompi_tcp_state.job.node_of[p->rank]];
}

// Returns the i-th address of a peer's host; the loopback address follows the published ones.
static struct gompi_host_address tried_address(const struct gompi_tcp_peer *p, int i) {
	static const struct gompi_host_address loopback = {4, REACH_HOST, {127, 0, 0, 1}};
	const struct gompi_tcp_host *h = peer_host(p);
	return i < h->n ? h->a[i] : loopback;
}

// Sets the order in which addresses are tried: first the one that worked for the node, then the loopback interface if
// the peer is on this host, then the published order.
static void order_addresses(struct gompi_tcp_peer *p) {
	const struct gompi_tcp_state *t = &gompi_tcp_state;
	const struct gompi_tcp_host *h = peer_host(p);
	const bool here = h->identity == t->here.identity;
	const int worked = t->worked[t->job.node_of[p->rank]];
	p->n = 0;
	if (worked >= 0)
		p->order[p->n++] = worked;
	if (here && h->loopback && worked != h->n)
		p->order[p->n++] = h->n;
	for (int i = 0; i < h->n; i++) {
		// the peer is on another host, but the address is one of this host's: connecting would reach this host
		bool mine = false;
		for (int k = 0; k < t->here.n && !here; k++)
			mine = mine || gompi_host_same(&h->a[i], &t->here.a[k]);
		if (i != worked && !mine)
			p->order[p->n++] = i;
	}
}

static void stop_wanting(struct gompi_tcp_peer *p) {
	p->wants = false;
	for (struct gompi_tcp_peer **at = &gompi_tcp_state.wanting; *at != NULL; at = &(*at)->next)
		if (*at == p) {
			*at = p->next;
			break;
		}
}

static void drop_attempts(struct gompi_tcp_peer *p, const struct gompi_tcp_link *but) {
	for (int i = 0; i < GOMPI_ATTEMPTS; i++) {
		if (p->attempts[i] != NULL && p->attempts[i] != but)
			gompi_link_close(p->attempts[i]);
		p->attempts[i] = NULL;
	}
}

static int attempts_of(const struct gompi_tcp_peer *p) {
	int n = 0;
	for (int i = 0; i < GOMPI_ATTEMPTS; i++)
		n += p->attempts[i] != NULL;
	return n;
}

// Handles the lack of a descriptor: reports it once, and tries to free one. Returns true if one is free now.
static bool give_links_up(int at_least);
static bool no_more_files(int64_t now) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	if (t->strangers > 0)
		return drop_stranger(now); // if it returns false, the oldest can be closed within PROOF_SHORT
	give_links_up(1);
	if (t->short_of_files)
		return false;
	t->short_of_files = true;
	struct rlimit r = {0};
	getrlimit(RLIMIT_NOFILE, &r);
	fprintf(stderr,
		"gompirma: rank %d cannot open another connection: the limit of %llu open files is reached (ulimit "
		"-n), "
		"%d of them connections; it closes idle connections and retries\n",
		t->job.rank, (unsigned long long)r.rlim_cur, gompi_tcp_counts.links);
	return false;
}

static void remember_failure(struct gompi_tcp_peer *p, int address, int error, int64_t now) {
	p->failed[address].error = error;
	p->failed[address].when = now;
}

// Begins to connect to an address. Returns 0 or an errno.
static int attempt(struct gompi_tcp_peer *p, int address, int64_t now) {
	struct sockaddr_storage to;
	const struct gompi_host_address a = tried_address(p, address);
	uint16_t port;
	memcpy(&port, gompi_tcp_state.job.ports + (size_t)p->rank * GOMPI_TCP_PORT, sizeof port);
	const socklen_t length = gompi_host_sockaddr(&a, port, &to);
	int slot = 0;
	while (slot < GOMPI_ATTEMPTS && p->attempts[slot] != NULL)
		slot++;
	if (slot == GOMPI_ATTEMPTS)
		return EAGAIN;
	const int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
	int fd = socket(to.ss_family, type, 0), error = errno;
	if (fd < 0 && is_out_of_files(error) && no_more_files(now))
		fd = socket(to.ss_family, type, 0);
	if (fd < 0)
		return error;
	const int one = 1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	begin_unpaced(fd);
	if (connect(fd, (struct sockaddr *)&to, length) != 0 && errno != EINPROGRESS) {
		error = errno;
		close(fd);
		return error;
	}
	struct gompi_tcp_link *l = add_link(fd, LINK_CONNECTING, now + ATTEMPT);
	if (l == NULL)
		return ENOMEM;
	l->peer = p;
	l->address = address;
	p->attempts[slot] = l;
	give_links_up(0);
	return 0;
}

// Returns the text for the error of an address.
static const char *error_text(int error) {
	switch (error) {
	case -1:
		return "a process of another job answers";
	case 0:
		return "no answer yet";
	case ETIMEDOUT:
		return "timed out";
	default:
		return strerror(error);
	}
}

void gompi_tcp_why(int peer, char *text, size_t bytes) {
	const struct gompi_tcp_state *t = &gompi_tcp_state;
	struct gompi_tcp_peer *p = (uint32_t)peer < (uint32_t)t->job.size ? t->peers[peer] : NULL;
	char mine[80] = "?", theirs[80] = "?";
	text[0] = 0;
	if (p == NULL || !(p->wants || p->unreachable) || (p->round == 0 && p->at == 0))
		return;
	if (t->job.events->host != NULL) {
		t->job.events->host(t->job.rank, mine, sizeof mine);
		t->job.events->host(peer, theirs, sizeof theirs);
	}
	int at = snprintf(text, bytes, "rank %d on %s cannot reach rank %d on %s:", t->job.rank, mine, peer, theirs);
	uint16_t port;
	memcpy(&port, t->job.ports + (size_t)peer * GOMPI_TCP_PORT, sizeof port);
	for (int i = 0; i < p->n && at < (int)bytes; i++) {
		char address[INET6_ADDRSTRLEN];
		const struct gompi_host_address a = tried_address(p, p->order[i]);
		gompi_host_text(&a, address);
		at += snprintf(text + at, bytes - (size_t)at, "%s %s port %u: %s", i > 0 ? ";" : "", address, port,
			       error_text(p->failed[p->order[i]].error));
	}
	if (p->n == 0 && at < (int)bytes)
		at += snprintf(text + at, bytes - (size_t)at,
			       " it has no address that differs from those of this host");
	if (at < (int)bytes)
		snprintf(text + at, bytes - (size_t)at, "; select a network with GOMPIRMA_INTERFACE");
}

// Returns true if the error of each address is definite. Called after all addresses have been tried.
static bool all_certain(const struct gompi_tcp_peer *p) {
	for (int i = 0; i < p->n; i++) {
		int error = p->failed[p->order[i]].error;
		if (error == 0 || error == ETIMEDOUT)
			return false;
	}
	return true;
}

static bool all_refuse(const struct gompi_tcp_peer *p) {
	const int worked = gompi_tcp_state.worked[gompi_tcp_state.job.node_of[p->rank]];
	if (worked >= 0)
		return p->failed[worked].error == ECONNREFUSED;
	for (int i = 0; i < p->n; i++)
		if (p->failed[p->order[i]].error != ECONNREFUSED)
			return false;
	return p->n > 0;
}

static void end_round(struct gompi_tcp_peer *p, int64_t now) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	p->round++;
	p->at = 0;
	p->refused = all_refuse(p);
	p->pause = p->pause == 0 ? PAUSE : p->pause < PAUSE_MOST ? 2 * p->pause : p->pause;
	p->next_try = now + p->pause;
	if (p->has_been)
		return; // health.c decides whether a peer that was connected before has failed
	const bool certain = all_certain(p);
	const int64_t limit = certain && CERTAIN < t->job.timeout ? CERTAIN : t->job.timeout;
	static bool told;
	if (!p->warned && now - p->since >= (limit > 0 && TELL > limit / 2 ? limit / 2 : TELL)) {
		char text[GOMPI_TCP_TEXT];
		p->warned = true;
		gompi_tcp_why(p->rank, text, sizeof text);
		if (!told)
			fprintf(stderr, "gompirma: %s; retrying\n", text);
		told = true;
	}
	if (limit > 0 && now - p->since >= limit) {
		p->gone = p->unreachable = true;
		stop_wanting(p);
		gompi_peer_fail(p, FI_EHOSTUNREACH);
		t->job.events->unreachable(p->rank);
	}
}

// Tries the next address of a peer, and sets the time of the next try.
static void try_next(struct gompi_tcp_peer *p, int64_t now) {
	const struct gompi_tcp_events *tell = gompi_tcp_state.job.events;
	if (now - p->since >= CALL && tell->call != NULL)
		tell->call(p->rank);
	while (p->at < p->n && attempts_of(p) < GOMPI_ATTEMPTS) {
		const int address = p->order[p->at++];
		int error = attempt(p, address, now);
		if (error == 0) {
			p->next_try = now + STAGGER;
			return;
		}
		if (is_out_of_files(error) || error == ENOMEM || error == ENOBUFS || error == EAGAIN) {
			p->at--; // a temporary shortage of this process, not an error of the address
			p->since = now;
			p->next_try = now + AGAIN;
			return;
		}
		remember_failure(p, address, error, now);
	}
	if (attempts_of(p) > 0)
		p->next_try = now + STAGGER;
	else
		end_round(p, now);
}

void gompi_peer_wants(struct gompi_tcp_peer *p) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	if (p->link != NULL || p->gone || p->wants)
		return;
	const int64_t now = gompi_now_ns();
	p->wants = true;
	p->round = p->at = 0;
	p->since = now;
	p->pause = 0;
	p->refused = false;
	memset(p->failed, 0, sizeof p->failed);
	p->next = t->wanting;
	t->wanting = p;
	order_addresses(p);
	try_next(p, now);
	gompi_timer_at(p->next_try);
}

// Ends an attempt after an error. Tries the next address at once.
static void attempt_failed(struct gompi_tcp_link *l, int error) {
	struct gompi_tcp_peer *p = l->peer;
	const int64_t now = gompi_now_ns();
	for (int i = 0; i < GOMPI_ATTEMPTS; i++)
		if (p->attempts[i] == l)
			p->attempts[i] = NULL;
	remember_failure(p, l->address, error, now);
	gompi_link_close(l);
	if (!p->wants)
		return;
	if (p->at < p->n || attempts_of(p) == 0)
		try_next(p, now);
	gompi_timer_at(p->next_try);
}

// Ends an attempt because the other side connects as well. Its connection will be used, or this side tries again later.
static void attempt_later(struct gompi_tcp_link *l) {
	struct gompi_tcp_peer *p = l->peer;
	const int64_t now = gompi_now_ns();
	for (int i = 0; i < GOMPI_ATTEMPTS; i++)
		if (p->attempts[i] == l)
			p->attempts[i] = NULL;
	gompi_link_close(l);
	p->since = now;
	p->at = 0;
	p->pause = p->pause == 0 ? AGAIN : p->pause < PAUSE_MOST ? 2 * p->pause : p->pause;
	p->next_try = now + p->pause;
	gompi_timer_at(p->next_try);
}

static void open_link(struct gompi_tcp_link *l, struct gompi_tcp_peer *p, enum gompi_link_state state) {
	pace_if_long(l->fd);
	drop_attempts(p, l);
	if (p->wants)
		stop_wanting(p);
	p->link = l;
	p->refused = false;
	l->peer = p;
	if (l->state == LINK_STRANGE) {
		gompi_tcp_state.strangers--;
		accept_again();
	}
	l->state = state;
	l->deadline = 0;
	l->have = 0;
	l->used = gompi_now_ns();
}

// --- The handshake

// Receives a handshake message of `bytes` bytes. Returns 1 if it is complete, 0 if not yet, -1 with errno if the
// connection has ended.
static int take_message(struct gompi_tcp_link *l, size_t bytes) {
	while (l->have < bytes) {
		ssize_t n = recv(l->fd, l->in.bytes + l->have, bytes - l->have, MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0) {
			if (n == 0)
				errno = ECONNRESET;
			return -1;
		}
		l->have += (size_t)n;
	}
	l->have = 0;
	return 1;
}

static enum gompi_verdict_of_link judge_peer(struct gompi_tcp_peer *p) {
	if (p->link != NULL)
		return LINK_BUSY;
	if (p->rank < gompi_tcp_state.job.rank)
		return LINK_YES;
	for (int i = 0; i < GOMPI_ATTEMPTS; i++)
		if (p->attempts[i] != NULL && p->attempts[i]->requested)
			return LINK_CROSSED;
	return LINK_YES;
}

// Handles a stranger's request.
static void judge_stranger(struct gompi_tcp_link *l) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	struct request r;
	memcpy(&r, l->in.bytes, sizeof r);
	if (r.proof != proof(1, r.source, r.destination, l->mine, r.number) || r.source >= (uint32_t)t->job.size) {
		gompi_tcp_counts.strangers++;
		gompi_link_close(l);
		return;
	}
	struct verdict v = {.said = LINK_ERROR};
	struct gompi_tcp_peer *p = NULL;
	if (r.destination == (uint32_t)t->job.rank) {
		p = gompi_tcp_peer((int)r.source);
		v.said = p == NULL || p->gone ? LINK_BUSY : judge_peer(p);
	}
	v.proof = proof(2 | (uint64_t)v.said << 32, r.source, r.destination, l->mine, r.number);
	if (!send_now(l, &v, sizeof v) || v.said != LINK_YES) {
		gompi_tcp_counts.crossed += v.said == LINK_CROSSED;
		gompi_link_close(l);
		return;
	}
	gompi_tcp_counts.accepted++;
	open_link(l, p, LINK_TAKEN);
	gompi_reserve_descriptor();
	t->reserve_owed = t->reserve < 0 && !give_links_up(1);
	give_links_up(0);
}

// Handles the hello of the accepting side: sends the request.
static void send_request(struct gompi_tcp_link *l) {
	const struct gompi_tcp_state *t = &gompi_tcp_state;
	struct hello h;
	memcpy(&h, l->in.bytes, sizeof h);
	if (h.greeting != greeting) {
		attempt_failed(l, -1);
		return;
	}
	memcpy(l->theirs, h.number, sizeof l->theirs);
	struct request r = {.source = (uint32_t)t->job.rank, .destination = (uint32_t)l->peer->rank};
	memcpy(r.number, l->mine, sizeof r.number);
	r.proof = proof(1, r.source, r.destination, l->theirs, l->mine);
	l->requested = true;
	if (!send_now(l, &r, sizeof r))
		attempt_failed(l, ECONNRESET);
}

// Handles the verdict of the accepting side.
static void take_verdict(struct gompi_tcp_link *l) {
	const struct gompi_tcp_state *t = &gompi_tcp_state;
	struct gompi_tcp_peer *p = l->peer;
	struct verdict v;
	memcpy(&v, l->in.bytes, sizeof v);
	if (v.proof !=
		    proof(2 | (uint64_t)v.said << 32, (uint32_t)t->job.rank, (uint32_t)p->rank, l->theirs, l->mine) ||
	    v.said == LINK_ERROR) {
		attempt_failed(l, -1);
		return;
	}
	static const uint64_t confirm = TCP_CONFIRM; // the head: its kind, and length 0
	if (v.said != LINK_YES || p->link != NULL || p->gone) {
		attempt_later(l);
		return;
	}
	if (!send_now(l, &confirm, sizeof confirm)) {
		attempt_failed(l, ECONNRESET);
		return;
	}
	gompi_tcp_counts.connected++;
	gompi_tcp_state.worked[t->job.node_of[p->rank]] = (int8_t)l->address;
	open_link(l, p, LINK_OPEN);
	p->has_been = true;
	gompi_link_send(l);
}

void gompi_link_handshake(struct gompi_tcp_link *l, bool out) {
	int error = 0, taken;
	socklen_t length = sizeof error;
	switch (l->state) {
	case LINK_CONNECTING:
		if (getsockopt(l->fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
			error = errno;
		if (error != 0) {
			attempt_failed(l, error);
		} else if (out) {
			l->state = LINK_ASKING;
			gompi_link_watch(l, false);
		}
		return;
	case LINK_ASKING:
		taken = take_message(l, l->requested ? sizeof(struct verdict) : sizeof(struct hello));
		if (taken < 0)
			attempt_failed(l, errno);
		else if (taken > 0 && l->requested)
			take_verdict(l);
		else if (taken > 0)
			send_request(l);
		return;
	case LINK_STRANGE:
		taken = take_message(l, sizeof(struct request));
		if (taken > 0)
			judge_stranger(l);
		else if (taken < 0)
			gompi_link_close(l);
		return;
	default:
		return;
	}
}

// --- The end of a link

void gompi_link_broken(struct gompi_tcp_link *l, int error) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	struct gompi_tcp_peer *p = l->peer;
	const enum gompi_link_state state = l->state;
	if (state == LINK_CONNECTING || state == LINK_ASKING) {
		attempt_failed(l, error != 0 ? error : ECONNRESET);
		return;
	}
	gompi_link_close(l);
	if (p == NULL || p->link != l)
		return;
	p->link = NULL;
	if (state == LINK_OPEN) {
		p->gone = true;
		gompi_peer_fail(p, FI_ENOTCONN);
		t->job.events->lost(p->rank);
	} else if (p->first != NULL || p->requests != NULL) {
		gompi_peer_wants(p); // the link had not been confirmed, or was being closed as idle
	}
}

static bool is_idle(const struct gompi_tcp_link *l) {
	return l->state == LINK_OPEN && l->peer->first == NULL && l->peer->requests == NULL && !l->in_body &&
	       l->have == 0 && !l->stalled;
}

// Closes an idle link, after both sides have agreed.
static void part(struct gompi_tcp_link *l) {
	struct gompi_tcp_peer *p = l->peer;
	p->link = NULL;
	gompi_tcp_counts.idle++;
	gompi_link_close(l);
	if (p->first != NULL || p->requests != NULL)
		gompi_peer_wants(p);
}

void gompi_link_bye(struct gompi_tcp_link *l, enum gompi_tcp_kind kind) {
	static const uint64_t go = TCP_GO;
	if (kind == TCP_BYE && l->state == LINK_BYE) {
		part(l);
	} else if (kind == TCP_BYE) {
		if (is_idle(l) && send_now(l, &go, sizeof go))
			part(l); // the other side sends nothing more, so no data is lost
		else
			gompi_link_tell(l, TCP_STAY);
	} else if (l->state == LINK_BYE && kind == TCP_GO) {
		part(l);
	} else if (l->state == LINK_BYE) {
		l->state = LINK_OPEN;
		l->used = gompi_now_ns();
		gompi_tcp_state.reserve_owed = gompi_tcp_state.reserve < 0; // another link must be closed
		gompi_link_send(l);
	}
}

// Raises the soft limit of open files to the hard one. Returns true if it was lower.
static bool raise_limit(void) {
	struct rlimit r = {0};
	if (getrlimit(RLIMIT_NOFILE, &r) != 0)
		return false;
	const bool raises = r.rlim_cur < r.rlim_max;
	r.rlim_cur = r.rlim_max;
	gompi_tcp_state.most_links = r.rlim_cur / 2 < INT32_MAX ? (int)(r.rlim_cur / 2) : INT32_MAX;
	return raises && setrlimit(RLIMIT_NOFILE, &r) == 0;
}

// Raises the limit of open files, then offers to close the links that have been idle for longest: as many as exceed
// most_links, and at least at_least. Returns true if it has offered one.
static bool give_links_up(int at_least) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	static const uint64_t bye = TCP_BYE;
	if (gompi_tcp_counts.links - t->strangers <= t->most_links && at_least == 0)
		return false;
	raise_limit();
	int many = gompi_tcp_counts.links - t->strangers - t->most_links;
	for (const struct gompi_tcp_link *l = t->links; l != NULL; l = l->next)
		many -= l->state == LINK_BYE; // are being closed already
	bool any = false;
	for (many = many > at_least ? many : at_least; many > 0; many--) {
		struct gompi_tcp_link *oldest = NULL;
		for (struct gompi_tcp_link *l = t->links; l != NULL; l = l->next)
			if (is_idle(l) && (oldest == NULL || l->used < oldest->used))
				oldest = l;
		if (oldest == NULL || !send_now(oldest, &bye, sizeof bye))
			break;
		oldest->state = LINK_BYE;
		any = true;
	}
	return any;
}

// --- The listening side

static int listen_at(const struct sockaddr *a, socklen_t length) {
	const int one = 1, zero = 0;
	int fd = socket(a->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	begin_unpaced(fd);
	if (a->sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL};
	struct gompi_tcp_state *t = &gompi_tcp_state;
	if (bind(fd, a, length) == 0 && listen(fd, BACKLOG) == 0 && epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &e) == 0) {
		t->listeners[t->n_listeners++] = fd;
		return 0;
	}
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

// Listens at a port (0: any) on all permitted addresses. Returns 0 or an errno.
static int listen_port(uint16_t port) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	struct sockaddr_storage s;
	int rc = -1;
	if (t->here.loopback) { // one socket listens on all addresses
		struct gompi_host_address any = {.family = 6};
		socklen_t length = gompi_host_sockaddr(&any, port, &s);
		rc = listen_at((struct sockaddr *)&s, length);
		if (rc != 0 && errno != EADDRINUSE && errno != EACCES) {
			any.family = 4;
			length = gompi_host_sockaddr(&any, port, &s);
			rc = listen_at((struct sockaddr *)&s, length);
		}
	}
	for (int i = 0; i < t->here.n && !t->here.loopback; i++) {
		socklen_t length = gompi_host_sockaddr(&t->here.a[i], port, &s);
		rc = listen_at((struct sockaddr *)&s, length);
		if (rc != 0 && errno == EADDRNOTAVAIL && (i + 1 < t->here.n || t->n_listeners > 0)) {
			rc = 0; // an IPv6 address whose duplicate address detection is not finished; the others suffice
			continue;
		}
		if (rc != 0)
			break;
		length = sizeof s;
		if (port == 0 && getsockname(t->listeners[0], (struct sockaddr *)&s, &length) == 0)
			port = ntohs(((struct sockaddr_in *)&s)->sin_port); // at the same offset in sockaddr_in6
	}
	if (rc == 0) {
		socklen_t length = sizeof s;
		if (getsockname(t->listeners[0], (struct sockaddr *)&s, &length) != 0)
			return errno;
		t->port = ntohs(((struct sockaddr_in *)&s)->sin_port);
		return 0;
	}
	int error = errno;
	while (t->n_listeners > 0)
		close(t->listeners[--t->n_listeners]);
	return error;
}

int gompi_listen(char *why, size_t why_bytes) {
	int first, last;
	if (!gompi_ports_permitted(&first, &last, why, why_bytes))
		return EINVAL;
	int error = EADDRINUSE;
	if (first == 0) { // the port chosen for the first address may be in use on another one
		for (int tries = 0; tries < 16 && error == EADDRINUSE; tries++)
			error = listen_port(0);
		return error;
	}
	const int n = last - first + 1, begin = (int)(getpid() % n); // the ranks of a node begin at different ports
	for (int i = 0; i < n && error != 0; i++)
		error = listen_port((uint16_t)(first + (begin + i) % n));
	if (error == EADDRINUSE)
		snprintf(why, why_bytes, "all %d ports from %d to %d (GOMPIRMA_PORTS) are in use on this host", n,
			 first, last);
	return error;
}

static bool has_connection(int fd) {
	struct pollfd p = {.fd = fd, .events = POLLIN};
	return poll(&p, 1, 0) == 1;
}

// Accepts a connection. If no descriptor is left, closes an old stranger, or uses the spare descriptor. Returns -1 and
// sets errno on failure.
static int accept_one(int fd, int64_t now) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	for (;;) {
		int got = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (got >= 0 || !is_out_of_files(errno))
			return got;
		const int error = errno;
		if (!has_connection(fd)) // the system allocates a descriptor before it checks for a connection
			return errno = EAGAIN, -1;
		if (raise_limit() || drop_stranger(now))
			continue;
		if (t->reserve < 0) {
			if (t->reserve_owed)
				t->reserve_owed = !give_links_up(1);
			return errno = error, -1;
		}
		close(t->reserve);
		t->reserve = -1;
	}
}

void gompi_listener_ready(int fd) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	const int64_t now = gompi_now_ns();
	gompi_reserve_descriptor();
	for (int i = 0; i < ACCEPTS && t->accept_at == 0; i++) {
		if (t->strangers >= most_strangers() && !drop_stranger(now)) {
			stop_accepting(now);
			return;
		}
		int got = accept_one(fd, now);
		if (got < 0) {
			if (is_out_of_files(errno))
				stop_accepting(now);
			return;
		}
		const int one = 1;
		setsockopt(got, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		struct gompi_tcp_link *l = add_link(got, LINK_STRANGE, now + PROOF);
		if (l == NULL)
			return;
		struct hello h = {.greeting = greeting};
		memcpy(h.number, l->mine, sizeof h.number);
		if (t->job.size == 0 || !send_now(l, &h, sizeof h))
			gompi_link_close(l);
	}
}

// --- The timer

void gompi_timers(int64_t now) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	if (t->timer_at == 0 || now < t->timer_at)
		return;
	uint64_t rung;
	if (read(t->timer, &rung, sizeof rung) < 0) {
		// It has not expired yet: this call is a little later than its time.
	}
	t->timer_at = 0;
	if (t->accept_at != 0 && t->accept_at <= now)
		accept_again();
	gompi_timer_at(t->accept_at);
	for (struct gompi_tcp_link *l = t->links, *next; l != NULL; l = next) {
		next = l->next;
		if (l->deadline == 0 || l->fd < 0)
			continue;
		if (l->deadline > now) {
			gompi_timer_at(l->deadline);
		} else if (l->state == LINK_CONNECTING || l->state == LINK_ASKING) {
			attempt_failed(l, ETIMEDOUT);
			next = t->links; // other links may have been closed
		} else {
			gompi_tcp_counts.strangers += l->state == LINK_STRANGE;
			gompi_link_close(l);
		}
	}
	for (struct gompi_tcp_peer *p = t->wanting, *next; p != NULL; p = next) {
		next = p->next;
		if (p->next_try <= now)
			try_next(p, now);
		if (p->wants)
			gompi_timer_at(p->next_try);
	}
}
