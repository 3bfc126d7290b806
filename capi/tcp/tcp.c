// The functions of struct gompi_net_ops, and polling of the links.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/alloc_or_abort.h"
#include "base/wait.h"
#include "tcp/link.h"

enum {
	INJECT_BYTES = 4096, // maximum bytes of an injected message, which is sent at once or copied
	MAX_BYTES = 1 << 30, // maximum bytes of a message, a read or a write
	MAX_EVENTS = 32,     // maximum epoll events that are read at once
	HOT_POLLS = 8,       // every HOT_POLLS-th poll serves all links; all other polls serve only the hot link
};

// --- Polling

static void link_ready(struct gompi_tcp_link *l, uint32_t events) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	if (l->fd < 0)
		return; // closed by an earlier event
	if (l->state != LINK_ACCEPTED && l->state != LINK_OPEN && l->state != LINK_CLOSING) {
		gompi_link_handshake(l, (events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0);
		return;
	}
	if ((events & EPOLLOUT) != 0)
		gompi_link_send(l);
	if (l->fd >= 0 && (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0 && gompi_link_receive(l) && l->fd >= 0)
		t->hot_link = l;
}

static void poll_all_links(void) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	struct epoll_event e[MAX_EVENTS];
	int n = epoll_wait(t->epoll, e, MAX_EVENTS, 0);
	for (int i = 0; i < n; i++) {
		if (e[i].data.ptr == NULL) {
			for (int k = 0; k < t->listener_count; k++)
				gompi_listener_accept(t->listeners[k]);
		} else if (e[i].data.ptr == &t->timer) {
			gompi_timers_run(gompi_now_ns());
		} else {
			link_ready(e[i].data.ptr, e[i].events);
		}
	}
}

static void poll_links(void) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	static unsigned polls;
	gompi_links_free();
	if (t->stalled != NULL)
		gompi_links_resume();
	// Poll the link that had data last (the hot link) first: the next message of a series usually arrives on the
	// same link.
	struct gompi_tcp_link *hot = t->hot_link;
	if (hot != NULL && ++polls % HOT_POLLS != 0 && (hot->is_stalled || gompi_link_receive(hot)))
		return;
	if (hot == NULL || polls % HOT_POLLS == 0)
		poll_all_links();
}

static int tcp_poll(struct gompi_net_completion *completions, int capacity) {
	struct gompi_completion_queue *q = &gompi_tcp_state.completions;
	if (q->count == 0)
		poll_links();
	return gompi_completions_take(q, completions, capacity);
}

static bool tcp_arm(void) {
	const struct gompi_tcp_state *t = &gompi_tcp_state;
	return t->completions.count == 0 && (t->stalled == NULL || t->posted == NULL);
}

// --- Sending

// Queues a message, of which the first `sent` bytes have been sent. Returns false if out of memory.
static bool enqueue_message(struct gompi_tcp_peer *p, char *at, size_t bytes, size_t sent, struct gompi_net_op *op) {
	// If a part of the message has been sent, the rest must be queued even if memory is low.
	struct gompi_tcp_item *i = gompi_item_alloc();
	if (i == NULL && sent == 0)
		return false;
	if (i == NULL)
		i = gompi_alloc_or_abort(sizeof *i);
	*i = (struct gompi_tcp_item){.head.kind = TCP_FRAME, .data = {at, bytes}, .sent_bytes = sent, .op = op};
	if (op == NULL) { // the caller of `inject` may reuse the memory
		i->owned_copy = gompi_alloc_or_abort(bytes);
		memcpy(i->owned_copy, at, bytes);
		i->data.iov_base = i->owned_copy;
	}
	gompi_tcp_peer_enqueue(p, i);
	if (p->link == NULL)
		gompi_tcp_peer_want_link(p);
	else
		gompi_link_set_events(p->link, p->link->state == LINK_OPEN);
	return true;
}

