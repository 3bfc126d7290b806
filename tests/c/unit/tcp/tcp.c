/* Proves, with simulated peers that speak the protocol of tcp/connect.c: a process connects with 2,000 peers in any
 * order, whichever side sends the request. This holds even if requests cross, are rejected for a while, or break off.
 * Each message arrives exactly once, in both directions. With a much lower limit of open files, idle links are closed
 * and reopened, and no message is lost. A connection that does not prove knowledge of the secret is refused: after a
 * timeout if it is silent, at once if its proof is wrong or replayed. RDMA requests for memory that is not registered
 * are refused. A damaged head ends only its own link.
 *
 * sanitizer: address (one thread)
 */
#include "../unit.h"

#include <sys/resource.h>
#include <sys/wait.h>

enum { PEERS = 2000, ME = PEERS / 2, RANKS = PEERS + 1 };

#include "remote_end.h"

/* --- The peers. One child process plays all peers, which have the same port */

struct socket {
	int fd, rank; /* rank: peer to which the connection belongs; -1 until it is known */
	enum { ASKS_HELLO, ASKS_VERDICT, WAITS_REQUEST, WAITS_CONFIRM, TALKS } state;
	uint64_t mine[2], theirs[2];
	char in[512];
	size_t have;
};
static struct peer {
	struct socket *link, *asking;
	int busy, sent, received;
	bool active;
} peers[RANKS];
static int epoll, rounds, finished;
static unsigned seed = 7;

static unsigned draw(unsigned below) { return (unsigned)rand_r(&seed) / 7 % below; }

static void drop(struct socket *s) {
	if (s->rank >= 0) {
		if (peers[s->rank].link == s)
			peers[s->rank].link = NULL;
		if (peers[s->rank].asking == s)
			peers[s->rank].asking = NULL;
	}
	close(s->fd);
	free(s);
}

static struct socket *watch(int fd, int rank, int state) {
	struct socket *s = calloc(1, sizeof *s);
	s->fd = fd, s->rank = rank, s->state = state;
	s->mine[0] = draw(1u << 30), s->mine[1] = (uint64_t)fd;
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = s};
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) != 0)
		exit(3);
	return s;
}

static void begin_link(int rank) {
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)to_port)};
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
		exit(4);
	peers[rank].asking = watch(fd, rank, ASKS_HELLO);
}

static void put(struct socket *s, const void *what, size_t n) {
	if (send(s->fd, what, n, MSG_NOSIGNAL) != (ssize_t)n) {
		/* Ignore the error: this side has closed the connection, and the next read will return end of file. */
	}
}

static void open_for_data(struct socket *s) {
	struct peer *p = &peers[s->rank];
	s->state = TALKS;
	p->link = s;
	if (p->asking == s)
		p->asking = NULL;
	if (p->sent == p->received && p->sent < rounds) {
		uint32_t frame[] = {TCP_FRAME, 8, (uint32_t)s->rank, (uint32_t)p->sent++};
		put(s, frame, sizeof frame);
	}
}

/* Handles the first message in s->in. Returns the message's length, 0 if the message is incomplete, or -1 if the socket
 * is now closed. */
