// Sends the queued items of peers through open links, and handles the data that arrives.
#define _GNU_SOURCE
#include "tcp/link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/wait.h"

enum {
	ITEMS_PER_SEND = 32,        // maximum items in one system call
	MAX_POLL_BYTES = 256 << 10, // maximum bytes read from a link before other links are served
};

static void complete(struct gompi_net_op *op, enum gompi_net_error error) {
	gompi_completion_add(&gompi_tcp_state.completions, (struct gompi_net_completion){.op = op, .error = error});
}

// --- Items

static struct gompi_tcp_item *free_items;

struct gompi_tcp_item *gompi_item_alloc(void) {
	struct gompi_tcp_item *i = free_items;
	if (i != NULL)
		free_items = i->next;
	else if ((i = malloc(sizeof *i)) == NULL)
		return NULL;
	memset(i, 0, sizeof *i);
	return i;
}

void gompi_item_free(struct gompi_tcp_item *i) {
	free(i->owned_copy);
	i->next = free_items;
	free_items = i;
}

// Returns true if an item is large data of a read or write. Other items may overtake it, because reads and writes have
// no guaranteed order.
static bool is_bulk(const struct gompi_tcp_item *i) {
	enum { BULK_THRESHOLD_BYTES = 16 << 10 };
	return (i->head.kind == TCP_WRITE || i->head.kind == TCP_DATA) && i->data.iov_len > BULK_THRESHOLD_BYTES;
}

void gompi_tcp_peer_enqueue(struct gompi_tcp_peer *p, struct gompi_tcp_item *i) {
	struct gompi_tcp_item *after = p->queue_last;
	if (!is_bulk(i)) {
		after = p->last_before_bulk;
		if (after == NULL && p->queue_first != NULL && p->queue_first->sent_bytes > 0)
			after = p->queue_first;
		p->last_before_bulk = i;
	}
	struct gompi_tcp_item **at = after == NULL ? &p->queue_first : &after->next;
	i->next = *at;
	*at = i;
	if (i->next == NULL)
		p->queue_last = i;
}

// Removes the first item from p's queue.
static void dequeue_item(struct gompi_tcp_peer *p) {
	struct gompi_tcp_item *i = p->queue_first;
	p->queue_first = i->next;
	if (p->queue_first == NULL)
		p->queue_last = NULL;
	if (p->last_before_bulk == i)
		p->last_before_bulk = NULL;
}

// --- Sending

// Stores the memory ranges of the unsent rest of an item in the array v. Returns the number of ranges.
static int item_to_iovec(const struct gompi_tcp_item *i, struct iovec *v) {
	int n = 0;
	size_t sent = i->sent_bytes;
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

// Counts `bytes` more bytes as sent, and completes the items that have been sent completely.
static void complete_sent(struct gompi_tcp_peer *p, size_t bytes) {
	while (p->queue_first != NULL) {
		struct gompi_tcp_item *i = p->queue_first;
		const size_t all = i->head_bytes + i->data.iov_len, left = all - i->sent_bytes;
		if (bytes < left) {
			i->sent_bytes += bytes;
			return;
		}
		bytes -= left;
		dequeue_item(p);
		if (i->op != NULL)
			complete(i->op, NET_SUCCESS);
		gompi_item_free(i);
	}
}

void gompi_link_send(struct gompi_tcp_link *l) {
	struct gompi_tcp_peer *p = l->peer;
	while (l->state == LINK_OPEN && p->queue_first != NULL) {
		struct iovec v[2 * ITEMS_PER_SEND];
		int n = 0;
		size_t bytes = 0;
		for (struct gompi_tcp_item *i = p->queue_first; i != NULL && n + 2 <= 2 * ITEMS_PER_SEND; i = i->next)
			n += item_to_iovec(i, v + n);
		for (int k = 0; k < n; k++)
			bytes += v[k].iov_len;
		struct msghdr m = {.msg_iov = v, .msg_iovlen = (size_t)n};
		ssize_t sent = sendmsg(l->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent < 0) {
			if (errno == EINTR)
				continue;
			if (errno != EAGAIN && errno != ENOBUFS && errno != ENOMEM) {
				gompi_tcp_state.on_broken(l, errno);
				return;
			}
			break;
		}
		complete_sent(p, (size_t)sent);
		if ((size_t)sent < bytes)
			break;
	}
	gompi_link_set_events(l, l->state == LINK_OPEN && p->queue_first != NULL);
}

bool gompi_link_send_control(struct gompi_tcp_link *l, enum gompi_tcp_kind kind) {
	struct gompi_tcp_item *i = gompi_item_alloc();
	if (i == NULL)
		return false;
	i->head.kind = kind;
	i->head_bytes = GOMPI_TCP_SHORT_HEAD_BYTES;
	gompi_tcp_peer_enqueue(l->peer, i);
	gompi_link_send(l);
	return true;
}

void gompi_links_drop_memory(const struct gompi_tcp_memory *m) {
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
		// reads it is in error. The peer receives zeros, or loses its link if memory for the zeros cannot be
		// allocated.
		bool ok = true;
		for (struct gompi_tcp_item *i = l->peer->queue_first; i != NULL; i = i->next)
			if (i->memory == m) {
				if (i->data.iov_len > sizeof zeros)
					ok = (i->owned_copy = calloc(1, i->data.iov_len)) != NULL && ok;
				i->data.iov_base = i->owned_copy != NULL ? i->owned_copy : zeros;
				i->memory = NULL;
			}
		if (!ok)
			gompi_tcp_state.on_broken(l, ENOMEM);
	}
}