static enum gompi_net_error send_message(int peer, char *at, size_t bytes, struct gompi_net_op *op) {
	struct gompi_tcp_peer *p = gompi_tcp_peer(peer);
	if (p == NULL)
		return NET_NO_MEM;
	if (p->has_failed)
		return NET_PEER_FAILED;
	const struct gompi_tcp_head head = {.kind = TCP_FRAME, .length = (uint32_t)bytes};
	size_t sent = 0;
	struct gompi_tcp_link *l = p->link;
	at -= GOMPI_TCP_SHORT_HEAD_BYTES;
	bytes += GOMPI_TCP_SHORT_HEAD_BYTES;
	memcpy(at, &head, GOMPI_TCP_SHORT_HEAD_BYTES);
	if (l != NULL && l->state == LINK_OPEN && p->queue_first == NULL) {
		ssize_t n = send(l->fd, at, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n == (ssize_t)bytes) {
			if (op != NULL)
				gompi_completion_add(&gompi_tcp_state.completions,
						     (struct gompi_net_completion){.op = op});
			return NET_SUCCESS;
		}
		if (n < 0 && errno != EAGAIN && errno != EINTR && errno != ENOBUFS && errno != ENOMEM) {
			gompi_link_broken(l, errno);
			return NET_PEER_FAILED;
		}
		sent = n > 0 ? (size_t)n : 0;
	}
	return enqueue_message(p, at, bytes, sent, op) ? NET_SUCCESS : NET_AGAIN;
}

static enum gompi_net_error tcp_send(int peer, char *at, size_t bytes, struct gompi_net_local *local,
				     struct gompi_net_op *op) {
	if (!gompi_completion_reserve(&gompi_tcp_state.completions))
		return NET_AGAIN;
	const enum gompi_net_error error = send_message(peer, at, bytes, op);
	if (error != NET_SUCCESS)
		gompi_completion_unreserve(&gompi_tcp_state.completions);
	return error;
}

static enum gompi_net_error tcp_inject(int peer, char *at, size_t bytes) { return send_message(peer, at, bytes, NULL); }

static enum gompi_net_error tcp_post_receive(char *at, size_t bytes, struct gompi_net_local *local,
					     struct gompi_net_op *op) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	if (!gompi_completion_reserve(&gompi_tcp_state.completions))
		return NET_NO_MEM;
	// Last in, first out, because the buffer that was used last is in the caches.
	*gompi_tcp_op(op) = (struct gompi_tcp_op){.next = t->posted, .at = at, .bytes = bytes};
	t->posted = op;
	return NET_SUCCESS;
}

static enum gompi_net_error start_request(int peer, enum gompi_tcp_kind kind, char *at, uint64_t bytes, uint64_t key,
					  uint64_t offset, struct gompi_net_op *op) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	struct gompi_tcp_peer *p = gompi_tcp_peer(peer);
	struct gompi_tcp_item *i = gompi_item_alloc();
	if (p == NULL || i == NULL || p->has_failed || !gompi_completion_reserve(&t->completions)) {
		if (i != NULL)
			gompi_item_free(i);
		return p != NULL && p->has_failed ? NET_PEER_FAILED : NET_NO_MEM;
	}
	*gompi_tcp_op(op) = (struct gompi_tcp_op){
		.next = p->requests, .id = ++t->last_request_id, .at = kind == TCP_READ ? at : NULL, .bytes = bytes};
	p->requests = op;
	i->head = (struct gompi_tcp_head){.kind = kind,
					  .length = kind == TCP_WRITE ? (uint32_t)bytes : 0,
					  .id = t->last_request_id,
					  .key = key,
					  .offset = offset,
					  .bytes = bytes};
	i->head_bytes = sizeof i->head;
	if (kind == TCP_WRITE)
		i->data = (struct iovec){at, bytes};
	gompi_tcp_peer_enqueue(p, i);
	if (p->link == NULL)
		gompi_tcp_peer_want_link(p);
	else
		gompi_link_send(p->link);
	return NET_SUCCESS;
}

static enum gompi_net_error tcp_write(int peer, char *from, uint64_t bytes, struct gompi_net_local *local, uint64_t key,
				      uint64_t address, struct gompi_net_op *op) {
	return start_request(peer, TCP_WRITE, from, bytes, key, address, op);
}

static enum gompi_net_error tcp_read(int peer, char *to, uint64_t bytes, struct gompi_net_local *local, uint64_t key,
				     uint64_t address, struct gompi_net_op *op) {
	return start_request(peer, TCP_READ, to, bytes, key, address, op);
}

// --- Memory