static int handle_input(struct socket *s) {
	struct peer *p = s->rank >= 0 ? &peers[s->rank] : NULL;
	struct hello h;
	struct request r = {0};
	struct response v = {0};
	const uint64_t confirm = TCP_CONFIRM, go = TCP_CLOSE_ACCEPT, stay = TCP_CLOSE_REJECT;
	uint32_t head[4];
	switch (s->state) {
	case ASKS_HELLO:
		if (s->have < sizeof h)
			return 0;
		memcpy(&h, s->in, sizeof h);
		memcpy(s->theirs, h.nonce, sizeof s->theirs);
		r.source = (uint32_t)s->rank, r.destination = ME, r.universe = UNIVERSE;
		memcpy(r.nonce, s->mine, sizeof r.nonce);
		r.proof = proof(1, r.source, ME, s->theirs, s->mine);
		if (draw(20) == 0) { /* sends only half of the request, and closes the socket */
			put(s, &r, sizeof r / 2);
			drop(s);
			return -1;
		}
		put(s, &r, sizeof r);
		s->state = ASKS_VERDICT;
		return sizeof h;
	case ASKS_VERDICT:
		if (s->have < sizeof v)
			return 0;
		memcpy(&v, s->in, sizeof v);
		if (v.proof != proof(2 | (uint64_t)v.answer << 32, (uint32_t)s->rank, ME, s->theirs, s->mine))
			exit(5);
		if (v.answer != ANSWER_YES || p->link != NULL) {
			drop(s);
			return -1;
		}
		put(s, &confirm, sizeof confirm);
		open_for_data(s);
		return sizeof v;
	case WAITS_REQUEST:
		if (s->have < sizeof r)
			return 0;
		memcpy(&r, s->in, sizeof r);
		if (r.source != ME || r.destination >= RANKS ||
		    r.proof != proof(1, ME, r.destination, s->mine, r.nonce))
			exit(6);
		s->rank = (int)r.destination;
		p = &peers[s->rank];
		v.answer = p->link != NULL || p->busy > 0                                          ? ANSWER_BUSY
			   : p->asking != NULL && p->asking->state == ASKS_VERDICT && s->rank < ME ? ANSWER_CROSSED
												   : ANSWER_YES;
		p->busy -= p->busy > 0;
		v.proof = proof(2 | (uint64_t)v.answer << 32, ME, r.destination, s->mine, r.nonce);
		put(s, &v, sizeof v);
		if (v.answer != ANSWER_YES) {
			s->rank = -1;
			drop(s);
			return -1;
		}
		if (p->asking != NULL)
			drop(p->asking);
		s->state = WAITS_CONFIRM;
		p->link = s;
		return sizeof r;
	case WAITS_CONFIRM:
		if (s->have < sizeof confirm)
			return 0;
		if (memcmp(s->in, &confirm, sizeof confirm) != 0)
			exit(7);
		open_for_data(s);
		return sizeof confirm;
	case TALKS:
		if (s->have < 8)
			return 0;
		memcpy(head, s->in, 8);
		if (head[0] == TCP_CLOSE_OFFER) {
			const bool done = p->sent == p->received; /* all messages of this peer are answered */
			put(s, done ? &go : &stay, 8);
			if (!done)
				return 8;
			drop(s);
			return -1;
		}
		if (head[0] == TCP_CLOSE_REJECT || head[0] == TCP_CLOSE_ACCEPT || head[0] == TCP_CONFIRM)
			exit(8);
		if (head[0] != TCP_FRAME || head[1] != 8)
			exit(9);
		if (s->have < 16)
			return 0;
		memcpy(head, s->in, 16);
		if (head[2] != (uint32_t)s->rank || head[3] != (uint32_t)p->received)
			exit(10);
		finished += ++p->received == rounds;
		if (p->sent < p->received || p->sent < rounds)
			open_for_data(s);
		return 16;
	}
	return 0;
}

static void read_some(struct socket *s) {
	ssize_t n = recv(s->fd, s->in + s->have, sizeof s->in - s->have, MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		drop(s);
		return;
	}
	s->have += (size_t)n;
	for (int used; (used = handle_input(s)) != 0;) {
		if (used < 0)
			return;
		s->have -= (size_t)used;
		memmove(s->in, s->in + used, s->have);
	}
}

/* Plays all peers. Writes to the pipe `done_pipe` for each peer that has received `rounds` messages. Runs until the
 * process is killed. */
static void run_peers(int listener, int done_pipe) {
	epoll = epoll_create1(0);
	watch(listener, -1, WAITS_REQUEST)->fd = listener;
	for (int i = 0; i < RANKS; i++) {
		peers[i].active = draw(2) == 0;
		peers[i].busy = draw(8) == 0 ? 2 : 0;
	}
	bool told = false;
	for (int next = 0;;) {
		struct epoll_event e[8];
		int n = epoll_wait(epoll, e, 8, 1);
		for (int i = 0; i < n; i++) {
			struct socket *s = e[i].data.ptr;
			if (s->fd != listener) {
				read_some(s);
				break; /* read_some may have closed the sockets of the other events */
			}
			int fd = accept(listener, NULL, NULL);
			if (fd < 0)
				exit(11);
			struct socket *a = watch(fd, -1, WAITS_REQUEST);
			if (draw(40) == 0) { /* closes the connection before sending anything */
				drop(a);
				continue;
			}
			struct hello h = {0x31706d6f67, {a->mine[0], a->mine[1]}};
			put(a, &h, sizeof h);
		}
		for (int k = 0; k < 4; k++, next = (next + 1) % RANKS) {
			struct peer *p = &peers[next];
			if (next != ME && (p->active || p->received > 0) && p->link == NULL && p->asking == NULL &&
			    p->sent == p->received && p->received < rounds)
				begin_link(next);
		}
		if (finished == PEERS && !told) {
			told = true;
			if (write(done_pipe, "", 1) != 1)
				exit(12);
		}
	}
}

