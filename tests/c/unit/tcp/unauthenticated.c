/* Proves: an unauthenticated connection (one that has not proved that it belongs to the job) never makes the process
 * close a link. This holds even if the process (EMFILE) or the system (ENFILE) has no free file descriptor. The test
 * opens silent connections, connections that send garbage, and many connections at once. Without free descriptors, the
 * process uses its spare descriptor: it accepts one unauthenticated connection at a time, each with a time limit. So a
 * peer that connects after all of them is accepted. Only then does the process close an idle link. The descriptor of
 * that link becomes the spare descriptor. With enough descriptors, the number of unauthenticated connections is
 * limited, too.
 * If connecting fails for a reason other than missing descriptors, the error text has that reason.
 *
 * sanitizer: address (one thread)
 * wrap: accept4 eventfd epoll_ctl
 */
#include "../unit.h"

#include <sys/resource.h>

enum { IDLE = 4, RANKS = IDLE + 20, ME = RANKS - 1, SOCKETS = 600, CROWD = 50, FLOOD = 400, FREE = 1000 };

#include "remote_end.h"

/* The simulated system limit: number of descriptors available for links and the spare descriptor. 0 for no limit. */
static int system_files;
static int max_unauth_seen;

static bool system_is_full(void) {
	return system_files != 0 && gompi_tcp_counts.open_links + (gompi_tcp_state.spare_fd >= 0) >= system_files;
}

int __real_accept4(int fd, struct sockaddr *a, socklen_t *n, int flags);
int __wrap_accept4(int fd, struct sockaddr *a, socklen_t *n, int flags);
int __wrap_accept4(int fd, struct sockaddr *a, socklen_t *n, int flags) {
	return system_is_full() ? errno = ENFILE, -1 : __real_accept4(fd, a, n, flags);
}

int __real_eventfd(unsigned count, int flags);
int __wrap_eventfd(unsigned count, int flags);
int __wrap_eventfd(unsigned count, int flags) {
	return system_is_full() ? errno = ENFILE, -1 : __real_eventfd(count, flags);
}

static int epoll_error; /* if not 0, epoll_ctl(EPOLL_CTL_ADD) fails with this error */

int __real_epoll_ctl(int epoll, int op, int fd, struct epoll_event *e);
int __wrap_epoll_ctl(int epoll, int op, int fd, struct epoll_event *e);
int __wrap_epoll_ctl(int epoll, int op, int fd, struct epoll_event *e) {
	return op == EPOLL_CTL_ADD && epoll_error != 0 ? errno = epoll_error, -1 : __real_epoll_ctl(epoll, op, fd, e);
}

/* sockets: created in advance, for connections of the other side; they are never closed. held_fds: descriptors that use
 * up all free descriptors of the process. */
static int sockets[SOCKETS], n_sockets, held_fds[FREE], held_fds_count;

static int connect_next(void) { return connect_with(sockets[--n_sockets]); }

static void take_all_descriptors(void) {
	while ((held_fds[held_fds_count] = dup(1)) >= 0)
		held_fds_count++;
	CHECK(errno == EMFILE && held_fds_count < FREE, "descriptors");
}

static void step_and_count(void) {
	step();
	const int n = gompi_tcp_state.unauth_links;
	max_unauth_seen = n > max_unauth_seen ? n : max_unauth_seen;
}

static int idle[IDLE];
static uint32_t next_peer;

static int connect_peer(int fd) {
	const uint64_t confirm = TCP_CONFIRM;
	CHECK(request_link(fd, next_peer, ME, 0, NULL, NULL) == ANSWER_YES, "peer %u", next_peer);
	send(fd, &confirm, sizeof confirm, 0);
	const struct gompi_tcp_peer *p = gompi_tcp_state.peers[next_peer];
	while (p == NULL || p->link == NULL || p->link->state != LINK_OPEN)
		step_and_count();
	next_peer++;
	return fd;
}

