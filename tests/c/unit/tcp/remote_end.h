/* Common part of the tests of TCP links. "This side" is process ME of RANKS and runs the code under test. "The other
 * side" is the test, which plays peers and speaks the protocol of tcp/connect.c through sockets. */
#ifndef OTHER_END_H
#define OTHER_END_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/siphash.h"
#include "tcp/link.h"

static const uint64_t secret[2] = {0x0123456789abcdef, 42};
enum { UNIVERSE = 7 };                       /* universe of the job under test */
static uint64_t request_universe = UNIVERSE; /* universe that the simulated peer states in its request */

struct hello {
	uint64_t greeting, nonce[2];
};
struct request {
	uint32_t source, destination;
	uint64_t universe, nonce[2], proof;
};
struct response {
	uint32_t answer, zero;
	uint64_t proof;
};
enum { ANSWER_YES = 1, ANSWER_BUSY, ANSWER_CROSSED, ANSWER_ERROR };

static uint64_t proof(uint64_t what, uint32_t source, uint32_t destination, const uint64_t a[2], const uint64_t b[2]) {
	const uint64_t words[] = {what, request_universe, source | (uint64_t)destination << 32, a[0], a[1], b[0], b[1]};
	return gompi_siphash(secret, words, 7);
}

/* --- This side */

static int to_port;
static int failed_count, received[RANKS];
static void lost(int peer) { failed_count++; }
static void unreachable(int peer) { CHECK(false, "peer %d is unreachable", peer); }
static const struct gompi_net_events events = {.on_failed = lost, .on_unreachable = unreachable};
static const struct gompi_net_ops *const tcp = &gompi_tcp_ops;
static struct gompi_net_endpoint endpoint;
/* A receive buffer. */
struct place {
	struct gompi_net_op op;
	char head[GOMPI_NET_HEAD_BYTES], data[64];
};
static struct place places[64];
static enum gompi_net_error post_place(struct place *p) {
	return tcp->post_receive(p->data, sizeof p->data, NULL, &p->op);
}

static int listen_here(int *port) {
	struct sockaddr_in a = {.sin_family = AF_INET};
	socklen_t n = sizeof a;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&a, n) != 0 || listen(fd, 4096) != 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &n) != 0)
		abort();
	*port = ntohs(a.sin_port);
	return fd;
}

static void open_tcp(int peers_port) {
	static char ports[RANKS * GOMPI_TCP_PORT_BYTES];
	static int32_t node_of[RANKS];
	char why[GOMPI_NET_ERROR_BYTES];
	struct gompi_provider provider;
	uint16_t p = (uint16_t)peers_port;
	tcp->choose(NULL, &provider, why);
	CHECK(tcp->open(&provider, &endpoint, why), "%s", why);
	for (int i = 0; i < RANKS; i++) {
		memcpy(ports + i * GOMPI_TCP_PORT_BYTES, &p, sizeof p);
		node_of[i] = i != ME;
	}
	memcpy(&p, endpoint.address, sizeof p);
	to_port = p;
	const uint32_t bytes = (uint32_t)endpoint.host_bytes;
	char hosts[2 * GOMPI_HOST_DATA_BYTES];
	memcpy(hosts, endpoint.host, bytes);
	memcpy(hosts + bytes, endpoint.host, bytes); /* the peers are on the same host: uses its loopback interface */
	const struct gompi_net_job job = {.size = RANKS,
					  .max_added = 1,
					  .rank = ME,
					  .nodes = 2,
					  .addresses = ports,
					  .address_bytes = GOMPI_TCP_PORT_BYTES,
					  .hosts = hosts,
					  .host_offsets = (uint32_t[]){0, bytes, 2 * bytes},
					  .node_of = node_of,
					  .universe = UNIVERSE,
					  .secret = {secret[0], secret[1]},
					  .timeout_ns = 60000000000};
	CHECK(tcp->begin(&job, &events, why), "%s", why);
	for (int i = 0; i < 64; i++)
		CHECK(post_place(&places[i]) == NET_SUCCESS, "a place");
}

static void answer(uint32_t rank, int round) {
	struct {
		char head[GOMPI_NET_HEAD_BYTES];
		uint32_t frame[2];
	} m = {.frame = {rank, (uint32_t)round}};
	CHECK(tcp->inject((int)rank, (char *)m.frame, sizeof m.frame) == NET_SUCCESS, "to %u", rank);
}

/* Processes the available completions of this side. Checks each received message and sends an answer. Returns true if
 * there was a completion. */
static bool step(void) {
	struct gompi_net_completion c[16];
	struct pollfd on = {.fd = endpoint.fd, .events = POLLIN};
	int n = tcp->poll(c, 16);
	if (n == 0 && tcp->arm())
		poll(&on, 1, 10);
	for (int i = 0; i < n; i++) {
		struct place *p = (struct place *)c[i].op;
		uint32_t frame[2];
		memcpy(frame, p->data, sizeof frame);
		CHECK(c[i].error == NET_SUCCESS, "an error");
		CHECK(c[i].bytes == 8 && frame[0] < RANKS && frame[0] == (uint32_t)c[i].peer &&
			      frame[1] == (uint32_t)received[frame[0]],
		      "message %u of peer %u, expected was %d", frame[1], frame[0], received[frame[0]]);
		answer(frame[0], received[frame[0]]++);
		CHECK(post_place(p) == NET_SUCCESS, "a place");
	}
	return n > 0;
}

/* --- The other side */

static int connect_with(int fd) {
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)to_port)};
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK(connect(fd, (struct sockaddr *)&to, sizeof to) == 0, "connecting");
	return fd;
}

static int connect_here(void) { return connect_with(socket(AF_INET, SOCK_STREAM, 0)); }

static void read_all(int fd, void *to, size_t n) {
	for (size_t at = 0; at < n;) {
		ssize_t some = recv(fd, (char *)to + at, n - at, MSG_DONTWAIT);
		if (some > 0)
			at += (size_t)some;
		else if (some == 0 || errno != EAGAIN) {
			memset(to, 0, n);
			return;
		}
		step();
	}
}

/* Waits until this side has closed its end of the connection. */
static void wait_for_eof(int fd) {
	char rest[256];
	for (;;) {
		ssize_t n = recv(fd, rest, sizeof rest, MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN))
			break;
		step();
	}
}

static void wait_and_close(int fd) {
	wait_for_eof(fd);
	close(fd);
}

/* Sends a connection request and returns the answer (enum handshake_answer), or 0 if there is no answer. `change` has
 * the bits of the proof to flip. If `old` is not NULL, replays that request instead. Stores the sent request to *said
 * if `said` is not NULL. */
static uint32_t request_link(int fd, uint32_t rank, uint32_t destination, int change, const struct request *old,
			     struct request *said) {
	struct hello h;
	struct response v;
	read_all(fd, &h, sizeof h);
	struct request r = {.source = rank, .destination = destination, .universe = request_universe, .nonce = {1, 2}};
	r.proof = proof(1, rank, destination, h.nonce, r.nonce) ^ (uint64_t)change;
	if (old != NULL)
		r = *old;
	if (said != NULL)
		*said = r;
	CHECK(send(fd, &r, sizeof r, MSG_NOSIGNAL) == sizeof r, "a request");
	read_all(fd, &v, sizeof v);
	return v.answer;
}

#endif
