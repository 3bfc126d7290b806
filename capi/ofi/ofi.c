#include "ofi/ofi.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/key_table.h"
#include "ofi/choose.h"
#include "ofi/library.h"
#include "ofi/state.h"

struct gompi_ofi_state gompi_ofi_state = {.fd = -1};

uint32_t gompi_ofi_version(void) { return gompi_libfabric.version != NULL ? gompi_libfabric.version() : 0; }

// Converts an error of libfabric. Providers report various errors if the peer has ended.
static enum gompi_net_error net_error(ssize_t rc) {
	switch (rc) {
	case 0:
		return NET_SUCCESS;
	case -FI_EAGAIN:
		return NET_AGAIN;
	case -FI_ENOMEM:
		return NET_NO_MEM;
	case -FI_ENOTCONN:
	case -FI_ECONNRESET:
	case -FI_ECONNREFUSED:
	case -FI_ECONNABORTED:
	case -FI_ECANCELED:
	case -FI_ESHUTDOWN:
	case -FI_ETIMEDOUT:
	case -FI_EHOSTUNREACH:
	case -FI_EIO:
		return NET_PEER_FAILED;
	default:
		return NET_FAILED;
	}
}

// --- Opening and closing

// Writes the step that has failed and the error rc to error_detail. Returns false.
static bool open_failed(const char *step, const char *provider, int rc, char error_detail[GOMPI_NET_ERROR_BYTES]) {
	snprintf(error_detail, GOMPI_NET_ERROR_BYTES, "%s of provider %s failed: %s", step, provider,
		 gompi_libfabric_error_text(-rc));
	return false;
}

static int open_queue(struct gompi_ofi_state *o) {
	struct fi_cq_attr a = {.format = FI_CQ_FORMAT_MSG,
			       .wait_obj = FI_WAIT_FD,
			       .size = o->info->tx_attr->size + o->info->rx_attr->size};
	o->fd = -1;
	int rc = fi_cq_open(o->domain, &a, &o->cq, NULL);
	if (rc == 0) {
		if (fi_control(&o->cq->fid, FI_GETWAIT, &o->fd) == 0)
			return 0;
		o->fd = -1;
		fi_close(&o->cq->fid);
	}
	a.wait_obj = FI_WAIT_NONE;
	return fi_cq_open(o->domain, &a, &o->cq, NULL);
}

// Opens the endpoint that reaches all peers. Returns 0, or an error of libfabric.
static int open_endpoint(struct gompi_ofi_state *o, char *address, size_t *length) {
	struct fi_av_attr a = {.type = FI_AV_TABLE};
	int rc = fi_av_open(o->domain, &a, &o->av, NULL);
	if (rc == 0)
		rc = fi_endpoint(o->domain, o->info, &o->ep, NULL);
	if (rc == 0)
		rc = fi_ep_bind(o->ep, &o->av->fid, 0);
	if (rc == 0)
		rc = fi_ep_bind(o->ep, &o->cq->fid, FI_TRANSMIT | FI_RECV);
	if (rc == 0)
		rc = fi_enable(o->ep);
	return rc == 0 ? fi_getname(&o->ep->fid, address, length) : rc;
}

// Stores the properties of the endpoint, except its address, in *e.
static void describe_endpoint(const struct gompi_ofi_state *o, struct gompi_net_endpoint *e) {
	const int modes = o->info->domain_attr->mr_mode;
	const size_t head = sizeof(struct gompi_message_head);
	e->host_bytes = 0;
	e->fd = o->fd;
	e->inject_bytes = o->info->tx_attr->inject_size > head ? o->info->tx_attr->inject_size - head : 0;
	e->message_bytes = o->info->ep_attr->max_msg_size - head;
	e->max_op_bytes = o->info->ep_attr->max_msg_size;
	e->needs_local = (modes & FI_MR_LOCAL) != 0;
	// A provider accesses memory with a device if it requires registration of local memory, chooses the keys
	// itself, or binds registrations to endpoints.
	e->has_rdma = (modes & (FI_MR_LOCAL | FI_MR_PROV_KEY | FI_MR_ENDPOINT)) != 0;
}

