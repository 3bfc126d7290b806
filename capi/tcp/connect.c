// Opens and closes links. A process that has something to send connects to the peer. It tries all addresses of the
// peer's host one after another. A link carries data in both directions.
//
// Handshake: the accepting side sends a random number (hello). The connecting side replies with its rank, a random
// number of its own, and a hash of these values that is keyed with the job's secret (request). The accepting side
// replies whether it accepts the link, also with a hash (response). The connecting side confirms (TCP_CONFIRM). Until
// the confirmation arrives, the accepting side sends nothing more, and does not treat the end of the connection as a
// failure of the peer.
//
// Crossed connections: two processes may connect to each other at the same time. The request of the lower rank wins.
// The higher rank accepts the request of the lower rank and closes its own attempt. If the lower rank has already sent
// its own request, it rejects the request of the higher rank (ANSWER_CROSSED). Otherwise it accepts the request,
// because the lower rank may never be able to connect itself.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
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
#include "base/siphash.h"
#include "base/wait.h"
#include "tcp/link.h"

#define MS 1000000LL
static const int64_t STAGGER_NS = 300 * MS, // time after which the next address is tried concurrently
	ATTEMPT_NS = 5000 * MS,             // timeout of an attempt; the system resends the SYN after 1 and 3 s
	PROOF_NS = 2000 * MS,               // timeout of an accepted connection that does not authenticate
	PROOF_SHORT_NS = 100 * MS,          // PROOF_NS while other connections wait for a descriptor
	ROUND_PAUSE_NS = 10 * MS, ROUND_PAUSE_MAX_NS = 1000 * MS, // first and longest pause between two rounds
	CROSSED_RETRY_NS = 20 * MS,  // pause before the next attempt if the peer connects too
	CONNECT_BACK_NS = 1000 * MS, // time after which the peer is asked to connect to this process
	REPORT_NS = 5000 * MS,       // time without a connection after which a message is printed
	GIVE_UP_NS = 12000 * MS;     // time after which a peer is unreachable if all_errors_definite is true

// BACKLOG: length of the queue of a listening socket. ACCEPT_BATCH: maximum number of connections that one call
// accepts. MAX_UNAUTH: maximum number of unauthenticated links.
enum { BACKLOG = 4096, ACCEPT_BATCH = 64, MAX_UNAUTH = 256 };

static const uint64_t greeting = 0x31706d6f67; // "gomp1"

// The answer of the accepting side. ANSWER_YES: it accepts the link. ANSWER_BUSY: it has a link to the peer already, or
// cannot have one. ANSWER_CROSSED: its own request has priority (crossed connections). ANSWER_ERROR: the request is for
// another process.
enum handshake_answer { ANSWER_YES = 1, ANSWER_BUSY, ANSWER_CROSSED, ANSWER_ERROR };

struct hello {
	uint64_t greeting, nonce[2];
};
struct request {
	uint32_t source, destination; // numbers in the universes of the two processes
	uint64_t universe;            // of the source
	uint64_t nonce[2], proof;
};
struct response {
	uint32_t answer, zero;
	uint64_t proof;
};
_Static_assert(sizeof(struct request) <= GOMPI_HANDSHAKE_BYTES, "a message before a link is open");

struct gompi_tcp_counts gompi_tcp_counts;

// --- Pacing

// BBR congestion control paces packets by an estimate of the rate. The few packets of a message then wait for each
// other, and the resulting low rate lowers the estimate further. So a link begins without pacing, because pacing that
// has begun on a connection never ends.
static const char bbr_name[] = "bbr";
static bool default_is_bbr; // true if new sockets use BBR: the system's default congestion control is BBR

static void disable_pacing(int fd) {
	char name[16] = ""; // 16: maximum length of the name of a congestion control algorithm
	socklen_t length = sizeof name;
	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &length) != 0 ||
	    strncmp(name, bbr_name, sizeof name) != 0)
		return;
	default_is_bbr = true;
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5) != 0) // the system may not permit cubic
		setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
}

// Enables BBR again on a connection with a long round-trip time, where pacing is useful.
static void enable_pacing_if_far(int fd) {
	enum { LONG_US = 1000 };
	struct tcp_info info;
	socklen_t length = sizeof info;
	if (default_is_bbr && getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 && info.tcpi_rtt >= LONG_US)
		setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, bbr_name, sizeof bbr_name - 1);
}

// Returns the proof of a message of the handshake, which is keyed with the secret of the accepting process.
static uint64_t proof(const uint64_t secret[2], uint64_t message, uint64_t universe, uint32_t source,
		      uint32_t destination, const uint64_t acceptor_nonce[2], const uint64_t connector_nonce[2]) {
	const uint64_t words[] = {message,           universe,          source | (uint64_t)destination << 32,
				  acceptor_nonce[0], acceptor_nonce[1], connector_nonce[0],
				  connector_nonce[1]};
	return gompi_siphash(secret, words, sizeof words / sizeof *words);
}

// --- Unauthenticated links
//
// An unauthenticated link is an accepted connection that has not proved yet that it belongs to the job. The number
// (max_unauth_links) and lifetime (PROOF_NS) of these links are bounded, and no authenticated link is closed in favor
// of an unauthenticated one. If the process has no descriptor left, it closes its spare descriptor (spare_fd) in order
// to accept one more connection. If that connection is authenticated, it keeps the descriptor, and an idle link is
// closed to get a spare descriptor again (spare_fd_owed).