/* Exchanges n messages with each peer in both directions. `files` is the limit of open files, 0 for no change. */
static void all_peers(int n, int files) {
	int done_pipe[2], port, listener = listen_here(&port);
	char byte;
	rounds = n;
	memset(received, 0, sizeof received);
	if (pipe(done_pipe) != 0)
		abort();
	open_tcp(port);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		run_peers(listener, done_pipe[1]);
		_exit(0);
	}
	close(listener);
	const struct rlimit limit = {(rlim_t)files, (rlim_t)files};
	if (files > 0) { /* the limit is not restored, because this is the last test */
		gompi_tcp_state.max_links = files / 2;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	struct pollfd over = {.fd = done_pipe[0], .events = POLLIN};
	int most = 0;
	for (int i = 0; poll(&over, 1, 0) == 0; i++) {
		step();
		int to = (int)(i * 7919LL % RANKS); /* this process also connects, in another order than the peers */
		if (i < RANKS && to != ME)
			tcp->connect(to);
		most = gompi_tcp_counts.open_links > most ? gompi_tcp_counts.open_links : most;
		int status;
		if (waitpid(child, &status, WNOHANG) == child) {
			CHECK(false, "the peers have ended with %#x", status);
			break;
		}
	}
	CHECK(read(done_pipe[0], &byte, 1) == 1, "the end");
	for (int i = 0; i < RANKS; i++)
		CHECK(i == ME || received[i] == n, "%d messages of peer %d", received[i], i);
	CHECK(failed_count == 0, "%d peers are lost", failed_count);
	CHECK(gompi_load(&gompi_tcp_counts.failed_connects) > 0, "no attempt to connect has failed");
	printf("%d peers, %d messages each: connected %llu, accepted %llu, crossed %llu, given up %llu, at most %d "
	       "links\n",
	       PEERS, n, (unsigned long long)gompi_tcp_counts.connected, (unsigned long long)gompi_tcp_counts.accepted,
	       (unsigned long long)gompi_tcp_counts.crossed_requests, (unsigned long long)gompi_tcp_counts.idle_closed,
	       most);
	if (files > 0)
		CHECK(gompi_tcp_counts.idle_closed > 0 && most <= files, "%d links with %d files, %llu given up", most,
		      files, (unsigned long long)gompi_tcp_counts.idle_closed);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	tcp->close();
	CHECK(gompi_tcp_counts.open_links == 0, "%d links are left", gompi_tcp_counts.open_links);
	close(done_pipe[0]), close(done_pipe[1]);
	memset(&gompi_tcp_counts, 0, sizeof gompi_tcp_counts);
	failed_count = 0;
}

/* --- Connections without the secret, and invalid requests */

/* Offers, as a peer, to close an idle link. This side rejects the offer while it has a read pending, and accepts the
 * next offer. Returns the socket of the peer's next link. */
static int offer_close(int fd) {
	static char to[8];
	const uint64_t bye = TCP_CLOSE_OFFER, stay = TCP_CLOSE_REJECT, go = TCP_CLOSE_ACCEPT, confirm = TCP_CONFIRM;
	uint64_t said;
	struct gompi_net_op op;
	struct gompi_net_completion c;
	struct gompi_tcp_head h;
	CHECK(tcp->read(1, to, sizeof to, NULL, 99, 3, &op) == NET_SUCCESS, "a read");
	read_all(fd, &h, sizeof h);
	CHECK(h.kind == TCP_READ && h.key == 99 && h.offset == 3 && h.bytes == sizeof to, "what is read");
	send(fd, &bye, sizeof bye, 0);
	read_all(fd, &said, sizeof said);
	CHECK(said == stay, "the answer to an offer is %llu", (unsigned long long)said);
	h = (struct gompi_tcp_head){.kind = TCP_DATA, .length = sizeof to, .id = h.id};
	send(fd, &h, sizeof h, 0);
	send(fd, "abcdefgh", sizeof to, 0);
	while (tcp->poll(&c, 1) == 0) {
	}
	CHECK(c.op == &op && c.error == NET_SUCCESS && memcmp(to, "abcdefgh", sizeof to) == 0, "what has been read");
	send(fd, &bye, sizeof bye, 0);
	read_all(fd, &said, sizeof said);
	CHECK(said == go, "the answer to the second offer is %llu", (unsigned long long)said);
	wait_and_close(fd);
	CHECK(failed_count == 0, "who has given up its link is lost");
	fd = connect_here();
	CHECK(request_link(fd, 1, ME, 0, NULL, NULL) == ANSWER_YES, "another link");
	send(fd, &confirm, sizeof confirm, 0);
	return fd;
}