void gompi_tcp_peer_fail(struct gompi_tcp_peer *p) {
	struct gompi_tcp_item *i;
	while ((i = p->queue_first) != NULL) {
		dequeue_item(p);
		if (i->op != NULL)
			complete(i->op, NET_PEER_FAILED);
		gompi_item_free(i);
	}
	struct gompi_net_op *op;
	while ((op = p->requests) != NULL) {
		p->requests = gompi_tcp_op(op)->next;
		complete(op, NET_PEER_FAILED);
	}
}

// --- Receiving

// Removes and returns the request with this id, or returns NULL.
static struct gompi_net_op *dequeue_request(struct gompi_tcp_peer *p, uint64_t id) {
	struct gompi_net_op **at = &p->requests, *op;
	while (*at != NULL && gompi_tcp_op(*at)->id != id)
		at = &gompi_tcp_op(*at)->next;
	if ((op = *at) != NULL)
		*at = gompi_tcp_op(op)->next;
	return op;
}

// Returns the address of `bytes` bytes at the key and offset in a head, or NULL if they are not registered for this
// access. Stores their registration in *memory.
static char *resolve_memory(const struct gompi_tcp_head *h, uint64_t bytes, bool is_write,
			    struct gompi_tcp_memory **memory) {
	struct gompi_tcp_memory *m = (struct gompi_tcp_memory *)gompi_key_find(&gompi_tcp_state.memory, h->key);
	if (m == NULL || (is_write && !m->is_writable) || h->offset > m->bytes || bytes > m->bytes - h->offset)
		return NULL;
	*memory = m;
	return m->at + h->offset;
}

// Replies to a read or write. The argument `data` may be empty. Returns false if out of memory.
static bool reply_to_request(struct gompi_tcp_link *l, uint64_t id, enum gompi_net_error error, struct iovec data,
			     const struct gompi_tcp_memory *m) {
	struct gompi_tcp_item *i = gompi_item_alloc();
	if (i == NULL)
		return false;
	i->head.kind = data.iov_len > 0 ? TCP_DATA : TCP_DONE;
	i->head.length = (uint32_t)data.iov_len;
	i->head.id = id;
	i->head.key = (uint64_t)error;
	i->head_bytes = sizeof i->head;
	i->data = data;
	i->memory = m;
	gompi_tcp_peer_enqueue(l->peer, i);
	gompi_link_send(l);
	return true;
}

// Chooses the destination of the data that follows a head, when the head has arrived. Returns false if the link must be
// closed. Sets *wait if the data needs a receive buffer and none is posted.
static bool begin_body(struct gompi_tcp_link *l, bool *wait) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	const struct gompi_tcp_head *h = &l->in.head;
	struct gompi_tcp_memory *m = NULL;
	l->sink = NULL;
	l->body_left_bytes = h->length;
	switch (h->kind) {
	case TCP_FRAME: {
		struct gompi_net_op *op = t->posted;
		if (op == NULL)
			return *wait = true;
		if (h->length > gompi_tcp_op(op)->bytes)
			return false;
		t->posted = gompi_tcp_op(op)->next;
		l->op = op;
		l->sink = gompi_tcp_op(op)->at;
		return true;
	}
	case TCP_WRITE:
		l->sink = resolve_memory(h, h->length, true, &m);
		l->memory = m;
		return true;
	case TCP_DATA:
		l->op = dequeue_request(l->peer, h->id);
		if (l->op == NULL || gompi_tcp_op(l->op)->at == NULL || gompi_tcp_op(l->op)->bytes != h->length)
			return false;
		l->sink = gompi_tcp_op(l->op)->at;
		return true;
	default:
		return h->length == 0;
	}
}