// Sets the epoll events of the listening sockets: EPOLLIN, or 0 to ignore waiting connections.
static void watch_listeners(uint32_t events) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	struct epoll_event e = {.events = events, .data.ptr = NULL};
	for (int i = 0; i < t->listener_count; i++)
		epoll_ctl(t->epoll, EPOLL_CTL_MOD, t->listeners[i], &e);
}

// Stops accepting connections. Accepting resumes when a link is closed or authenticated, or when the timer expires
// after PROOF_SHORT_NS (resume_accepting). Meanwhile, new connections wait in the listening sockets' queues.
static void pause_accepting(int64_t now) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	if (t->accept_at_ns == 0)
		watch_listeners(0);
	t->accept_at_ns = now + PROOF_SHORT_NS;
	gompi_timer_set(t->accept_at_ns);
}

static void resume_accepting(void) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	if (t->accept_at_ns == 0)
		return;
	t->accept_at_ns = 0;
	watch_listeners(EPOLLIN);
}

static bool is_fd_shortage(int error) { return error == EMFILE || error == ENFILE; }

// Returns true if an errno is a temporary lack of resources of this process or system, and not an error of an address.
static bool is_shortage(int error) {
	return is_fd_shortage(error) || error == ENOMEM || error == ENOBUFS || error == ENOSPC || error == EAGAIN;
}

void gompi_spare_fd_open(void) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	if (t->spare_fd < 0)
		t->spare_fd = eventfd(0, EFD_CLOEXEC);
	if (t->spare_fd >= 0)
		t->spare_fd_owed = false;
}

static int max_unauth_links(void) {
	const int quarter = gompi_tcp_state.max_links / 4;
	return quarter < 1 ? 1 : quarter < MAX_UNAUTH ? quarter : MAX_UNAUTH;
}

// Closes the oldest unauthenticated link if it has existed for at least PROOF_SHORT_NS. Returns false if it has closed
// no link.
static bool drop_oldest_unauth(int64_t now) {
	struct gompi_tcp_link *oldest = NULL;
	for (struct gompi_tcp_link *l = gompi_tcp_state.links; l != NULL; l = l->next)
		if (l->state == LINK_UNAUTHENTICATED && (oldest == NULL || l->deadline_ns < oldest->deadline_ns))
			oldest = l;
	if (oldest == NULL || now < oldest->deadline_ns - PROOF_NS + PROOF_SHORT_NS)
		return false;
	gompi_tcp_counts.unauth_closed++;
	gompi_link_close(oldest);
	return true;
}

// --- Links

// Creates the link of a socket. On failure returns NULL, sets errno and closes the socket.
static struct gompi_tcp_link *add_link(int fd, enum gompi_link_state state, int64_t deadline) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	struct gompi_tcp_link *l = calloc(1, sizeof *l);
	if (l == NULL) {
		close(fd);
		errno = ENOMEM;
		return NULL;
	}
	l->fd = fd;
	l->state = state;
	l->deadline_ns = deadline;
	l->next = t->links;
	if (l->next != NULL)
		l->next->prev = l;
	t->links = l;
	t->unauth_links += state == LINK_UNAUTHENTICATED;
	gompi_tcp_counts.open_links++;
	struct epoll_event e = {.events = state == LINK_CONNECTING ? EPOLLOUT : EPOLLIN, .data.ptr = l};
	l->epoll_events = e.events;
	if (!gompi_random(l->local_nonce, sizeof l->local_nonce) || epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &e) != 0) {
		const int error = errno;
		gompi_link_close(l);
		errno = error;
		return NULL;
	}
	gompi_timer_set(deadline);
	return l;
}

// Closed links, which are kept until no caller can refer to them (gompi_links_free).
static struct gompi_tcp_link *closed_links;

void gompi_link_close(struct gompi_tcp_link *l) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	if (l->fd < 0)
		return;
	// A child of fork() may hold the socket open as well, so closing it here would not end the connection. Shut it
	// down and remove it from epoll explicitly.
	epoll_ctl(t->epoll, EPOLL_CTL_DEL, l->fd, NULL);
	shutdown(l->fd, SHUT_RDWR);
	close(l->fd);
	l->fd = -1;
	t->unauth_links -= l->state == LINK_UNAUTHENTICATED;
	gompi_tcp_counts.open_links--;
	gompi_spare_fd_open();
	resume_accepting();
	if (l->next != NULL)
		l->next->prev = l->prev;
	*(l->prev != NULL ? &l->prev->next : &t->links) = l->next;
	if (l->is_stalled)
		for (struct gompi_tcp_link **at = &t->stalled; *at != NULL; at = &(*at)->next_stalled)
			if (*at == l) {
				*at = l->next_stalled;
				break;
			}
	if (t->hot_link == l)
		t->hot_link = NULL;
	if (l->op != NULL) { // the data is incomplete: post the receive again, or let the read wait for its reply again
		struct gompi_net_op **list = l->in.head.kind == TCP_FRAME ? &t->posted : &l->peer->requests;
		gompi_tcp_op(l->op)->next = *list;
		*list = l->op;
	}
	l->next = closed_links;
	closed_links = l;
}

