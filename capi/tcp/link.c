// Data through open links: sends queued items in order, and delivers what arrives.
#define _GNU_SOURCE
#include "tcp/link.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/wait.h"

enum {
	PIECES = 32,           // items in one system call
	LOOK_MOST = 256 << 10, // bytes read from a link before other links are served
};

// --- Items

static struct gompi_tcp_item *items_free;

struct gompi_tcp_item *gompi_item_get(void) {
	struct gompi_tcp_item *i = items_free;
	if (i != NULL)
		items_free = i->next;
	else if ((i = malloc(sizeof *i)) == NULL)
		return NULL;
	memset(i, 0, sizeof *i);
	return i;
}

void gompi_item_put(struct gompi_tcp_item *i) {
	free(i->copy);
	i->next = items_free;
	items_free = i;
}

// Returns true if an item is large data of a read or write. Other items may overtake it, since their order is not
// guaranteed.
static bool is_bulk(const struct gompi_tcp_item *i) {
	enum { LITTLE = 16 << 10 };
	return (i->head.kind == TCP_WRITE || i->head.kind == TCP_DATA) && i->data.iov_len > LITTLE;
}

void gompi_peer_append(struct gompi_tcp_peer *p, struct gompi_tcp_item *i) {
	struct gompi_tcp_item *after = p->last;
	if (!is_bulk(i)) {
		after = p->ahead;
		if (after == NULL && p->first != NULL && p->first->sent > 0)
			after = p->first;
		p->ahead = i;
	}
	struct gompi_tcp_item **at = after == NULL ? &p->first : &after->next;
	i->next = *at;
	*at = i;
	if (i->next == NULL)
		p->last = i;
}

// Removes the first item.
static void drop_first(struct gompi_tcp_peer *p) {
	struct gompi_tcp_item *i = p->first;
	p->first = i->next;
	if (p->first == NULL)
		p->last = NULL;
	if (p->ahead == i)
		p->ahead = NULL;
}

// --- Sending

// Writes the unsent rest of an item to v, and returns the number of entries.
static int item_pieces(const struct gompi_tcp_item *i, struct iovec *v) {
	int n = 0;
	size_t sent = i->sent;
	if (sent < i->head_bytes) {
		v[n++] = (struct iovec){(char *)&i->head + sent, i->head_bytes - sent};
		sent = 0;
	} else {
		sent -= i->head_bytes;
	}
	if (i->data.iov_len > sent)
		v[n++] = (struct iovec){(char *)i->data.iov_base + sent, i->data.iov_len - sent};
	return n;
}

// Accounts for sent bytes, and completes the items that are sent completely.
static void count_sent(struct gompi_tcp_peer *p, size_t bytes) {
	while (p->first != NULL) {
		struct gompi_tcp_item *i = p->first;
		const size_t all = i->head_bytes + i->data.iov_len, left = all - i->sent;
		if (bytes < left) {
			i->sent += bytes;
			return;
		}
		bytes -= left;
		drop_first(p);
		if (i->context != NULL)
			gompi_complete(i->context, i->data.iov_len, 0);
		gompi_item_put(i);
	}
}

void gompi_link_send(struct gompi_tcp_link *l) {
	struct gompi_tcp_peer *p = l->peer;
	while (l->state == LINK_OPEN && p->first != NULL) {
		struct iovec v[2 * PIECES];
		int n = 0;
		size_t bytes = 0;
		for (struct gompi_tcp_item *i = p->first; i != NULL && n + 2 <= 2 * PIECES; i = i->next)
			n += item_pieces(i, v + n);
		for (int k = 0; k < n; k++)
			bytes += v[k].iov_len;
		struct msghdr m = {.msg_iov = v, .msg_iovlen = (size_t)n};
		ssize_t sent = sendmsg(l->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent < 0) {
			if (errno == EINTR)
				continue;
			if (errno != EAGAIN && errno != ENOBUFS && errno != ENOMEM) {
				gompi_tcp_state.broken(l, errno);
				return;
			}
			break;
		}
		count_sent(p, (size_t)sent);
		if ((size_t)sent < bytes)
			break;
	}
	gompi_link_watch(l, l->state == LINK_OPEN && p->first != NULL);
}