// Handles a head after all its data has arrived. Returns false if the link must be closed, or is closed already.
static bool end_body(struct gompi_tcp_link *l) {
	const struct gompi_tcp_head h = l->in.head;
	struct gompi_tcp_memory *m;
	struct gompi_net_op *op;
	char *at;
	l->in_body = false;
	l->head_have_bytes = 0;
	switch (h.kind) {
	case TCP_FRAME:
		gompi_completion_add(
			&gompi_tcp_state.completions,
			(struct gompi_net_completion){.op = l->op, .bytes = h.length, .peer = l->peer->rank});
		l->op = NULL;
		return true;
	case TCP_WRITE:
		m = (struct gompi_tcp_memory *)l->memory;
		l->memory = NULL;
		return reply_to_request(l, h.id, m != NULL ? NET_SUCCESS : NET_FAILED, (struct iovec){0}, NULL) &&
		       l->fd >= 0;
	case TCP_READ:
		at = resolve_memory(&h, h.bytes, false, &m);
		if (at == NULL || h.bytes == 0 || h.bytes > UINT32_MAX)
			return reply_to_request(l, h.id, at != NULL && h.bytes == 0 ? NET_SUCCESS : NET_FAILED,
						(struct iovec){0}, NULL) &&
			       l->fd >= 0;
		return reply_to_request(l, h.id, NET_SUCCESS, (struct iovec){at, h.bytes}, m) && l->fd >= 0;
	case TCP_DATA:
	case TCP_DONE:
		op = h.kind == TCP_DATA ? l->op : dequeue_request(l->peer, h.id);
		l->op = NULL;
		if (op == NULL)
			return false;
		if (h.kind == TCP_DONE && gompi_tcp_op(op)->at != NULL && gompi_tcp_op(op)->bytes > 0 &&
		    h.key == NET_SUCCESS) {
			l->op = op; // the reply lacks the data of the read: close the link and fail the request
			return false;
		}
		complete(op, h.kind == TCP_DONE && h.key != NET_SUCCESS ? NET_FAILED : NET_SUCCESS);
		return true;
	case TCP_CONFIRM:
		if (l->state != LINK_ACCEPTED)
			return false;
		l->state = LINK_OPEN;
		l->peer->was_connected = true;
		gompi_link_send(l);
		return l->fd >= 0;
	case TCP_CLOSE_OFFER:
	case TCP_CLOSE_REJECT:
	case TCP_CLOSE_ACCEPT:
		gompi_tcp_state.on_close(l, h.kind);
		return l->fd >= 0;
	default:
		return false;
	}
}

// Handles n received bytes, and returns the number of bytes handled. This number is less than n if no receive buffer is
// posted for the remaining bytes. It is also less than n after an error, which sets *ok to false.
static size_t parse(struct gompi_tcp_link *l, const char *bytes, size_t n, bool *ok) {
	size_t at = 0;
	for (;;) {
		if (!l->in_body) {
			size_t need = l->head_have_bytes < GOMPI_TCP_SHORT_HEAD_BYTES
					      ? GOMPI_TCP_SHORT_HEAD_BYTES
					      : gompi_tcp_head_bytes(l->in.head.kind);
			if (l->head_have_bytes < need) {
				size_t chunk = need - l->head_have_bytes < n - at ? need - l->head_have_bytes : n - at;
				memcpy(l->in.bytes + l->head_have_bytes, bytes + at, chunk);
				l->head_have_bytes += chunk;
				at += chunk;
				if (l->head_have_bytes < need)
					return at;
				// the kind is known now, and a head of this kind may be longer than the short head
				continue;
			}
			bool wait = false;
			if (!begin_body(l, &wait)) {
				*ok = false;
				return at;
			}
			if (wait)
				return at;
			l->in_body = true;
		}
		size_t chunk = l->body_left_bytes < n - at ? l->body_left_bytes : n - at;
		if (l->sink != NULL) {
			memcpy(l->sink, bytes + at, chunk);
			l->sink += chunk;
		}
		l->body_left_bytes -= chunk;
		at += chunk;
		if (l->body_left_bytes > 0)
			return at;
		if (!end_body(l)) {
			*ok = false;
			return at;
		}
	}
}