void gompi_links_free(void) {
	struct gompi_tcp_link *l;
	while ((l = closed_links) != NULL) {
		closed_links = l->next;
		free(l->stash);
		free(l);
	}
}

void gompi_timer_set(int64_t when) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	if (when == 0 || (t->timer_ns != 0 && t->timer_ns <= when))
		return;
	t->timer_ns = when;
	struct itimerspec s = {.it_value = {when / 1000000000, when % 1000000000}};
	timerfd_settime(t->timer, TFD_TIMER_ABSTIME, &s, NULL);
}

// Sends a few bytes without blocking. Returns false if not all of them were sent.
static bool send_now(struct gompi_tcp_link *l, const void *data, size_t bytes) {
	return send(l->fd, data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)bytes;
}

// --- Trying the addresses of a peer

static struct gompi_tcp_host *peer_host(const struct gompi_tcp_peer *p) {
	return &gompi_tcp_state.hosts[gompi_tcp_state.job.node_of[p->rank]];
}

// Returns address i of a peer's host. Index h->count, after the published addresses, is the loopback address.
static struct gompi_host_address tried_address(const struct gompi_tcp_peer *p, int i) {
	static const struct gompi_host_address loopback = {4, SCOPE_HOST, {127, 0, 0, 1}};
	const struct gompi_tcp_host *h = peer_host(p);
	return i < h->count ? h->addresses[i] : loopback;
}

// Sets the order in which the addresses of p's host are tried. First is the address that worked last for p's node, then
// the loopback address if p is on this host. The published addresses follow in their order.
static void order_addresses(struct gompi_tcp_peer *p) {
	const struct gompi_tcp_state *t = &gompi_tcp_state;
	const struct gompi_tcp_host *h = peer_host(p);
	const bool is_local = h->identity == t->local_host.identity;
	const int worked = t->good_address[t->job.node_of[p->rank]] - 1;
	p->address_count = 0;
	if (worked >= 0)
		p->address_order[p->address_count++] = worked;
	if (is_local && h->has_loopback && worked != h->count)
		p->address_order[p->address_count++] = h->count;
	for (int i = 0; i < h->count; i++) {
		// If the peer is on another host, skip addresses that this host has too: connecting would reach this
		// host.
		bool is_local_address = false;
		for (int k = 0; k < t->local_host.count && !is_local; k++)
			is_local_address = is_local_address ||
					   gompi_host_address_equal(&h->addresses[i], &t->local_host.addresses[k]);
		if (i != worked && !is_local_address)
			p->address_order[p->address_count++] = i;
	}
}

static void cancel_link_request(struct gompi_tcp_peer *p) {
	p->wants_link = false;
	for (struct gompi_tcp_peer **at = &gompi_tcp_state.wanting_peers; *at != NULL; at = &(*at)->next)
		if (*at == p) {
			*at = p->next;
			break;
		}
}

static void close_attempts(struct gompi_tcp_peer *p, const struct gompi_tcp_link *except) {
	for (int i = 0; i < GOMPI_MAX_ATTEMPTS; i++) {
		if (p->attempts[i] != NULL && p->attempts[i] != except)
			gompi_link_close(p->attempts[i]);
		p->attempts[i] = NULL;
	}
}

static int attempt_count(const struct gompi_tcp_peer *p) {
	int n = 0;
	for (int i = 0; i < GOMPI_MAX_ATTEMPTS; i++)
		n += p->attempts[i] != NULL;
	return n;
}

static bool offer_idle_links(int at_least);

// Handles a lack of file descriptors: tries to free a descriptor, and prints a message once. Returns true if a
// descriptor is free now.
static bool handle_fd_shortage(int64_t now) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	if (t->unauth_links > 0)
		// if this returns false, the oldest link becomes old enough to be closed within PROOF_SHORT_NS
		return drop_oldest_unauth(now);
	offer_idle_links(1);
	if (t->fd_shortage_reported)
		return false;
	t->fd_shortage_reported = true;
	struct rlimit r = {0};
	getrlimit(RLIMIT_NOFILE, &r);
	fprintf(stderr,
		"gompirma: rank %d cannot open another connection: the limit of %llu open files is reached (ulimit "
		"-n), and %d of these files are connections of gompirma. gompirma closes idle connections and retries; "
		"to avoid this, raise the limit\n",
		t->job.rank, (unsigned long long)r.rlim_cur, gompi_tcp_counts.open_links);
	return false;
}

static void record_address_error(struct gompi_tcp_peer *p, int address, int error, int64_t now) {
	p->address_errors[address].error = error;
	p->address_errors[address].when = now;
	gompi_add(&gompi_tcp_counts.failed_connects, 1);
}