/* Sends more messages than there are receive buffers. Checks that the messages wait and are received in order when
 * buffers are posted again. */
static void crowd(int fd) {
	enum { PLACES = 64, MESSAGES = 3 * PLACES };
	static uint32_t all[MESSAGES][4];
	struct place *held[PLACES];
	struct gompi_net_completion c;
	for (uint32_t i = 0; i < MESSAGES; i++)
		memcpy(all[i], (uint32_t[]){TCP_FRAME, 8, 1, i}, sizeof all[i]);
	CHECK(send(fd, all, sizeof all, 0) == sizeof all, "the messages");
	for (uint32_t i = 0, taken = 0; i < MESSAGES; i++) {
		uint32_t number;
		while (tcp->poll(&c, 1) == 0) {
		}
		struct place *p = (struct place *)c.op;
		memcpy(&number, p->data + 4, sizeof number);
		CHECK(c.error == NET_SUCCESS && c.bytes == 8 && number == i, "message %u comes as number %u", number,
		      i);
		held[taken++] = p;
		if (taken < PLACES)
			continue;
		if (i + 1 < MESSAGES) /* no receive buffer is posted: no message may be received */
			for (int k = 0; k < 100; k++)
				CHECK(tcp->poll(&c, 1) == 0, "a message without a place");
		for (; taken > 0; taken--)
			CHECK(post_place(held[taken - 1]) == NET_SUCCESS, "a place");
	}
	memcpy(all[0], (uint32_t[]){TCP_FRAME, 8, 1, 0}, sizeof all[0]);
	CHECK(send(fd, all[0], sizeof all[0], 0) == sizeof all[0], "one more");
	CHECK(gompi_tcp_state.peers[1]->link->epoll_events == EPOLLIN, "nobody looks for what comes after a crowd");
	while (!step()) {
	}
	CHECK(received[1] == 1, "%d messages", received[1]);
	uint32_t answer[4];
	read_all(fd, answer, sizeof answer);
	CHECK(answer[0] == TCP_FRAME && answer[2] == 1, "the answer");
}

/* Tests crossing requests: this side and the peer send each other a connection request at the same time. The request of
 * the lower rank wins. */
static void crossing(int listener, uint32_t rank) {
	const uint64_t confirm = TCP_CONFIRM;
	uint64_t confirmed = 0;
	struct hello h = {0x31706d6f67, {7, rank}};
	struct request r;
	struct pollfd on = {.fd = listener, .events = POLLIN};
	tcp->connect((int)rank);
	while (poll(&on, 1, 0) == 0)
		step();
	int asked = accept(listener, NULL, NULL);
	send(asked, &h, sizeof h, MSG_NOSIGNAL);
	read_all(asked, &r, sizeof r);
	CHECK(r.source == ME && r.destination == rank && r.proof == proof(1, ME, rank, h.nonce, r.nonce),
	      "the request of %u to %u", r.source, r.destination);
	int asks = connect_here();
	uint32_t said = request_link(asks, rank, ME, 0, NULL, NULL);
	CHECK(said == (rank < ME ? ANSWER_YES : ANSWER_CROSSED), "rank %u is told %u", rank, said);
	if (rank < ME) {
		send(asks, &confirm, sizeof confirm, MSG_NOSIGNAL);
		wait_and_close(asked);
		return;
	}
	wait_and_close(asks);
	struct response v = {.answer = ANSWER_YES};
	v.proof = proof(2 | (uint64_t)ANSWER_YES << 32, ME, rank, h.nonce, r.nonce);
	send(asked, &v, sizeof v, MSG_NOSIGNAL);
	read_all(asked, &confirmed, sizeof confirmed);
	CHECK(confirmed == confirm, "the link is not confirmed");
}