bool gompi_link_tell(struct gompi_tcp_link *l, enum gompi_tcp_kind kind) {
	struct gompi_tcp_item *i = gompi_item_get();
	if (i == NULL)
		return false;
	i->head.kind = kind;
	i->head_bytes = GOMPI_TCP_SHORT;
	gompi_peer_append(l->peer, i);
	gompi_link_send(l);
	return true;
}

void gompi_links_forget(const struct gompi_tcp_memory *m) {
	static char zeros[64 << 10];
	for (struct gompi_tcp_link *l = gompi_tcp_state.links, *next; l != NULL; l = next) {
		next = l->next;
		if (l->memory == m) {
			l->sink = NULL;
			l->memory = NULL;
		}
		if (l->peer == NULL || l->peer->link != l)
			continue;
		// The members of the window have synchronized before the memory is deregistered, so a peer that still
		// reads it is in error. It receives zeros, or loses its link if there is no memory for them.
		bool fine = true;
		for (struct gompi_tcp_item *i = l->peer->first; i != NULL; i = i->next)
			if (i->memory == m) {
				if (i->data.iov_len > sizeof zeros)
					fine = (i->copy = calloc(1, i->data.iov_len)) != NULL && fine;
				i->data.iov_base = i->copy != NULL ? i->copy : zeros;
				i->memory = NULL;
			}
		if (!fine)
			gompi_tcp_state.broken(l, ENOMEM);
	}
}

void gompi_peer_fail(struct gompi_tcp_peer *p, int error) {
	struct gompi_tcp_item *i;
	while ((i = p->first) != NULL) {
		drop_first(p);
		if (i->context != NULL)
			gompi_complete(i->context, 0, error);
		gompi_item_put(i);
	}
	struct gompi_tcp_request *r;
	while ((r = p->requests) != NULL) {
		p->requests = r->next;
		gompi_complete(r->context, 0, error);
		free(r);
	}
}

// --- Receiving

static struct gompi_tcp_request *answered_request(struct gompi_tcp_peer *p, uint64_t id) {
	for (struct gompi_tcp_request **at = &p->requests; *at != NULL; at = &(*at)->next)
		if ((*at)->id == id) {
			struct gompi_tcp_request *r = *at;
			*at = r->next;
			return r;
		}
	return NULL;
}

// Returns the address of the registered bytes that a head names, or NULL if they are not registered for this access.
static char *named_memory(const struct gompi_tcp_head *h, uint64_t bytes, uint64_t access,
			  struct gompi_tcp_memory **memory) {
	struct gompi_tcp_memory *m = gompi_tcp_memory_of(h->key);
	if (m == NULL || (m->access & access) == 0 || h->offset > m->bytes || bytes > m->bytes - h->offset)
		return NULL;
	*memory = m;
	return m->at + h->offset;
}

// Answers a read or write; data may be empty. Returns false if out of memory.
static bool answer(struct gompi_tcp_link *l, uint64_t id, int error, struct iovec data,
		   const struct gompi_tcp_memory *m) {
	struct gompi_tcp_item *i = gompi_item_get();
	if (i == NULL)
		return false;
	i->head.kind = data.iov_len > 0 ? TCP_DATA : TCP_DONE;
	i->head.length = (uint32_t)data.iov_len;
	i->head.id = id;
	i->head.key = (uint64_t)error;
	i->head_bytes = sizeof i->head;
	i->data = data;
	i->memory = m;
	gompi_peer_append(l->peer, i);
	gompi_link_send(l);
	return true;
}