// Begins to connect to an address. Returns 0 or an errno.
static int start_attempt(struct gompi_tcp_peer *p, int address, int64_t now) {
	struct sockaddr_storage to;
	const struct gompi_host_address a = tried_address(p, address);
	uint16_t port;
	memcpy(&port, gompi_tcp_state.job.addresses + (size_t)p->rank * GOMPI_TCP_PORT_BYTES, sizeof port);
	const socklen_t length = gompi_host_sockaddr(&a, port, &to);
	int slot = 0;
	while (slot < GOMPI_MAX_ATTEMPTS && p->attempts[slot] != NULL)
		slot++;
	if (slot == GOMPI_MAX_ATTEMPTS)
		return EAGAIN;
	const int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
	int fd = socket(to.ss_family, type, 0), error = errno;
	if (fd < 0 && is_fd_shortage(error) && handle_fd_shortage(now))
		fd = socket(to.ss_family, type, 0);
	if (fd < 0)
		return error;
	const int one = 1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	disable_pacing(fd);
	if (connect(fd, (struct sockaddr *)&to, length) != 0 && errno != EINPROGRESS) {
		error = errno;
		close(fd);
		return error;
	}
	struct gompi_tcp_link *l = add_link(fd, LINK_CONNECTING, now + ATTEMPT_NS);
	if (l == NULL)
		return errno;
	l->peer = p;
	l->address_index = address;
	p->attempts[slot] = l;
	offer_idle_links(0);
	return 0;
}

// Returns the text for the error of an address (struct gompi_tcp_peer).
static const char *error_text(int error) {
	switch (error) {
	case -1:
		return "the process that answered does not belong to this job";
	case 0:
		return "no answer yet";
	case ETIMEDOUT:
		return "timed out";
	default:
		return strerror(error);
	}
}

void gompi_tcp_error_detail(int peer, char *text, size_t bytes) {
	const struct gompi_tcp_state *t = &gompi_tcp_state;
	struct gompi_tcp_peer *p = (uint32_t)peer < (uint32_t)t->peer_count ? t->peers[peer] : NULL;
	char mine[80] = "?", theirs[80] = "?";
	text[0] = 0;
	if (p == NULL || !(p->wants_link || p->is_unreachable) || (p->round == 0 && p->next_address == 0))
		return;
	if (t->events->host_name != NULL) {
		t->events->host_name(t->job.rank, mine, sizeof mine);
		t->events->host_name(peer, theirs, sizeof theirs);
	}
	int at = snprintf(text, bytes, "rank %d on %s cannot reach %s %u on %s:", t->job.rank, mine,
			  peer < t->job.size ? "rank" : "another job's process", p->number, theirs);
	uint16_t port;
	memcpy(&port, t->job.addresses + (size_t)peer * GOMPI_TCP_PORT_BYTES, sizeof port);
	for (int i = 0; i < p->address_count && at < (int)bytes; i++) {
		char address[INET6_ADDRSTRLEN];
		const struct gompi_host_address a = tried_address(p, p->address_order[i]);
		gompi_host_address_text(&a, address);
		at += snprintf(text + at, bytes - (size_t)at, "%s %s port %u: %s", i > 0 ? ";" : "", address, port,
			       error_text(p->address_errors[p->address_order[i]].error));
	}
	if (p->address_count == 0 && at < (int)bytes)
		at += snprintf(text + at, bytes - (size_t)at,
			       " all addresses of its host are also addresses of this host");
	if (at < (int)bytes)
		snprintf(text + at, bytes - (size_t)at, "; select a network with GOMPIRMA_INTERFACE");
}

// Returns true if the error of each address is definite, that is, neither missing nor a timeout. Called after all
// addresses have been tried.
static bool all_errors_definite(const struct gompi_tcp_peer *p) {
	for (int i = 0; i < p->address_count; i++) {
		int error = p->address_errors[p->address_order[i]].error;
		if (error == 0 || error == ETIMEDOUT)
			return false;
	}
	return true;
}

static bool all_refused(const struct gompi_tcp_peer *p) {
	const int worked = gompi_tcp_state.good_address[gompi_tcp_state.job.node_of[p->rank]] - 1;
	if (worked >= 0)
		return p->address_errors[worked].error == ECONNREFUSED;
	for (int i = 0; i < p->address_count; i++)
		if (p->address_errors[p->address_order[i]].error != ECONNREFUSED)
			return false;
	return p->address_count > 0;
}

// Schedules the next round of addresses after a pause. The first pause is first_ns; each further pause is twice as
// long, until it reaches ROUND_PAUSE_MAX_NS.
static void pause_round(struct gompi_tcp_peer *p, int64_t first_ns, int64_t now) {
	p->next_address = 0;
	p->pause_ns = p->pause_ns == 0 ? first_ns : p->pause_ns < ROUND_PAUSE_MAX_NS ? 2 * p->pause_ns : p->pause_ns;
	p->next_try_ns = now + p->pause_ns;
}

static void end_round(struct gompi_tcp_peer *p, int64_t now) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	p->round++;
	p->is_refused = all_refused(p);
	pause_round(p, ROUND_PAUSE_NS, now);
	if (p->was_connected)
		return; // health.c decides whether a peer that was connected before has failed
	const bool is_definite = all_errors_definite(p);
	const int64_t limit = is_definite && GIVE_UP_NS < t->job.timeout_ns ? GIVE_UP_NS : t->job.timeout_ns;
	static bool is_reported;
	if (!p->is_warned && now - p->wanted_since_ns >= (limit > 0 && REPORT_NS > limit / 2 ? limit / 2 : REPORT_NS)) {
		char text[GOMPI_NET_ERROR_BYTES];
		p->is_warned = true;
		gompi_tcp_error_detail(p->rank, text, sizeof text);
		if (!is_reported)
			fprintf(stderr, "gompirma: %s; retrying\n", text);
		is_reported = true;
	}
	if (limit > 0 && now - p->wanted_since_ns >= limit) {
		p->has_failed = p->is_unreachable = true;
		cancel_link_request(p);
		gompi_tcp_peer_fail(p);
		t->events->on_unreachable(p->rank);
	}
}

