// The objects of libfabric's interface, and polling of the links.
#define _GNU_SOURCE
#include <errno.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>
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

static ssize_t cq_read(struct fid_cq *cq, void *to, size_t count) {
	struct fi_cq_msg_entry *e = to;
	const struct gompi_tcp_completion *c = gompi_completion_first();
	if (c == NULL) {
		poll_links();
		c = gompi_completion_first();
	}
	size_t n = 0;
	for (; n < count && c != NULL && c->error == 0; n++) {
		e[n] = (struct fi_cq_msg_entry){.op_context = c->context, .len = c->length};
		c = gompi_completion_next();
	}
	return n > 0 ? (ssize_t)n : c != NULL ? -FI_EAVAIL : -FI_EAGAIN;
}

static ssize_t cq_readerr(struct fid_cq *cq, struct fi_cq_err_entry *e, uint64_t flags) {
	const struct gompi_tcp_completion *c = gompi_completion_first();
	if (c == NULL || c->error == 0)
		return -FI_EAGAIN;
	e->op_context = c->context;
	e->err = c->error;
	gompi_completion_next();
	return 1;
}

static int fabric_trywait(struct fid_fabric *f, struct fid **on, int n) {
	const struct gompi_tcp_state *t = &gompi_tcp_state;
	return gompi_completion_first() != NULL || (t->stalled != NULL && t->buffers != NULL) ? -FI_EAGAIN : 0;
}

// --- Sending

// Queues the unsent part of a message. If copy is true, copies the data: the caller of an inject may reuse its buffer
// on return.
static void enqueue_rest(struct gompi_tcp_peer *p, struct gompi_tcp_item *i, bool copy) {
	if (copy && i->data.iov_len > 0) {
		i->owned_copy = gompi_alloc_or_abort(i->data.iov_len);
		memcpy(i->owned_copy, i->data.iov_base, i->data.iov_len);
		i->data.iov_base = i->owned_copy;
	}
	gompi_tcp_peer_enqueue(p, i);
	if (p->link == NULL)
		gompi_tcp_peer_want_link(p);
	else
		gompi_link_set_events(p->link, p->link->state == LINK_OPEN);
}

static ssize_t send_bytes(struct gompi_tcp_peer *p, const void *at, size_t bytes, void *context) {
	if (p == NULL)
		return -FI_ENOMEM;
	if (p->has_failed)
		return -FI_ENOTCONN;
	struct gompi_tcp_head head = {.kind = TCP_FRAME, .length = (uint32_t)bytes};
	size_t sent = 0;
	struct gompi_tcp_link *l = p->link;
	if (l != NULL && l->state == LINK_OPEN && p->queue_first == NULL) {
		struct iovec v[2] = {{&head, GOMPI_TCP_SHORT_HEAD_BYTES}, {(void *)(uintptr_t)at, bytes}};
		struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};
		ssize_t n = sendmsg(l->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n == (ssize_t)(bytes + GOMPI_TCP_SHORT_HEAD_BYTES)) {
			if (context != NULL)
				gompi_completion_add(context, bytes, 0);
			return 0;
		}
		if (n < 0 && errno != EAGAIN && errno != EINTR && errno != ENOBUFS && errno != ENOMEM) {
			gompi_link_broken(l, errno);
			return -FI_ENOTCONN;
		}
		sent = n > 0 ? (size_t)n : 0;
	}
	struct gompi_tcp_item *i = gompi_item_alloc();
	if (i == NULL && sent == 0)
		return -FI_EAGAIN;
	if (i == NULL)
		// a part of the message has been sent, so the rest must be queued even if memory is low
		i = gompi_alloc_or_abort(sizeof *i);
	i->head = head;
	i->head_bytes = GOMPI_TCP_SHORT_HEAD_BYTES;
	i->data = (struct iovec){(void *)(uintptr_t)at, bytes};
	i->sent_bytes = sent;
	i->context = context;
	enqueue_rest(p, i, context == NULL);
	return 0;
}