// Chooses the destination of the data after a head has arrived. Returns false if the link must be closed. Sets *wait if
// there is no receive buffer.
static bool begin_body(struct gompi_tcp_link *l, bool *wait) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	const struct gompi_tcp_head *h = &l->in.head;
	struct gompi_tcp_memory *m = NULL;
	l->sink = NULL;
	l->left = h->length;
	switch (h->kind) {
	case TCP_FRAME: {
		struct gompi_tcp_place *place = t->places;
		if (place == NULL)
			return *wait = true;
		if (h->length > place->bytes)
			return false;
		t->places = place->next;
		l->place = place;
		l->sink = place->at;
		return true;
	}
	case TCP_WRITE:
		l->sink = named_memory(h, h->length, FI_REMOTE_WRITE, &m);
		l->memory = m;
		return true;
	case TCP_DATA:
		l->answered = answered_request(l->peer, h->id);
		if (l->answered == NULL || l->answered->to == NULL || l->answered->bytes != h->length)
			return false;
		l->sink = l->answered->to;
		return true;
	default:
		return h->length == 0;
	}
}

// Handles the end of a head's data. Returns false if the link must be closed, or is closed already.
static bool end_body(struct gompi_tcp_link *l) {
	const struct gompi_tcp_head h = l->in.head;
	struct gompi_tcp_memory *m;
	struct gompi_tcp_request *r;
	char *at;
	l->in_body = false;
	l->have = 0;
	switch (h.kind) {
	case TCP_FRAME:
		gompi_complete(l->place->context, h.length, 0);
		l->place->next = gompi_tcp_state.places_free;
		gompi_tcp_state.places_free = l->place;
		l->place = NULL;
		return true;
	case TCP_WRITE:
		m = (struct gompi_tcp_memory *)l->memory;
		l->memory = NULL;
		return answer(l, h.id, m != NULL ? 0 : FI_EACCES, (struct iovec){0}, NULL) && l->fd >= 0;
	case TCP_READ:
		at = named_memory(&h, h.bytes, FI_REMOTE_READ, &m);
		if (at == NULL || h.bytes == 0 || h.bytes > UINT32_MAX)
			return answer(l, h.id,
				      at == NULL     ? FI_EACCES
				      : h.bytes == 0 ? 0
						     : FI_EMSGSIZE,
				      (struct iovec){0}, NULL) &&
			       l->fd >= 0;
		return answer(l, h.id, 0, (struct iovec){at, h.bytes}, m) && l->fd >= 0;
	case TCP_DATA:
	case TCP_DONE:
		r = h.kind == TCP_DATA ? l->answered : answered_request(l->peer, h.id);
		l->answered = NULL;
		if (r == NULL)
			return false;
		if (h.kind == TCP_DONE && r->to != NULL && r->bytes > 0 && (int)h.key == 0) {
			l->answered = r; // a read without its data: the request fails with the link
			return false;
		}
		gompi_complete(r->context, r->bytes, h.kind == TCP_DONE ? (int)h.key : 0);
		free(r);
		return true;
	case TCP_CONFIRM:
		if (l->state != LINK_TAKEN)
			return false;
		l->state = LINK_OPEN;
		l->peer->has_been = true;
		gompi_link_send(l);
		return l->fd >= 0;
	case TCP_BYE:
	case TCP_STAY:
	case TCP_GO:
		gompi_tcp_state.bye(l, h.kind);
		return l->fd >= 0;
	default:
		return false;
	}
}

// Handles received bytes. Returns the number of bytes used. That is less than n if there is no receive buffer for the
// rest, or after an error (*fine is false then).
static size_t parse(struct gompi_tcp_link *l, const char *bytes, size_t n, bool *fine) {
	size_t at = 0;
	for (;;) {
		if (!l->in_body) {
			size_t need =
				l->have < GOMPI_TCP_SHORT ? GOMPI_TCP_SHORT : gompi_tcp_head_bytes(l->in.head.kind);
			if (l->have < need) {
				size_t some = need - l->have < n - at ? need - l->have : n - at;
				memcpy(l->in.bytes + l->have, bytes + at, some);
				l->have += some;
				at += some;
				if (l->have < need)
					return at;
				continue; // a longer head may be needed
			}
			bool wait = false;
			if (!begin_body(l, &wait)) {
				*fine = false;
				return at;
			}
			if (wait)
				return at;
			l->in_body = true;
		}
		size_t some = l->left < n - at ? l->left : n - at;
		if (l->sink != NULL) {
			memcpy(l->sink, bytes + at, some);
			l->sink += some;
		}
		l->left -= some;
		at += some;
		if (l->left > 0)
			return at;
		if (!end_body(l)) {
			*fine = false;
			return at;
		}
	}
}