// Starts an attempt to connect to the next address of a peer, and sets the time of the next try. Ends the round if all
// addresses have been tried and no attempt is in progress. After CONNECT_BACK_NS, also requests that the peer connect
// to this process.
static void try_next_address(struct gompi_tcp_peer *p, int64_t now) {
	const struct gompi_net_events *events = gompi_tcp_state.events;
	if (now - p->wanted_since_ns >= CONNECT_BACK_NS && events->on_connect_back != NULL)
		events->on_connect_back(p->rank);
	while (p->next_address < p->address_count && attempt_count(p) < GOMPI_MAX_ATTEMPTS) {
		const int address = p->address_order[p->next_address++];
		int error = start_attempt(p, address, now);
		if (error == 0) {
			p->next_try_ns = now + STAGGER_NS;
			return;
		}
		if (is_shortage(error)) {
			p->next_address--;
			p->wanted_since_ns = now;
			p->next_try_ns = now + CROSSED_RETRY_NS;
			return;
		}
		record_address_error(p, address, error, now);
	}
	if (attempt_count(p) > 0)
		p->next_try_ns = now + STAGGER_NS;
	else
		end_round(p, now);
}

void gompi_tcp_peer_want_link(struct gompi_tcp_peer *p) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	if (p->link != NULL || p->has_failed || p->wants_link)
		return;
	const int64_t now = gompi_now_ns();
	p->wants_link = true;
	p->round = p->next_address = 0;
	p->wanted_since_ns = now;
	p->pause_ns = 0;
	p->is_refused = false;
	memset(p->address_errors, 0, sizeof p->address_errors);
	p->next = t->wanting_peers;
	t->wanting_peers = p;
	order_addresses(p);
	try_next_address(p, now);
	gompi_timer_set(p->next_try_ns);
}

static void close_attempt(struct gompi_tcp_link *l) {
	for (int i = 0; i < GOMPI_MAX_ATTEMPTS; i++)
		if (l->peer->attempts[i] == l)
			l->peer->attempts[i] = NULL;
	gompi_link_close(l);
}

// Ends a connection attempt after an error. If the peer still wants a link, tries the next address at once, or ends the
// round if no address and no attempt is left.
static void attempt_failed(struct gompi_tcp_link *l, int error) {
	struct gompi_tcp_peer *p = l->peer;
	const int64_t now = gompi_now_ns();
	record_address_error(p, l->address_index, error, now);
	close_attempt(l);
	if (!p->wants_link)
		return;
	if (p->next_address < p->address_count || attempt_count(p) == 0)
		try_next_address(p, now);
	gompi_timer_set(p->next_try_ns);
}

// Ends a connection attempt because the peer connects to this process as well. If the peer's connection does not become
// the link, this process tries again later.
static void postpone_attempt(struct gompi_tcp_link *l) {
	struct gompi_tcp_peer *p = l->peer;
	const int64_t now = gompi_now_ns();
	close_attempt(l);
	p->wanted_since_ns = now;
	pause_round(p, CROSSED_RETRY_NS, now);
	gompi_timer_set(p->next_try_ns);
}

static void open_link(struct gompi_tcp_link *l, struct gompi_tcp_peer *p, enum gompi_link_state state) {
	enable_pacing_if_far(l->fd);
	close_attempts(p, l);
	if (p->wants_link)
		cancel_link_request(p);
	p->link = l;
	p->is_refused = false;
	l->peer = p;
	if (l->state == LINK_UNAUTHENTICATED) {
		gompi_tcp_state.unauth_links--;
		resume_accepting();
	}
	l->state = state;
	l->deadline_ns = 0;
	l->head_have_bytes = 0;
	l->last_used_ns = gompi_now_ns();
}

// --- The handshake

// Receives a handshake message of `bytes` bytes. Returns 1 if the message is complete, 0 if parts are missing, -1 with
// errno set if the connection has ended.
static int receive_message(struct gompi_tcp_link *l, size_t bytes) {
	while (l->head_have_bytes < bytes) {
		ssize_t n = recv(l->fd, l->in.bytes + l->head_have_bytes, bytes - l->head_have_bytes, MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0) {
			if (n == 0)
				errno = ECONNRESET;
			return -1;
		}
		l->head_have_bytes += (size_t)n;
	}
	l->head_have_bytes = 0;
	return 1;
}

// Returns true if the request of a peer has priority over the request of this process to the peer.
static bool has_priority(const struct gompi_tcp_peer *p) {
	const struct gompi_net_job *job = &gompi_tcp_state.job;
	return p->universe != job->universe ? p->universe < job->universe : p->number < (uint32_t)job->rank;
}

static enum handshake_answer answer_for_peer(struct gompi_tcp_peer *p) {
	if (p->link != NULL)
		return ANSWER_BUSY;
	if (has_priority(p))
		return ANSWER_YES;
	for (int i = 0; i < GOMPI_MAX_ATTEMPTS; i++)
		if (p->attempts[i] != NULL && p->attempts[i]->request_sent)
			return ANSWER_CROSSED;
	return ANSWER_YES;
}

