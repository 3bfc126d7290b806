/* Proves: connections that do not prove to belong to the job end no link, even if the process (EMFILE) or the system
 * (ENFILE) has no file descriptor left. Such strangers are silent, send garbage or arrive in large numbers. At most one
 * of them is accepted at a time, and each has a time limit, so a peer that connects after all of them is accepted. The
 * process gives up an idle link only in exchange for that peer's link; a descriptor for the next stranger is available
 * afterwards. With enough descriptors the number of strangers is bounded as well.
 *
 * sanitizer: address (one thread)
 * wrap: accept4 eventfd
 */
#include "../unit.h"

#include <sys/resource.h>

enum { IDLE = 4, RANKS = IDLE + 20, ME = RANKS - 1, SOCKETS = 600, CROWD = 50, FLOOD = 400, FREE = 1000 };

#include "other_end.h"

/* Number of files that the system has for links and the reserve; 0: enough. */
static int system_files;
static int most_strangers;

static bool system_is_full(void) {
	return system_files != 0 && gompi_tcp_counts.links + (gompi_tcp_state.reserve >= 0) >= system_files;
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

/* Sockets of the other ends, none of which is closed, and descriptors that use up those of the process. */
static int sockets[SOCKETS], n_sockets, taken[FREE], n_taken;

static int call_next(void) { return call_by(sockets[--n_sockets]); }

static void take_all_descriptors(void) {
	while ((taken[n_taken] = dup(1)) >= 0)
		n_taken++;
	CHECK(errno == EMFILE && n_taken < FREE, "descriptors");
}

static void look(void) {
	step();
	const int n = gompi_tcp_state.strangers;
	most_strangers = n > most_strangers ? n : most_strangers;
}

static int idle[IDLE];
static uint32_t next_peer;

static int connect_peer(int fd) {
	const uint64_t confirm = TCP_CONFIRM;
	CHECK(introduce(fd, next_peer, ME, 0, NULL, NULL) == YES, "peer %u", next_peer);
	send(fd, &confirm, sizeof confirm, 0);
	const struct gompi_tcp_peer *p = gompi_tcp_state.peers[next_peer];
	while (p == NULL || p->link == NULL || p->link->state != LINK_OPEN)
		look();
	next_peer++;
	return fd;
}

/* Returns true if this end of the link has no data to read. */
static bool is_quiet(int fd) {
	char byte;
	return recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static void all_idle_are_there(const char *when) {
	for (int i = 0; i < IDLE; i++)
		CHECK(is_quiet(idle[i]), "%s: idle link %d is given up", when, i);
	CHECK(gompi_tcp_counts.idle == 0 && lost_n == 0, "%s: %llu links are given up, %d lost", when,
	      (unsigned long long)gompi_tcp_counts.idle, lost_n);
}

/* Connects strangers, then a peer behind them, while no descriptor is left. */
static void without_descriptors(const char *when) {
	const uint64_t go = TCP_GO;
	int crowd[CROWD];
	gompi_tcp_counts.idle = 0;
	most_strangers = 0;
	CHECK(gompi_tcp_state.reserve >= 0, "%s: there is no reserve", when);
	int silent = call_next();
	while (gompi_tcp_state.strangers == 0)
		look();
	int garbage = call_next();
	char nonsense[sizeof(struct request)] = "GET / HTTP/1.0\r\n\r\n";
	send(garbage, nonsense, sizeof nonsense, MSG_NOSIGNAL);
	is_ended(silent); /* because the next one waits */
	is_ended(garbage);
	all_idle_are_there(when);
	CHECK(gompi_tcp_state.reserve >= 0, "%s: the reserve is gone with the strangers", when);
	for (int i = 0; i < CROWD; i++)
		crowd[i] = call_next();
	for (int i = 0; i < CROWD / 2; i++)
		is_ended(crowd[i]);
	all_idle_are_there(when);
	int peer = call_next(); /* behind the strangers */
	connect_peer(peer);
	CHECK(most_strangers == 1, "%s: %d strangers at the same time", when, most_strangers);
	for (int i = CROWD / 2; i < CROWD; i++)
		is_ended(crowd[i]);
	/* This side offers to give up one idle link, whose descriptor becomes the reserve. */
	uint64_t said = 0;
	int offered = 0;
	for (int i = 0; i < IDLE; i++)
		if (recv(idle[i], &said, sizeof said, MSG_DONTWAIT) == sizeof said && said == TCP_BYE) {
			CHECK(send(idle[i], &go, sizeof go, 0) == sizeof go, "an answer");
			is_ended(idle[i]);
			idle[i] = peer;
			offered++;
		}
	CHECK(offered == 1 && gompi_tcp_counts.idle == 1, "%s: %d links are offered, %llu given up", when, offered,
	      (unsigned long long)gompi_tcp_counts.idle);
	CHECK(gompi_tcp_state.reserve >= 0, "%s: the reserve is not back", when);
	CHECK(lost_n == 0, "%s: %d lost", when, lost_n);
}

int main(void) {
	const struct rlimit files = {FREE, FREE};
	int port, listener;
	unit_node(1);
	unit_hurry = true; /* each clock reading advances the time */
	setrlimit(RLIMIT_NOFILE, &files);
	for (; n_sockets < SOCKETS; n_sockets++)
		sockets[n_sockets] = socket(AF_INET, SOCK_STREAM, 0);
	listener = listen_here(&port);
	open_tcp(port);
	for (int i = 0; i < IDLE; i++)
		idle[i] = connect_peer(call_next());

	take_all_descriptors();
	without_descriptors("EMFILE");
	without_descriptors("EMFILE again");
	while (n_taken > 0)
		close(taken[--n_taken]);
	system_files = gompi_tcp_counts.links + 1;
	without_descriptors("ENFILE");
	system_files = 0;

	/* More than the limit of strangers, with descriptors for all. */
	const int limit = FREE / 2 / 4;
	gompi_tcp_counts.idle = 0;
	most_strangers = 0;
	static int flood[FLOOD];
	for (int i = 0; i < FLOOD; i++)
		flood[i] = call_next();
	connect_peer(call_next());
	all_idle_are_there("flood");
	CHECK(most_strangers > limit / 2 && most_strangers <= limit, "%d strangers at the same time, not %d",
	      most_strangers, limit);
	for (int i = 0; i < FLOOD; i++)
		is_ended(flood[i]);
	gompi_tcp_end();
	close(listener);
	return unit_end();
}