static bool ofi_open(const struct gompi_provider *provider, struct gompi_net_endpoint *e,
		     char error_detail[GOMPI_NET_ERROR_BYTES]) {
	struct gompi_ofi_state *o = &gompi_ofi_state;
	struct fi_info *all = gompi_ofi_find_providers(provider->name, error_detail), *i = all;
	if (all == NULL)
		return false;
	while (i != NULL && (!gompi_ofi_is_usable(i) || strcmp(i->fabric_attr->prov_name, provider->name) != 0))
		i = i->next;
	if (i == NULL || i->fabric_attr->prov_version != provider->version) {
		char found[40] = "no such provider";
		if (i != NULL)
			snprintf(found, sizeof found, "version %u.%u", FI_MAJOR(i->fabric_attr->prov_version),
				 FI_MINOR(i->fabric_attr->prov_version));
		snprintf(error_detail, GOMPI_NET_ERROR_BYTES,
			 "rank 0 uses libfabric's provider %s, version %u.%u; libfabric on this node has %s: install "
			 "the same libfabric on all nodes",
			 provider->name, FI_MAJOR(provider->version), FI_MINOR(provider->version), found);
		gompi_libfabric.freeinfo(all);
		return false;
	}
	o->info = gompi_libfabric.dupinfo(i);
	gompi_libfabric.freeinfo(all);
	if (o->info == NULL)
		return open_failed("fi_dupinfo", provider->name, -FI_ENOMEM, error_detail);
	int rc = gompi_libfabric.fabric(o->info->fabric_attr, &o->fabric, NULL);
	if (rc != 0)
		return open_failed("fi_fabric", provider->name, rc, error_detail);
	rc = fi_domain(o->fabric, o->info, &o->domain, NULL);
	if (rc != 0)
		return open_failed("fi_domain", provider->name, rc, error_detail);
	e->address_bytes = sizeof e->address;
	rc = open_queue(o);
	if (rc == 0)
		rc = open_endpoint(o, e->address, &e->address_bytes);
	if (rc != 0)
		return open_failed("opening the endpoint", provider->name, rc, error_detail);
	describe_endpoint(o, e);
	return true;
}

static bool ofi_begin(const struct gompi_net_job *job, const struct gompi_net_events *events,
		      char error_detail[GOMPI_NET_ERROR_BYTES]) {
	struct gompi_ofi_state *o = &gompi_ofi_state;
	const size_t size = (size_t)job->size, capacity = size + (size_t)job->max_added;
	o->addresses = malloc(job->address_bytes * capacity); // untouched pages use no memory
	o->peer = malloc(capacity * sizeof *o->peer);
	if (!gompi_message_names_open(&o->names, job) || o->addresses == NULL || o->peer == NULL) {
		snprintf(error_detail, GOMPI_NET_ERROR_BYTES, "out of memory for the addresses of the processes");
		return false;
	}
	memcpy(o->addresses, job->addresses, job->address_bytes * size);
	for (size_t i = 0; i < size; i++)
		o->peer[i] = FI_ADDR_NOTAVAIL;
	o->address_bytes = job->address_bytes;
	return true;
}

static enum gompi_net_error ofi_add(const struct gompi_net_foreign *f) {
	struct gompi_ofi_state *o = &gompi_ofi_state;
	if (f->address_bytes != o->address_bytes)
		return NET_FAILED;
	memcpy(o->addresses + (size_t)f->peer * o->address_bytes, f->address, o->address_bytes);
	o->peer[f->peer] = FI_ADDR_NOTAVAIL;
	gompi_message_names_add(&o->names, f);
	return NET_SUCCESS;
}

// Ends all registrations.
static void free_registrations(struct gompi_ofi_state *o);