// Returns the peer that has sent a request; NULL if it is not known, or if memory is short.
static struct gompi_tcp_peer *source_of(const struct request *r) {
	const struct gompi_tcp_state *t = &gompi_tcp_state;
	if (r->universe == t->job.universe)
		return r->source < (uint32_t)t->job.size ? gompi_tcp_peer((int)r->source) : NULL;
	// The latest one, because another process may have had its number before.
	for (int i = t->peer_count; i-- > t->job.size;)
		if (t->peers[i] != NULL && t->peers[i]->universe == r->universe && t->peers[i]->number == r->source)
			return t->peers[i];
	return NULL; // this process will add the peer soon, so the peer should try again
}

// Handles the request on an unauthenticated link.
static void handle_request(struct gompi_tcp_link *l) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	const uint64_t *secret = t->job.secret;
	struct request r;
	memcpy(&r, l->in.bytes, sizeof r);
	if (r.proof != proof(secret, 1, r.universe, r.source, r.destination, l->local_nonce, r.nonce)) {
		gompi_tcp_counts.unauth_closed++;
		gompi_link_close(l);
		return;
	}
	struct response v = {.answer = ANSWER_ERROR};
	struct gompi_tcp_peer *p = NULL;
	if (r.destination == (uint32_t)t->job.rank) {
		p = source_of(&r);
		v.answer = p == NULL || p->has_failed ? ANSWER_BUSY : answer_for_peer(p);
	}
	v.proof = proof(secret, 2 | (uint64_t)v.answer << 32, r.universe, r.source, r.destination, l->local_nonce,
			r.nonce);
	if (!send_now(l, &v, sizeof v) || v.answer != ANSWER_YES) {
		gompi_tcp_counts.crossed_requests += v.answer == ANSWER_CROSSED;
		gompi_link_close(l);
		return;
	}
	gompi_tcp_counts.accepted++;
	open_link(l, p, LINK_ACCEPTED);
	gompi_spare_fd_open();
	t->spare_fd_owed = t->spare_fd < 0 && !offer_idle_links(1);
	offer_idle_links(0);
}

// Handles the hello from the accepting side, and sends the request.
static void send_request(struct gompi_tcp_link *l) {
	const struct gompi_tcp_state *t = &gompi_tcp_state;
	struct hello h;
	memcpy(&h, l->in.bytes, sizeof h);
	if (h.greeting != greeting) {
		attempt_failed(l, -1);
		return;
	}
	memcpy(l->remote_nonce, h.nonce, sizeof l->remote_nonce);
	struct request r = {
		.source = (uint32_t)t->job.rank, .destination = l->peer->number, .universe = t->job.universe};
	memcpy(r.nonce, l->local_nonce, sizeof r.nonce);
	r.proof = proof(l->peer->secret, 1, r.universe, r.source, r.destination, l->remote_nonce, l->local_nonce);
	l->request_sent = true;
	if (!send_now(l, &r, sizeof r))
		attempt_failed(l, ECONNRESET);
}

// Handles the response from the accepting side.
static void handle_response(struct gompi_tcp_link *l) {
	const struct gompi_tcp_state *t = &gompi_tcp_state;
	struct gompi_tcp_peer *p = l->peer;
	struct response v;
	memcpy(&v, l->in.bytes, sizeof v);
	if (v.proof != proof(p->secret, 2 | (uint64_t)v.answer << 32, t->job.universe, (uint32_t)t->job.rank, p->number,
			     l->remote_nonce, l->local_nonce) ||
	    v.answer == ANSWER_ERROR) {
		attempt_failed(l, -1);
		return;
	}
	static const uint64_t confirm = TCP_CONFIRM; // a head: kind TCP_CONFIRM, length 0
	if (v.answer != ANSWER_YES || p->link != NULL || p->has_failed) {
		postpone_attempt(l);
		return;
	}
	if (!send_now(l, &confirm, sizeof confirm)) {
		attempt_failed(l, ECONNRESET);
		return;
	}
	gompi_tcp_counts.connected++;
	gompi_tcp_state.good_address[t->job.node_of[p->rank]] = (int8_t)(l->address_index + 1);
	open_link(l, p, LINK_OPEN);
	p->was_connected = true;
	gompi_link_send(l);
}