static void unauthenticated(void) {
	int port, listener = listen_here(&port), silent[40];
	memset(received, 0, sizeof received);
	open_tcp(port);
	for (int i = 0; i < 40; i++)
		silent[i] = connect_here();
	crossing(listener, ME - 100);
	crossing(listener, ME + 100);
	close(listener);
	int fd = connect_here();
	CHECK(request_link(fd, 1, ME, 1, NULL, NULL) == 0, "a wrong proof is answered");
	wait_and_close(fd);
	fd = connect_here();
	CHECK(request_link(fd, 1, 5, 0, NULL, NULL) == ANSWER_ERROR, "somebody else's request");
	wait_and_close(fd);
	struct request said;
	fd = connect_here();
	CHECK(request_link(fd, 1, ME, 0, NULL, &said) == ANSWER_YES, "the right one");
	int again = connect_here();
	CHECK(request_link(again, 1, ME, 0, &said, NULL) == 0, "a repeated proof is answered");
	wait_and_close(again);
	again = connect_here();
	CHECK(request_link(again, 1, ME, 0, NULL, NULL) == ANSWER_BUSY, "a second link");
	wait_and_close(again);
	const uint64_t confirm = TCP_CONFIRM;
	send(fd, &confirm, sizeof confirm, 0);
	/* RDMA reads: an unknown key, two ranges that are not in the registered memory, and a valid read. */
	static char memory[64];
	struct gompi_region region;
	CHECK(tcp->register_memory(memory, sizeof memory, false, &region) == NET_SUCCESS, "memory");
	struct gompi_tcp_head h = {.kind = TCP_READ, .id = 1, .bytes = 8}, a;
	for (int i = 0; i < 4; i++) {
		h.key = region.key + (i == 0);
		h.offset = i == 1 ? 60 : i == 2 ? (uint64_t)-8 : 0;
		send(fd, &h, sizeof h, 0);
		read_all(fd, &a, sizeof a);
		CHECK(a.kind == (i < 3 ? TCP_DONE : TCP_DATA) && (i == 3 || a.key == NET_FAILED) && a.id == 1,
		      "read %d: answer %u, error %llu", i, a.kind, (unsigned long long)a.key);
	}
	char data[8];
	read_all(fd, data, 8);
	h = (struct gompi_tcp_head){.kind = TCP_WRITE, .length = 8, .id = 2, .key = region.key};
	send(fd, &h, sizeof h, 0);
	send(fd, "12345678", 8, 0);
	read_all(fd, &a, sizeof a);
	CHECK(a.kind == TCP_DONE && a.key == NET_FAILED && memory[0] == 0, "a write to what is only to be read");
	tcp->unregister_memory(region.key);
	for (int i = 0; i < 40; i++)
		wait_and_close(silent[i]);
	fd = offer_close(fd);
	crowd(fd);
	/* A message that is longer than a receive buffer: this side closes the link. */
	const uint32_t long_one[] = {TCP_FRAME, 65};
	send(fd, long_one, sizeof long_one, 0);
	wait_and_close(fd);
	CHECK(failed_count == 1, "%d peers are lost", failed_count);
	CHECK(gompi_tcp_counts.unauth_closed == 42, "%llu unauthenticated links closed",
	      (unsigned long long)gompi_tcp_counts.unauth_closed);
	tcp->close();
}

int main(void) {
	struct rlimit r;
	unit_node(1);
	getrlimit(RLIMIT_NOFILE, &r);
	r.rlim_cur = r.rlim_max;
	setrlimit(RLIMIT_NOFILE, &r);
	if (r.rlim_cur < 2 * PEERS + 100) {
		printf("left out: the limit of files is %llu\n", (unsigned long long)r.rlim_cur);
		return 77;
	}
	unauthenticated();
	failed_count = 0;
	memset(&gompi_tcp_counts, 0, sizeof gompi_tcp_counts);
	all_peers(1, 0);
	all_peers(3, 128);
	return unit_end();
}