static void ofi_close(void) {
	struct gompi_ofi_state *o = &gompi_ofi_state;
	const bool bound = (o->info->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0;
	if (bound)
		free_registrations(o);
	fi_close(&o->ep->fid);
	fi_close(&o->av->fid);
	if (!bound) // only now: the closed endpoint no longer accesses the memory
		free_registrations(o);
	fi_close(&o->cq->fid);
	fi_close(&o->domain->fid);
	fi_close(&o->fabric->fid);
	gompi_libfabric.freeinfo(o->info);
	free(o->addresses);
	free(o->peer);
	gompi_message_names_close(&o->names);
	*o = (struct gompi_ofi_state){.fd = -1};
}

// --- Messages

// Stores the address of a peer that messages and accesses use. Inserts the peer into the address vector at first use.
static enum gompi_net_error find_peer(int peer, fi_addr_t *address) {
	struct gompi_ofi_state *o = &gompi_ofi_state;
	*address = o->peer[peer];
	if (__builtin_expect(*address != FI_ADDR_NOTAVAIL, 1))
		return NET_SUCCESS;
	if (fi_av_insert(o->av, o->addresses + (size_t)peer * o->address_bytes, 1, address, 0, NULL) != 1)
		return NET_FAILED;
	o->peer[peer] = *address;
	return NET_SUCCESS;
}

// What libfabric and this file store in an operation.
struct ofi_op {
	struct fi_context2 context;
	const char *at; // buffer of a receive; NULL for other operations
};
_Static_assert(sizeof(struct ofi_op) <= GOMPI_NET_OP_BYTES, "the state of an operation");

static struct ofi_op *begin_op(struct gompi_net_op *op, const char *at) {
	struct ofi_op *o = (struct ofi_op *)(void *)op->reserved;
	o->at = at;
	return o;
}

static void *descriptor(const struct gompi_net_local *local) { return local != NULL ? fi_mr_desc(local->mr) : NULL; }

// Writes the head of a message, and changes *at and *bytes so that they contain the head. Stores the peer's address.
static enum gompi_net_error begin_message(int peer, char **at, size_t *bytes, fi_addr_t *address) {
	const struct gompi_ofi_state *o = &gompi_ofi_state;
	const enum gompi_net_error error = find_peer(peer, address);
	if (error != NET_SUCCESS)
		return error;
	*at = gompi_message_head_write(*at, *bytes, peer, &o->names);
	*bytes += sizeof(struct gompi_message_head);
	return NET_SUCCESS;
}

static enum gompi_net_error ofi_send(int peer, char *at, size_t bytes, struct gompi_net_local *local,
				     struct gompi_net_op *op) {
	fi_addr_t address;
	const enum gompi_net_error error = begin_message(peer, &at, &bytes, &address);
	return error != NET_SUCCESS ? error
				    : net_error(fi_send(gompi_ofi_state.ep, at, bytes, descriptor(local), address,
							&begin_op(op, NULL)->context));
}

static enum gompi_net_error ofi_inject(int peer, char *at, size_t bytes) {
	fi_addr_t address;
	const enum gompi_net_error error = begin_message(peer, &at, &bytes, &address);
	return error != NET_SUCCESS ? error : net_error(fi_inject(gompi_ofi_state.ep, at, bytes, address));
}

static enum gompi_net_error ofi_post_receive(char *at, size_t bytes, struct gompi_net_local *local,
					     struct gompi_net_op *op) {
	const size_t head = sizeof(struct gompi_message_head);
	struct ofi_op *o = begin_op(op, at);
	return net_error(
		fi_recv(gompi_ofi_state.ep, at - head, bytes + head, descriptor(local), FI_ADDR_UNSPEC, &o->context));
}

// --- Reads and writes

static enum gompi_net_error start_access(int peer, bool is_write, char *at, uint64_t bytes,
					 struct gompi_net_local *local, uint64_t key, uint64_t address,
					 struct gompi_net_op *op) {
	fi_addr_t peer_address;
	const enum gompi_net_error error = find_peer(peer, &peer_address);
	if (error != NET_SUCCESS)
		return error;
	struct iovec from = {at, bytes};
	struct fi_rma_iov to = {address, bytes, key};
	void *desc = descriptor(local);
	struct fi_msg_rma m = {.msg_iov = &from,
			       .desc = &desc,
			       .iov_count = 1,
			       .addr = peer_address,
			       .rma_iov = &to,
			       .rma_iov_count = 1,
			       .context = &begin_op(op, NULL)->context};
	return net_error(is_write ? fi_writemsg(gompi_ofi_state.ep, &m, FI_DELIVERY_COMPLETE | FI_COMPLETION)
				  : fi_readmsg(gompi_ofi_state.ep, &m, FI_COMPLETION));
}

static enum gompi_net_error ofi_write(int peer, char *from, uint64_t bytes, struct gompi_net_local *local, uint64_t key,
				      uint64_t address, struct gompi_net_op *op) {
	return start_access(peer, true, from, bytes, local, key, address, op);
}

static enum gompi_net_error ofi_read(int peer, char *to, uint64_t bytes, struct gompi_net_local *local, uint64_t key,
				     uint64_t address, struct gompi_net_op *op) {
	return start_access(peer, false, to, bytes, local, key, address, op);
}

// --- Memory

static int register_with_key(char *at, uint64_t bytes, uint64_t access, uint64_t key, struct fid_mr **mr) {
	const struct gompi_ofi_state *o = &gompi_ofi_state;
	int rc = fi_mr_reg(o->domain, at, bytes, access, 0, key, 0, mr, NULL);
	if (rc != 0 || (o->info->domain_attr->mr_mode & FI_MR_ENDPOINT) == 0)
		return rc;
	rc = fi_mr_bind(*mr, &o->ep->fid, 0);
	if (rc == 0)
		rc = fi_mr_enable(*mr);
	if (rc != 0)
		fi_close(&(*mr)->fid);
	return rc;
}

// Registers memory. Chooses a random key unless the provider chooses keys, and retries if the key is in use.
static int register_mr(char *at, uint64_t bytes, uint64_t access, struct fid_mr **mr) {
	const struct fi_domain_attr *a = gompi_ofi_state.info->domain_attr;
	int rc = -FI_ENOKEY;
	for (int tries = 0; rc == -FI_ENOKEY && tries < 8; tries++) {
		uint64_t key = 0;
		if ((a->mr_mode & FI_MR_PROV_KEY) == 0 &&
		    (key = gompi_random_key(a->mr_key_size == 0 ? sizeof key : a->mr_key_size)) == 0)
			continue;
		rc = register_with_key(at, bytes, access, key, mr);
	}
	return rc;
}

static enum gompi_net_error ofi_register(char *at, uint64_t bytes, bool writable, struct gompi_region *region) {
	struct gompi_ofi_state *o = &gompi_ofi_state;
	const uint64_t access = FI_REMOTE_READ | (writable ? FI_READ | FI_WRITE | FI_REMOTE_WRITE : 0);
	struct gompi_ofi_memory *m = malloc(sizeof *m);
	if (m == NULL)
		return NET_NO_MEM;
	int rc = register_mr(at, bytes, access, &m->mr);
	if (rc == 0 && fi_mr_key(m->mr) == 0) { // 0 means "not registered" in struct gompi_region
		fi_close(&m->mr->fid);
		rc = -FI_ENOKEY;
	}
	if (rc != 0) {
		free(m);
		return net_error(rc);
	}
	m->entry.key = region->key = fi_mr_key(m->mr);
	gompi_key_add(&o->memory, &m->entry);
	region->address = (o->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0 ? (uint64_t)(uintptr_t)at : 0;
	return NET_SUCCESS;
}

static void free_memory(struct gompi_key_entry *e) {
	struct gompi_ofi_memory *m = (struct gompi_ofi_memory *)e;
	if (m != NULL)
		fi_close(&m->mr->fid);
	free(m);
}

static void ofi_unregister(uint64_t key) { free_memory(gompi_key_remove(&gompi_ofi_state.memory, key)); }

static enum gompi_net_error ofi_register_local(char *at, uint64_t bytes, enum gompi_net_access access,
					       struct gompi_net_local **local) {
	// Only the flags that are needed, because memory that is only sent may be read-only.
	static const uint64_t flags[] = {
		[NET_ACCESS_MESSAGES] = FI_SEND | FI_RECV, [NET_ACCESS_READ] = FI_READ, [NET_ACCESS_WRITE] = FI_WRITE};
	struct gompi_ofi_state *o = &gompi_ofi_state;
	struct gompi_net_local *l = malloc(sizeof *l);
	const int rc = l == NULL ? -FI_ENOMEM : register_mr(at, bytes, flags[access], &l->mr);
	if (rc != 0) {
		free(l);
		return net_error(rc);
	}
	l->prev = NULL;
	l->next = o->locals;
	if (o->locals != NULL)
		o->locals->prev = l;
	*local = o->locals = l;
	return NET_SUCCESS;
}

static void ofi_unregister_local(struct gompi_net_local *l) {
	*(l->prev != NULL ? &l->prev->next : &gompi_ofi_state.locals) = l->next;
	if (l->next != NULL)
		l->next->prev = l->prev;
	fi_close(&l->mr->fid);
	free(l);
}

static void free_registrations(struct gompi_ofi_state *o) {
	struct gompi_key_entry *e;
	while (o->locals != NULL)
		ofi_unregister_local(o->locals);
	while ((e = gompi_key_remove_any(&o->memory)) != NULL)
		free_memory(e);
}

// --- Progress

// Stores the completion of an operation. A received message that does not come from a process of the job becomes a
// failed receive.
static void store_completion(void *context, size_t bytes, enum gompi_net_error error, struct gompi_net_completion *c) {
	const struct gompi_ofi_state *o = &gompi_ofi_state;
	const char *at = ((struct ofi_op *)context)->at;
	*c = (struct gompi_net_completion){.op = context, .error = error};
	if (at == NULL || error != NET_SUCCESS)
		return;
	struct gompi_message_head h;
	c->peer = -1;
	if (bytes >= sizeof h) {
		memcpy(&h, at - sizeof h, sizeof h);
		c->bytes = bytes - sizeof h;
		c->peer = gompi_message_source(&h, at, c->bytes, &o->names);
	}
	if (c->peer < 0)
		c->error = NET_FAILED;
}

static int ofi_poll(struct gompi_net_completion *completions, int capacity) {
	enum { BATCH = 16 };
	const struct gompi_ofi_state *o = &gompi_ofi_state;
	struct fi_cq_msg_entry e[BATCH];
	ssize_t n = fi_cq_read(o->cq, e, (size_t)(capacity < BATCH ? capacity : BATCH));
	for (ssize_t i = 0; i < n; i++)
		store_completion(e[i].op_context, e[i].len, NET_SUCCESS, &completions[i]);
	if (n != -FI_EAVAIL)
		return n > 0 ? (int)n : 0;
	struct fi_cq_err_entry failed = {0};
	if (fi_cq_readerr(o->cq, &failed, 0) <= 0 || failed.op_context == NULL)
		return 0; // an internal error of the provider
	const enum gompi_net_error error = net_error(-failed.err);
	store_completion(failed.op_context, 0, error == NET_SUCCESS || error == NET_AGAIN ? NET_FAILED : error,
			 &completions[0]);
	return 1;
}

static bool ofi_arm(void) {
	struct gompi_ofi_state *o = &gompi_ofi_state;
	struct fid *on[] = {&o->cq->fid};
	return o->fd < 0 || fi_trywait(o->fabric, on, 1) == 0;
}

const struct gompi_net_ops gompi_ofi_ops = {.choose = gompi_ofi_choose,
					    .list = gompi_ofi_list,
					    .open = ofi_open,
					    .begin = ofi_begin,
					    .add = ofi_add,
					    .close = ofi_close,
					    .send = ofi_send,
					    .inject = ofi_inject,
					    .post_receive = ofi_post_receive,
					    .read = ofi_read,
					    .write = ofi_write,
					    .register_memory = ofi_register,
					    .unregister_memory = ofi_unregister,
					    .register_local = ofi_register_local,
					    .unregister_local = ofi_unregister_local,
					    .poll = ofi_poll,
					    .arm = ofi_arm};