static ssize_t ep_send(struct fid_ep *ep, const void *at, size_t bytes, void *desc, fi_addr_t to, void *context) {
	if (!gompi_completion_reserve())
		return -FI_EAGAIN;
	const ssize_t rc = send_bytes(gompi_tcp_peer((int)to), at, bytes, context);
	if (rc != 0)
		gompi_completion_unreserve();
	return rc;
}

static ssize_t ep_inject(struct fid_ep *ep, const void *at, size_t bytes, fi_addr_t to) {
	return send_bytes(gompi_tcp_peer((int)to), at, bytes, NULL);
}

static ssize_t ep_recv(struct fid_ep *ep, void *at, size_t bytes, void *desc, fi_addr_t from, void *context) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	if (!gompi_completion_reserve())
		return -FI_ENOMEM;
	struct gompi_tcp_buffer *buffer = t->free_buffers;
	if (buffer != NULL) {
		t->free_buffers = buffer->next;
	} else if ((buffer = malloc(sizeof *buffer)) == NULL) {
		gompi_completion_unreserve();
		return -FI_ENOMEM;
	}
	// Last in, first out, because the buffer that was used last is in the caches.
	*buffer = (struct gompi_tcp_buffer){t->buffers, at, bytes, context};
	t->buffers = buffer;
	return 0;
}

static ssize_t start_request(const struct fi_msg_rma *m, enum gompi_tcp_kind kind) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	struct gompi_tcp_peer *p = gompi_tcp_peer((int)m->addr);
	struct gompi_tcp_item *i = gompi_item_alloc();
	struct gompi_tcp_request *r = malloc(sizeof *r);
	if (p == NULL || i == NULL || r == NULL || p->has_failed || !gompi_completion_reserve()) {
		if (i != NULL)
			gompi_item_free(i);
		free(r);
		return p != NULL && p->has_failed ? -FI_ENOTCONN : -FI_ENOMEM;
	}
	const struct iovec data = *m->msg_iov;
	*r = (struct gompi_tcp_request){.next = p->requests,
					.id = ++t->last_request_id,
					.context = m->context,
					.dest = kind == TCP_READ ? data.iov_base : NULL,
					.bytes = data.iov_len};
	p->requests = r;
	i->head = (struct gompi_tcp_head){.kind = kind,
					  .length = kind == TCP_WRITE ? (uint32_t)data.iov_len : 0,
					  .id = r->id,
					  .key = m->rma_iov->key,
					  .offset = m->rma_iov->addr,
					  .bytes = data.iov_len};
	i->head_bytes = sizeof i->head;
	if (kind == TCP_WRITE)
		i->data = data;
	gompi_tcp_peer_enqueue(p, i);
	if (p->link == NULL)
		gompi_tcp_peer_want_link(p);
	else
		gompi_link_send(p->link);
	return 0;
}

static ssize_t ep_writemsg(struct fid_ep *ep, const struct fi_msg_rma *m, uint64_t flags) {
	return start_request(m, TCP_WRITE);
}

static ssize_t ep_readmsg(struct fid_ep *ep, const struct fi_msg_rma *m, uint64_t flags) {
	return start_request(m, TCP_READ);
}

// --- Memory

static int close_memory(struct fid *f) {
	struct gompi_tcp_memory *m = (struct gompi_tcp_memory *)f;
	gompi_tcp_memory_remove(m);
	gompi_links_drop_memory(m);
	free(m);
	return 0;
}

static struct fi_ops memory_ops = {.size = sizeof memory_ops, .close = close_memory};