// Stores bytes that wait for a receive buffer, and marks the link as stalled. Returns false if out of memory.
static bool keep(struct gompi_tcp_link *l, const char *bytes, size_t n) {
	if (!l->stalled) {
		l->stalled = true;
		l->next_stalled = gompi_tcp_state.stalled;
		gompi_tcp_state.stalled = l;
		gompi_link_watch(l, l->watched & EPOLLOUT);
	}
	if (n == 0)
		return true;
	l->stash = malloc(n);
	if (l->stash == NULL)
		return false;
	memcpy(l->stash, bytes, n);
	l->stash_bytes = n;
	return true;
}

// Returns true if the link waits for a receive buffer: the head of a message is complete.
static bool waits_for_place(const struct gompi_tcp_link *l) {
	return !l->in_body && l->have == GOMPI_TCP_SHORT && l->in.head.kind == TCP_FRAME;
}

static bool take_bytes(struct gompi_tcp_link *l, const char *bytes, size_t n) {
	bool fine = true;
	size_t taken = parse(l, bytes, n, &fine);
	if (fine && waits_for_place(l))
		fine = keep(l, bytes + taken, n - taken);
	if (!fine && l->fd >= 0)
		gompi_tcp_state.broken(l, EPROTO);
	return fine && l->fd >= 0;
}

bool gompi_links_unstall(void) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	bool worked = false;
	while (t->stalled != NULL && t->places != NULL) {
		struct gompi_tcp_link *l = t->stalled;
		char *stash = l->stash;
		t->stalled = l->next_stalled;
		l->stalled = false;
		l->stash = NULL;
		worked = true;
		if (take_bytes(l, stash == NULL ? "" : stash, stash == NULL ? 0 : l->stash_bytes) && !l->stalled)
			gompi_link_watch(l, l->watched & EPOLLOUT);
		free(stash);
	}
	return worked;
}

bool gompi_link_receive(struct gompi_tcp_link *l) {
	static char scratch[GOMPI_SCRATCH], nobodys[GOMPI_SCRATCH];
	size_t all = 0;
	while (all < LOOK_MOST && !l->stalled) {
		struct iovec v[2];
		int n = 0;
		size_t direct = 0;
		if (l->in_body && l->left > 0) {
			direct = l->sink != NULL || l->left < sizeof nobodys ? l->left : sizeof nobodys;
			v[n++] = (struct iovec){l->sink != NULL ? l->sink : nobodys, direct};
		}
		const bool more = direct == l->left || !l->in_body;
		if (more)
			v[n++] = (struct iovec){scratch, sizeof scratch};
		struct msghdr m = {.msg_iov = v, .msg_iovlen = (size_t)n};
		ssize_t got = recvmsg(l->fd, &m, MSG_DONTWAIT);
		if (got < 0) {
			if (errno == EINTR)
				continue;
			if (errno == EAGAIN)
				break;
			gompi_tcp_state.broken(l, errno);
			return true;
		}
		if (got == 0) {
			gompi_tcp_state.broken(l, 0);
			return true;
		}
		all += (size_t)got;
		const size_t there = (size_t)got < direct ? (size_t)got : direct;
		if (l->sink != NULL)
			l->sink += there;
		l->left -= there;
		if (direct > 0 && l->left == 0 && !end_body(l)) {
			if (l->fd >= 0)
				gompi_tcp_state.broken(l, EPROTO);
			return true;
		}
		if ((size_t)got > there && !take_bytes(l, scratch, (size_t)got - there))
			return true;
		if ((size_t)got < direct + (more ? sizeof scratch : 0))
			break; // the socket is empty
	}
	if (all > 0)
		l->used = gompi_now_ns();
	return all > 0;
}