static enum gompi_net_error tcp_register(char *at, uint64_t bytes, bool writable, struct gompi_region *region) {
	struct gompi_key_table *table = &gompi_tcp_state.memory;
	struct gompi_tcp_memory *m = malloc(sizeof *m);
	if (m == NULL)
		return NET_NO_MEM;
	const uint64_t key = gompi_random_key(sizeof key);
	if (key == 0 || gompi_key_find(table, key) != NULL) {
		free(m);
		return NET_FAILED;
	}
	*m = (struct gompi_tcp_memory){.entry.key = key, .at = at, .bytes = bytes, .is_writable = writable};
	gompi_key_add(table, &m->entry);
	*region = (struct gompi_region){.key = key};
	return NET_SUCCESS;
}

static void tcp_unregister(uint64_t key) {
	struct gompi_tcp_memory *m = (struct gompi_tcp_memory *)gompi_key_remove(&gompi_tcp_state.memory, key);
	if (m == NULL)
		return;
	gompi_links_drop_memory(m);
	free(m);
}

// --- Opening and closing

static enum gompi_net_choice tcp_choose(const char *wanted, struct gompi_provider *chosen,
					char error_detail[GOMPI_NET_ERROR_BYTES]) {
	*chosen = (struct gompi_provider){.name = "tcp", .version = GOMPI_TCP_VERSION};
	return NET_CHOSEN;
}

static int tcp_list(const struct gompi_provider *chosen, bool wanted, struct gompi_candidate *list, int capacity) {
	const bool is_chosen = chosen != NULL && strcmp(chosen->name, "tcp") == 0;
	list[0] = (struct gompi_candidate){.provider = {.name = "tcp", .version = GOMPI_TCP_VERSION},
					   .is_chosen = is_chosen,
					   .explanation =
						   !is_chosen ? "suitable; select it with GOMPIRMA_PROVIDER"
						   : wanted   ? "gompirma's own provider, selected by GOMPIRMA_PROVIDER"
							      : "gompirma's own provider; libfabric has no provider "
								"for a faster network of this node"};
	return 1;
}

static bool tcp_open(const struct gompi_provider *provider, struct gompi_net_endpoint *e,
		     char error_detail[GOMPI_NET_ERROR_BYTES]) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	if (provider->version != GOMPI_TCP_VERSION) {
		snprintf(error_detail, GOMPI_NET_ERROR_BYTES,
			 "rank 0 uses version %u of gompirma's TCP protocol, this process version %u: install the same "
			 "gompirma on all nodes",
			 provider->version, GOMPI_TCP_VERSION);
		return false;
	}
	if (!gompi_host_local_addresses(&t->local_host, NULL, error_detail, GOMPI_NET_ERROR_BYTES))
		return false;
	error_detail[0] = 0;
	t->on_broken = gompi_link_broken;
	t->on_close = gompi_link_on_close;
	t->epoll = epoll_create1(EPOLL_CLOEXEC);
	t->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = &t->timer};
	int error =
		t->epoll < 0 || t->timer < 0 || epoll_ctl(t->epoll, EPOLL_CTL_ADD, t->timer, &event) != 0 ? errno : 0;
	if (error == 0)
		error = gompi_tcp_listen(error_detail, GOMPI_NET_ERROR_BYTES);
	if (error != 0) {
		if (error_detail[0] == 0)
			snprintf(error_detail, GOMPI_NET_ERROR_BYTES,
				 "cannot open a TCP port for connections from other processes of the job: %s",
				 strerror(error));
		return false;
	}
	gompi_spare_fd_open();
	*e = (struct gompi_net_endpoint){.address_bytes = GOMPI_TCP_PORT_BYTES,
					 .fd = t->epoll,
					 .inject_bytes = INJECT_BYTES,
					 .message_bytes = MAX_BYTES,
					 .max_op_bytes = MAX_BYTES};
	memcpy(e->address, &t->port, GOMPI_TCP_PORT_BYTES);
	e->host_bytes = gompi_host_encode(&t->local_host, e->host);
	return true;
}