void gompi_link_handshake(struct gompi_tcp_link *l, bool out) {
	int error = 0, rc;
	socklen_t length = sizeof error;
	switch (l->state) {
	case LINK_CONNECTING:
		if (getsockopt(l->fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
			error = errno;
		if (error != 0) {
			attempt_failed(l, error);
		} else if (out) {
			l->state = LINK_HANDSHAKE;
			gompi_link_set_events(l, false);
		}
		return;
	case LINK_HANDSHAKE:
		rc = receive_message(l, l->request_sent ? sizeof(struct response) : sizeof(struct hello));
		if (rc < 0)
			attempt_failed(l, errno);
		else if (rc > 0 && l->request_sent)
			handle_response(l);
		else if (rc > 0)
			send_request(l);
		return;
	case LINK_UNAUTHENTICATED:
		rc = receive_message(l, sizeof(struct request));
		if (rc > 0)
			handle_request(l);
		else if (rc < 0)
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
	if (state == LINK_CONNECTING || state == LINK_HANDSHAKE) {
		attempt_failed(l, error != 0 ? error : ECONNRESET);
		return;
	}
	gompi_link_close(l);
	if (p == NULL || p->link != l)
		return;
	p->link = NULL;
	if (state == LINK_OPEN) {
		p->has_failed = true;
		gompi_tcp_peer_fail(p);
		t->events->on_failed(p->rank);
	} else if (p->queue_first != NULL || p->requests != NULL) {
		gompi_tcp_peer_want_link(p); // data is queued, and the link was not open yet or was being closed
	}
}

static bool is_idle(const struct gompi_tcp_link *l) {
	return l->state == LINK_OPEN && l->peer->queue_first == NULL && l->peer->requests == NULL && !l->in_body &&
	       l->head_have_bytes == 0 && !l->is_stalled;
}

// Closes an idle link after both sides have agreed. Requests another link if data has been queued since the offer to
// close.
static void close_idle_link(struct gompi_tcp_link *l) {
	struct gompi_tcp_peer *p = l->peer;
	p->link = NULL;
	gompi_tcp_counts.idle_closed++;
	gompi_link_close(l);
	if (p->queue_first != NULL || p->requests != NULL)
		gompi_tcp_peer_want_link(p);
}

void gompi_link_on_close(struct gompi_tcp_link *l, enum gompi_tcp_kind kind) {
	static const uint64_t go = TCP_CLOSE_ACCEPT;
	if (kind == TCP_CLOSE_OFFER && l->state == LINK_CLOSING) {
		close_idle_link(l);
	} else if (kind == TCP_CLOSE_OFFER) {
		if (is_idle(l) && send_now(l, &go, sizeof go))
			close_idle_link(l); // the other side sends nothing more, so no data is lost
		else
			gompi_link_send_control(l, TCP_CLOSE_REJECT);
	} else if (l->state == LINK_CLOSING && kind == TCP_CLOSE_ACCEPT) {
		close_idle_link(l);
	} else if (l->state == LINK_CLOSING) {
		l->state = LINK_OPEN;
		l->last_used_ns = gompi_now_ns();
		// if spare_fd was used to accept this link, another link must be closed
		gompi_tcp_state.spare_fd_owed = gompi_tcp_state.spare_fd < 0;
		gompi_link_send(l);
	}
}

// Raises the soft limit of open files to the hard limit, and sets max_links to half of that limit, which leaves
// descriptors to the application. Returns true if the soft limit has been raised.
static bool raise_fd_limit(void) {
	struct rlimit r = {0};
	if (getrlimit(RLIMIT_NOFILE, &r) != 0)
		return false;
	const bool raises = r.rlim_cur < r.rlim_max;
	r.rlim_cur = r.rlim_max;
	gompi_tcp_state.max_links = r.rlim_cur / 2 < INT32_MAX ? (int)(r.rlim_cur / 2) : INT32_MAX;
	return raises && setrlimit(RLIMIT_NOFILE, &r) == 0;
}

// Raises the limit of open files. Then offers the peers to close the links that have been idle for longest: as many
// links as exceed max_links, and at least at_least links. Returns true if it has made an offer.
static bool offer_idle_links(int at_least) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	static const uint64_t bye = TCP_CLOSE_OFFER;
	if (gompi_tcp_counts.open_links - t->unauth_links <= t->max_links && at_least == 0)
		return false;
	raise_fd_limit();
	int excess = gompi_tcp_counts.open_links - t->unauth_links - t->max_links;
	for (const struct gompi_tcp_link *l = t->links; l != NULL; l = l->next)
		excess -= l->state == LINK_CLOSING; // links in this state are being closed already
	bool has_offered = false;
	for (excess = excess > at_least ? excess : at_least; excess > 0; excess--) {
		struct gompi_tcp_link *oldest = NULL;
		for (struct gompi_tcp_link *l = t->links; l != NULL; l = l->next)
			if (is_idle(l) && (oldest == NULL || l->last_used_ns < oldest->last_used_ns))
				oldest = l;
		if (oldest == NULL || !send_now(oldest, &bye, sizeof bye))
			break;
		oldest->state = LINK_CLOSING;
		has_offered = true;
	}
	return has_offered;
}

// --- The listening side

static int listen_at(const struct sockaddr *a, socklen_t length) {
	const int one = 1, zero = 0;
	int fd = socket(a->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	disable_pacing(fd);
	if (a->sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL};
	struct gompi_tcp_state *t = &gompi_tcp_state;
	if (bind(fd, a, length) == 0 && listen(fd, BACKLOG) == 0 && epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &e) == 0) {
		t->listeners[t->listener_count++] = fd;
		return 0;
	}
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

// Listens on all permitted addresses, at the given port or, if port is 0, at a port that the system chooses. Returns 0
// or an errno.
static int listen_port(uint16_t port) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	struct sockaddr_storage s;
	int rc = -1;
	if (t->local_host.has_loopback) { // one socket listens on all addresses
		struct gompi_host_address any = {.family = 6};
		socklen_t length = gompi_host_sockaddr(&any, port, &s);
		rc = listen_at((struct sockaddr *)&s, length);
		if (rc != 0 && errno != EADDRINUSE && errno != EACCES) {
			any.family = 4;
			length = gompi_host_sockaddr(&any, port, &s);
			rc = listen_at((struct sockaddr *)&s, length);
		}
	}
	for (int i = 0; i < t->local_host.count && !t->local_host.has_loopback; i++) {
		socklen_t length = gompi_host_sockaddr(&t->local_host.addresses[i], port, &s);
		rc = listen_at((struct sockaddr *)&s, length);
		if (rc != 0 && errno == EADDRNOTAVAIL && (i + 1 < t->local_host.count || t->listener_count > 0)) {
			rc = 0; // IPv6 address in duplicate address detection; the other addresses suffice
			continue;
		}
		if (rc != 0)
			break;
		length = sizeof s;
		if (port == 0 && getsockname(t->listeners[0], (struct sockaddr *)&s, &length) == 0)
			port = ntohs(((struct sockaddr_in *)&s)->sin_port); // sin6_port has the same offset
	}
	if (rc == 0) {
		socklen_t length = sizeof s;
		if (getsockname(t->listeners[0], (struct sockaddr *)&s, &length) != 0)
			return errno;
		t->port = ntohs(((struct sockaddr_in *)&s)->sin_port);
		return 0;
	}
	int error = errno;
	while (t->listener_count > 0)
		close(t->listeners[--t->listener_count]);
	return error;
}

int gompi_tcp_listen(char *error_detail, size_t error_bytes) {
	int first, last;
	if (!gompi_tcp_port_range(&first, &last, error_detail, error_bytes))
		return EINVAL;
	int error = EADDRINUSE;
	if (first == 0) { // the port chosen for the first address may be in use on another address
		for (int tries = 0; tries < 16 && error == EADDRINUSE; tries++)
			error = listen_port(0);
		return error;
	}
	const int n = last - first + 1, begin = (int)(getpid() % n); // processes of a node begin at different ports
	for (int i = 0; i < n && error != 0; i++)
		error = listen_port((uint16_t)(first + (begin + i) % n));
	if (error == EADDRINUSE)
		snprintf(error_detail, error_bytes,
			 "all %d ports from %d to %d (GOMPIRMA_PORTS) are in use on this host: set a larger range", n,
			 first, last);
	return error;
}

static bool has_connection(int fd) {
	struct pollfd p = {.fd = fd, .events = POLLIN};
	return poll(&p, 1, 0) == 1;
}

// Accepts a connection and returns its descriptor. If no descriptor is left, raises the limit, closes an old
// unauthenticated link, or closes the spare descriptor. On failure returns -1 and sets errno.
static int accept_connection(int fd, int64_t now) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	for (;;) {
		int accepted = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (accepted >= 0 || !is_fd_shortage(errno))
			return accepted;
		const int error = errno;
		if (!has_connection(fd)) // accept4 allocates a descriptor before it checks for a connection
			return errno = EAGAIN, -1;
		if (raise_fd_limit() || drop_oldest_unauth(now))
			continue;
		if (t->spare_fd < 0) {
			if (t->spare_fd_owed)
				t->spare_fd_owed = !offer_idle_links(1);
			return errno = error, -1;
		}
		close(t->spare_fd);
		t->spare_fd = -1;
	}
}

void gompi_listener_accept(int fd) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	const int64_t now = gompi_now_ns();
	gompi_spare_fd_open();
	for (int i = 0; i < ACCEPT_BATCH && t->accept_at_ns == 0; i++) {
		if (t->unauth_links >= max_unauth_links() && !drop_oldest_unauth(now)) {
			pause_accepting(now);
			return;
		}
		int accepted = accept_connection(fd, now);
		if (accepted < 0) {
			if (is_fd_shortage(errno))
				pause_accepting(now);
			return;
		}
		const int one = 1;
		setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		struct gompi_tcp_link *l = add_link(accepted, LINK_UNAUTHENTICATED, now + PROOF_NS);
		if (l == NULL)
			return;
		struct hello h = {.greeting = greeting};
		memcpy(h.nonce, l->local_nonce, sizeof h.nonce);
		if (t->job.size == 0 || !send_now(l, &h, sizeof h))
			gompi_link_close(l);
	}
}