static int memory_register(struct fid *domain, const void *at, size_t bytes, uint64_t access, uint64_t offset,
			   uint64_t key, uint64_t flags, struct fid_mr **mr, void *context) {
	if (gompi_tcp_memory_find(key) != NULL)
		return -FI_ENOKEY;
	struct gompi_tcp_memory *m = malloc(sizeof *m);
	if (m == NULL)
		return -FI_ENOMEM;
	*m = (struct gompi_tcp_memory){.mr = {.fid = {.fclass = FI_CLASS_MR, .ops = &memory_ops}, .key = key},
				       .at = (char *)(uintptr_t)at,
				       .bytes = bytes,
				       .access = access};
	gompi_tcp_memory_add(m);
	*mr = &m->mr;
	return 0;
}

// --- The objects

static int close_noop(struct fid *f) { return 0; } // gompi_tcp_end closes everything

static struct fi_ops fid_ops = {.size = sizeof fid_ops, .close = close_noop};
static struct fi_ops_msg msg_ops = {.size = sizeof msg_ops, .send = ep_send, .inject = ep_inject, .recv = ep_recv};
static struct fi_ops_rma rma_ops = {.size = sizeof rma_ops, .writemsg = ep_writemsg, .readmsg = ep_readmsg};
static struct fi_ops_cq cq_ops = {.size = sizeof cq_ops, .read = cq_read, .readerr = cq_readerr};
static struct fi_ops_mr mr_ops = {.size = sizeof mr_ops, .reg = memory_register};
static struct fi_ops_fabric fabric_ops = {.size = sizeof fabric_ops, .trywait = fabric_trywait};

static struct fid_fabric fabric = {.fid = {.fclass = FI_CLASS_FABRIC, .ops = &fid_ops}, .ops = &fabric_ops};
static struct fid_domain domain = {.fid = {.fclass = FI_CLASS_DOMAIN, .ops = &fid_ops}, .mr = &mr_ops};
static struct fid_cq cq = {.fid = {.fclass = FI_CLASS_CQ, .ops = &fid_ops}, .ops = &cq_ops};
static struct fid_ep ep = {.fid = {.fclass = FI_CLASS_EP, .ops = &fid_ops}, .msg = &msg_ops, .rma = &rma_ops};

static char provider_name[] = "tcp";
static struct fi_tx_attr tx_attr = {.inject_size = INJECT_BYTES};
static struct fi_rx_attr rx_attr;
static struct fi_ep_attr ep_attr = {.type = FI_EP_RDM, .max_msg_size = 1 << 30};
static struct fi_domain_attr domain_attr = {.mr_key_size = sizeof(uint64_t)};
static struct fi_fabric_attr fabric_attr = {.prov_name = provider_name, .prov_version = GOMPI_TCP_VERSION};
static struct fi_info info = {.tx_attr = &tx_attr,
			      .rx_attr = &rx_attr,
			      .ep_attr = &ep_attr,
			      .domain_attr = &domain_attr,
			      .fabric_attr = &fabric_attr};

bool gompi_tcp_open(struct gompi_tcp *out, char port[GOMPI_TCP_PORT_BYTES], char host[GOMPI_TCP_HOST_BYTES],
		    size_t *host_bytes, char *error_detail, size_t error_bytes) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	if (!gompi_host_local_addresses(&t->local_host, NULL, error_detail, error_bytes))
		return false;
	error_detail[0] = 0;
	t->on_broken = gompi_link_broken;
	t->on_close = gompi_link_on_close;
	t->epoll = epoll_create1(EPOLL_CLOEXEC);
	t->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = &t->timer};
	int error = t->epoll < 0 || t->timer < 0 || epoll_ctl(t->epoll, EPOLL_CTL_ADD, t->timer, &e) != 0 ? errno : 0;
	if (error == 0)
		error = gompi_tcp_listen(error_detail, error_bytes);
	if (error != 0) {
		if (error_detail[0] == 0)
			snprintf(error_detail, error_bytes,
				 "cannot open a TCP port for connections from other processes of the job: %s",
				 strerror(error));
		return false;
	}
	gompi_spare_fd_open();
	const uint16_t p = t->port;
	memcpy(port, &p, sizeof p);
	*host_bytes = gompi_host_encode(&t->local_host, host);
	*out = (struct gompi_tcp){&info, &fabric, &domain, &cq, &ep, t->epoll};
	return true;
}