// Copies to l->stash the bytes that have no receive buffer yet, and marks the link as stalled. Returns false if out of
// memory.
static bool stall_link(struct gompi_tcp_link *l, const char *bytes, size_t n) {
	if (!l->is_stalled) {
		l->is_stalled = true;
		l->next_stalled = gompi_tcp_state.stalled;
		gompi_tcp_state.stalled = l;
		gompi_link_set_events(l, l->epoll_events & EPOLLOUT);
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

// Returns true if the link waits for a receive buffer: it has the head of a TCP_FRAME, and has not begun to receive the
// data.
static bool needs_buffer(const struct gompi_tcp_link *l) {
	return !l->in_body && l->head_have_bytes == GOMPI_TCP_SHORT_HEAD_BYTES && l->in.head.kind == TCP_FRAME;
}

static bool consume_bytes(struct gompi_tcp_link *l, const char *bytes, size_t n) {
	bool ok = true;
	size_t used = parse(l, bytes, n, &ok);
	if (ok && needs_buffer(l))
		ok = stall_link(l, bytes + used, n - used);
	if (!ok && l->fd >= 0)
		gompi_tcp_state.on_broken(l, EPROTO);
	return ok && l->fd >= 0;
}

bool gompi_links_resume(void) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	bool worked = false;
	while (t->stalled != NULL && t->posted != NULL) {
		struct gompi_tcp_link *l = t->stalled;
		char *stash = l->stash;
		t->stalled = l->next_stalled;
		l->is_stalled = false;
		l->stash = NULL;
		worked = true;
		if (consume_bytes(l, stash == NULL ? "" : stash, stash == NULL ? 0 : l->stash_bytes) && !l->is_stalled)
			gompi_link_set_events(l, l->epoll_events & EPOLLOUT);
		free(stash);
	}
	return worked;
}

bool gompi_link_receive(struct gompi_tcp_link *l) {
	static char scratch[GOMPI_SCRATCH_BYTES], discard_buffer[GOMPI_SCRATCH_BYTES];
	size_t total_bytes = 0;
	while (total_bytes < MAX_POLL_BYTES && !l->is_stalled) {
		struct iovec v[2];
		int n = 0;
		size_t direct = 0;
		if (l->in_body && l->body_left_bytes > 0) {
			direct = l->sink != NULL || l->body_left_bytes < sizeof discard_buffer ? l->body_left_bytes
											       : sizeof discard_buffer;
			v[n++] = (struct iovec){l->sink != NULL ? l->sink : discard_buffer, direct};
		}
		const bool reads_ahead = direct == l->body_left_bytes || !l->in_body;
		if (reads_ahead)
			v[n++] = (struct iovec){scratch, sizeof scratch};
		struct msghdr m = {.msg_iov = v, .msg_iovlen = (size_t)n};
		ssize_t received = recvmsg(l->fd, &m, MSG_DONTWAIT);
		if (received < 0) {
			if (errno == EINTR)
				continue;
			if (errno == EAGAIN)
				break;
			gompi_tcp_state.on_broken(l, errno);
			return true;
		}
		if (received == 0) {
			gompi_tcp_state.on_broken(l, 0);
			return true;
		}
		total_bytes += (size_t)received;
		const size_t direct_received = (size_t)received < direct ? (size_t)received : direct;
		if (l->sink != NULL)
			l->sink += direct_received;
		l->body_left_bytes -= direct_received;
		if (direct > 0 && l->body_left_bytes == 0 && !end_body(l)) {
			if (l->fd >= 0)
				gompi_tcp_state.on_broken(l, EPROTO);
			return true;
		}
		if ((size_t)received > direct_received &&
		    !consume_bytes(l, scratch, (size_t)received - direct_received))
			return true;
		if ((size_t)received < direct + (reads_ahead ? sizeof scratch : 0))
			break; // the socket is empty
	}
	if (total_bytes > 0)
		l->last_used_ns = gompi_now_ns();
	return total_bytes > 0;
}