/* Returns true if the other side's socket is open and has no data to read. */
static bool is_quiet(int fd) {
	char byte;
	return recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static void check_idle_open(const char *when) {
	for (int i = 0; i < IDLE; i++)
		CHECK(is_quiet(idle[i]), "%s: idle link %d is given up", when, i);
	CHECK(gompi_tcp_counts.idle_closed == 0 && failed_count == 0, "%s: %llu links are given up, %d lost", when,
	      (unsigned long long)gompi_tcp_counts.idle_closed, failed_count);
}

/* Opens unauthenticated connections, and then a connection of a peer, while no descriptor is free. */
static void without_descriptors(const char *when) {
	const uint64_t go = TCP_CLOSE_ACCEPT;
	int crowd[CROWD];
	gompi_tcp_counts.idle_closed = 0;
	max_unauth_seen = 0;
	CHECK(gompi_tcp_state.spare_fd >= 0, "%s: there is no reserve", when);
	int silent = connect_next();
	while (gompi_tcp_state.unauth_links == 0)
		step_and_count();
	int garbage = connect_next();
	char nonsense[sizeof(struct request)] = "GET / HTTP/1.0\r\n\r\n";
	send(garbage, nonsense, sizeof nonsense, MSG_NOSIGNAL);
	wait_for_eof(silent); /* the process closes the silent connection, because another connection waits */
	wait_for_eof(garbage);
	check_idle_open(when);
	CHECK(gompi_tcp_state.spare_fd >= 0, "%s: the spare descriptor is not restored", when);
	for (int i = 0; i < CROWD; i++)
		crowd[i] = connect_next();
	for (int i = 0; i < CROWD / 2; i++)
		wait_for_eof(crowd[i]);
	check_idle_open(when);
	int peer = connect_next(); /* connects after the unauthenticated connections */
	connect_peer(peer);
	CHECK(max_unauth_seen == 1, "%s: %d unauthenticated links at the same time", when, max_unauth_seen);
	for (int i = CROWD / 2; i < CROWD; i++)
		wait_for_eof(crowd[i]);
	/* This side offers to close exactly one idle link, whose descriptor becomes the spare one. */
	uint64_t said = 0;
	int offered = 0;
	for (int i = 0; i < IDLE; i++)
		if (recv(idle[i], &said, sizeof said, MSG_DONTWAIT) == sizeof said && said == TCP_CLOSE_OFFER) {
			CHECK(send(idle[i], &go, sizeof go, 0) == sizeof go, "an answer");
			wait_for_eof(idle[i]);
			idle[i] = peer;
			offered++;
		}
	CHECK(offered == 1 && gompi_tcp_counts.idle_closed == 1, "%s: %d links are offered, %llu given up", when,
	      offered, (unsigned long long)gompi_tcp_counts.idle_closed);
	CHECK(gompi_tcp_state.spare_fd >= 0, "%s: the reserve is not back", when);
	CHECK(failed_count == 0, "%s: %d lost", when, failed_count);
}

int main(void) {
	const struct rlimit files = {FREE, FREE};
	int port, listener;
	unit_node(1);
	unit_hurry = true; /* each reading of the clock advances the time, so that time limits expire soon */
	setrlimit(RLIMIT_NOFILE, &files);
	for (; n_sockets < SOCKETS; n_sockets++)
		sockets[n_sockets] = socket(AF_INET, SOCK_STREAM, 0);
	listener = listen_here(&port);
	open_tcp(port);
	for (int i = 0; i < IDLE; i++)
		idle[i] = connect_peer(connect_next());

	take_all_descriptors();
	without_descriptors("EMFILE");
	without_descriptors("EMFILE again");
	while (held_fds_count > 0)
		close(held_fds[--held_fds_count]);
	system_files = gompi_tcp_counts.open_links + 1;
	without_descriptors("ENFILE");
	system_files = 0;

	/* Opens more unauthenticated connections than the limit permits, while there are enough descriptors for all of
	 * them. */
	const int limit = FREE / 2 / 4;
	gompi_tcp_counts.idle_closed = 0;
	max_unauth_seen = 0;
	static int flood[FLOOD];
	for (int i = 0; i < FLOOD; i++)
		flood[i] = connect_next();
	connect_peer(connect_next());
	check_idle_open("flood");
	CHECK(max_unauth_seen > limit / 2 && max_unauth_seen <= limit,
	      "%d unauthenticated links at the same time, not %d", max_unauth_seen, limit);
	for (int i = 0; i < FLOOD; i++)
		wait_for_eof(flood[i]);

	char text[GOMPI_NET_ERROR_BYTES];
	epoll_error = EPERM;
	gompi_tcp_peer_want_link(gompi_tcp_peer(RANKS - 2));
	gompi_tcp_error_detail(RANKS - 2, text, sizeof text);
	CHECK(strstr(text, strerror(EPERM)) != NULL, "another reason: %s", text);
	tcp->close();
	close(listener);
	return unit_end();
}