static bool tcp_begin(const struct gompi_net_job *job, const struct gompi_net_events *events,
		      char error_detail[GOMPI_NET_ERROR_BYTES]) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	const size_t size = (size_t)job->size, capacity = size + (size_t)job->max_added;
	// Each process of another job may be on a node of its own. Untouched pages of these arrays use no memory.
	const size_t nodes = (size_t)job->nodes + (size_t)job->max_added;
	char *ports = calloc(capacity, GOMPI_TCP_PORT_BYTES);
	int32_t *node_of = calloc(capacity, sizeof *node_of);
	t->peers = calloc(capacity, sizeof *t->peers);
	t->peer_count = job->size;
	t->hosts = calloc(nodes, sizeof *t->hosts);
	t->good_address = calloc(nodes, 1);
	t->events = events;
	t->job = *job;
	t->job.addresses = ports;
	t->job.node_of = node_of;
	t->job.hosts = NULL;
	t->job.host_offsets = NULL;
	if (ports == NULL || node_of == NULL || t->peers == NULL || t->hosts == NULL || t->good_address == NULL) {
		snprintf(error_detail, GOMPI_NET_ERROR_BYTES, "out of memory for the addresses of the processes");
		return false;
	}
	memcpy(ports, job->addresses, size * GOMPI_TCP_PORT_BYTES);
	memcpy(node_of, job->node_of, size * sizeof *node_of);
	for (int i = 0; i < job->nodes; i++)
		gompi_host_decode(&t->hosts[i], job->hosts + job->host_offsets[i],
				  job->host_offsets[i + 1] - job->host_offsets[i]);
	struct rlimit r = {0};
	getrlimit(RLIMIT_NOFILE, &r);
	t->max_links = r.rlim_cur / 2 < INT32_MAX ? (int)(r.rlim_cur / 2) : INT32_MAX;
	return true;
}

static enum gompi_net_error tcp_add(const struct gompi_net_foreign *f) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	struct gompi_tcp_host host = {0};
	if (f->address_bytes != GOMPI_TCP_PORT_BYTES || !gompi_host_decode(&host, f->host, f->host_bytes))
		return NET_FAILED;
	struct gompi_tcp_peer *p = gompi_tcp_peer(f->peer);
	if (p == NULL)
		return NET_NO_MEM;
	p->universe = f->universe;
	p->number = f->number;
	memcpy(p->secret, f->secret, sizeof p->secret);
	p->was_connected = true; // the peer listened at its address when the jobs connected
	t->hosts[f->node] = host;
	((int32_t *)(uintptr_t)t->job.node_of)[f->peer] = f->node;
	memcpy((char *)(uintptr_t)t->job.addresses + (size_t)f->peer * GOMPI_TCP_PORT_BYTES, f->address,
	       GOMPI_TCP_PORT_BYTES);
	if (t->peer_count <= f->peer)
		t->peer_count = f->peer + 1;
	return NET_SUCCESS;
}

static void tcp_close(void) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	struct gompi_key_entry *memory;
	while (t->links != NULL)
		gompi_link_close(t->links);
	gompi_links_free();
	while (t->listener_count > 0)
		close(t->listeners[--t->listener_count]);
	close(t->timer);
	close(t->epoll);
	if (t->spare_fd >= 0)
		close(t->spare_fd);
	for (int i = 0; t->peers != NULL && i < t->peer_count; i++)
		if (t->peers[i] != NULL) {
			gompi_tcp_peer_fail(t->peers[i]);
			free(t->peers[i]);
		}
	while ((memory = gompi_key_remove_any(&t->memory)) != NULL)
		free(memory);
	gompi_completions_clear(&t->completions);
	free((void *)(uintptr_t)t->job.addresses);
	free((void *)(uintptr_t)t->job.node_of);
	free(t->peers);
	free(t->hosts);
	free(t->good_address);
	memset(t, 0, sizeof *t);
	t->epoll = t->timer = t->spare_fd = -1;
}

static void tcp_connect(int peer) {
	struct gompi_tcp_peer *p = gompi_tcp_peer(peer);
	if (p != NULL)
		gompi_tcp_peer_want_link(p);
}

static bool tcp_is_refused(int peer) {
	const struct gompi_tcp_peer *p = gompi_tcp_state.peers[peer];
	return p != NULL && p->wants_link && p->is_refused;
}

const struct gompi_net_ops gompi_tcp_ops = {.name = "tcp",
					    .choose = tcp_choose,
					    .list = tcp_list,
					    .open = tcp_open,
					    .begin = tcp_begin,
					    .add = tcp_add,
					    .close = tcp_close,
					    .send = tcp_send,
					    .inject = tcp_inject,
					    .post_receive = tcp_post_receive,
					    .read = tcp_read,
					    .write = tcp_write,
					    .register_memory = tcp_register,
					    .unregister_memory = tcp_unregister,
					    .poll = tcp_poll,
					    .arm = tcp_arm,
					    .connect = tcp_connect,
					    .is_refused = tcp_is_refused};