// --- The timer

void gompi_timers_run(int64_t now) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	if (t->timer_ns == 0 || now < t->timer_ns)
		return;
	uint64_t expirations;
	if (read(t->timer, &expirations, sizeof expirations) < 0) {
		// EAGAIN: the timer has not expired yet, although its time has come.
	}
	t->timer_ns = 0;
	if (t->accept_at_ns != 0 && t->accept_at_ns <= now)
		resume_accepting();
	gompi_timer_set(t->accept_at_ns);
	for (struct gompi_tcp_link *l = t->links, *next; l != NULL; l = next) {
		next = l->next;
		if (l->deadline_ns == 0 || l->fd < 0)
			continue;
		if (l->deadline_ns > now) {
			gompi_timer_set(l->deadline_ns);
		} else if (l->state == LINK_CONNECTING || l->state == LINK_HANDSHAKE) {
			attempt_failed(l, ETIMEDOUT);
			next = t->links; // other links may have been closed
		} else {
			gompi_tcp_counts.unauth_closed += l->state == LINK_UNAUTHENTICATED;
			gompi_link_close(l);
		}
	}
	for (struct gompi_tcp_peer *p = t->wanting_peers, *next; p != NULL; p = next) {
		next = p->next;
		if (p->next_try_ns <= now)
			try_next_address(p, now);
		if (p->wants_link)
			gompi_timer_set(p->next_try_ns);
	}
}