bool gompi_tcp_begin(const struct gompi_tcp_job *job) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	const size_t size = (size_t)job->size, nodes = (size_t)job->nodes;
	char *ports = malloc(size * GOMPI_TCP_PORT_BYTES);
	int32_t *node_of = malloc(size * sizeof *node_of);
	t->peers = calloc(size, sizeof *t->peers);
	t->hosts = calloc(nodes, sizeof *t->hosts);
	t->good_address = malloc(nodes);
	if (ports == NULL || node_of == NULL || t->peers == NULL || t->hosts == NULL || t->good_address == NULL)
		return false;
	memcpy(ports, job->ports, size * GOMPI_TCP_PORT_BYTES);
	memcpy(node_of, job->node_of, size * sizeof *node_of);
	memset(t->good_address, -1, nodes);
	for (size_t i = 0; i < nodes; i++)
		gompi_host_decode(&t->hosts[i], job->hosts + job->host_offsets[i],
				  job->host_offsets[i + 1] - job->host_offsets[i]);
	struct rlimit r = {0};
	getrlimit(RLIMIT_NOFILE, &r);
	t->max_links = r.rlim_cur / 2 < INT32_MAX ? (int)(r.rlim_cur / 2) : INT32_MAX;
	t->job = *job;
	t->job.ports = ports;
	t->job.node_of = node_of;
	t->job.hosts = NULL;
	t->job.host_offsets = NULL;
	return true;
}

static void free_buffers(struct gompi_tcp_buffer *first) {
	while (first != NULL) {
		struct gompi_tcp_buffer *next = first->next;
		free(first);
		first = next;
	}
}

void gompi_tcp_end(void) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	while (t->links != NULL)
		gompi_link_close(t->links);
	gompi_links_free();
	while (t->listener_count > 0)
		close(t->listeners[--t->listener_count]);
	close(t->timer);
	close(t->epoll);
	if (t->spare_fd >= 0)
		close(t->spare_fd);
	for (int i = 0; t->peers != NULL && i < t->job.size; i++)
		if (t->peers[i] != NULL) {
			gompi_tcp_peer_fail(t->peers[i], FI_ECANCELED);
			free(t->peers[i]);
		}
	free_buffers(t->buffers);
	free_buffers(t->free_buffers);
	gompi_completions_clear();
	free((void *)(uintptr_t)t->job.ports);
	free((void *)(uintptr_t)t->job.node_of);
	free(t->peers);
	free(t->hosts);
	free(t->good_address);
	memset(t, 0, sizeof *t);
	t->epoll = t->timer = t->spare_fd = -1;
}

void gompi_tcp_connect(int peer) {
	struct gompi_tcp_peer *p = gompi_tcp_peer(peer);
	if (p != NULL)
		gompi_tcp_peer_want_link(p);
}

bool gompi_tcp_is_refused(int peer) {
	const struct gompi_tcp_peer *p = gompi_tcp_state.peers[peer];
	return p != NULL && p->wants_link && p->is_refused;
}

bool gompi_tcp_addresses(char *text, size_t bytes) {
	static const char *const scope_text[] = {"network of the default route", "another network",
						 "network of a bridge, containers or virtual machines",
						 "link-local network", "this host only"};
	struct gompi_tcp_host h;
	char names[GOMPI_HOST_MAX_ADDRESSES][16], address[INET6_ADDRSTRLEN];
	if (!gompi_host_local_addresses(&h, names, text, bytes))
		return false;
	text[0] = 0;
	size_t at = 0;
	for (int i = 0; i < h.count && at < bytes; i++) {
		gompi_host_address_text(&h.addresses[i], address);
		at += (size_t)snprintf(text + at, bytes - at, "%s\t%s\t%s\n", address, names[i],
				       scope_text[h.addresses[i].scope]);
	}
	return true;
}
