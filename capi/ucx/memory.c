// Registered memory, and reads and writes of peers' memory.
//
// UCX addresses a peer's memory by a remote key of variable length, which the peer packs. But a struct gompi_region has
// 16 bytes. So the first access to a region requests the packed key from the peer, with a message, and keeps it.
#include <stdlib.h>
#include <string.h>

#include "ucx/state.h"

enum { MAX_UNUSED_RKEYS = 64 }; // remote keys that are kept for each peer although no access uses them

// --- Registration

enum gompi_net_error gompi_ucx_register(char *at, uint64_t bytes, bool writable, struct gompi_region *region) {
	struct gompi_ucx_state *u = &gompi_ucx_state;
	const unsigned reads = UCP_MEM_MAP_PROT_LOCAL_READ | UCP_MEM_MAP_PROT_REMOTE_READ;
	const ucp_mem_map_params_t params = {
		.field_mask =
			UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_PROT,
		.address = at,
		.length = bytes,
		.prot = reads | (writable ? UCP_MEM_MAP_PROT_LOCAL_WRITE | UCP_MEM_MAP_PROT_REMOTE_WRITE : 0)};
	const uint64_t key = gompi_random_key(sizeof key);
	struct gompi_ucx_memory *m = calloc(1, sizeof *m);
	if (m == NULL || key == 0 || gompi_key_find(&u->memory, key) != NULL) {
		const bool is_low = m == NULL;
		free(m);
		return is_low ? NET_NO_MEM : NET_FAILED;
	}
	m->entry.key = key;
	ucs_status_t status = gompi_ucp.mem_map(u->context, &params, &m->memory);
	if (status != UCS_OK) {
		free(m);
		return gompi_ucx_error(status);
	}
	status = gompi_ucp.rkey_pack(u->context, m->memory, &m->packed, &m->packed_bytes);
	if (status != UCS_OK) {
		gompi_ucp.mem_unmap(u->context, m->memory);
		free(m);
		return gompi_ucx_error(status);
	}
	gompi_key_add(&u->memory, &m->entry);
	*region = (struct gompi_region){.key = key, .address = (uint64_t)(uintptr_t)at};
	return NET_SUCCESS;
}

static void free_ucx_memory(struct gompi_key_entry *e) {
	struct gompi_ucx_memory *m = (struct gompi_ucx_memory *)e;
	if (m == NULL)
		return;
	gompi_ucp.rkey_buffer_release(m->packed);
	gompi_ucp.mem_unmap(gompi_ucx_state.context, m->memory);
	free(m);
}

void gompi_ucx_unregister(uint64_t key) { free_ucx_memory(gompi_key_remove(&gompi_ucx_state.memory, key)); }

void gompi_ucx_free_memory(void) {
	struct gompi_key_entry *e;
	while ((e = gompi_key_remove_any(&gompi_ucx_state.memory)) != NULL)
		free_ucx_memory(e);
}

void gompi_ucx_on_rkey_request(struct gompi_ucx_peer *p, const char *data, size_t bytes) {
	struct gompi_ucx_rkey_head h;
	if (bytes != sizeof h)
		return;
	memcpy(&h, data, sizeof h);
	const struct gompi_ucx_memory *m =
		(const struct gompi_ucx_memory *)gompi_key_find(&gompi_ucx_state.memory, h.key);
	const size_t packed_bytes = m != NULL ? m->packed_bytes : 0;
	char *reply = malloc(sizeof h + packed_bytes);
	bool is_sent = false;
	if (reply != NULL) {
		memcpy(reply, &h, sizeof h);
		if (packed_bytes > 0)
			memcpy(reply + sizeof h, m->packed, packed_bytes);
		is_sent = gompi_ucx_send_control(p, UCX_RKEY_REPLY, reply, sizeof h + packed_bytes);
		free(reply);
	}
	if (!is_sent) // without the reply, the peer would wait forever
		gompi_ucx_peer_fail(p);
}

// --- Remote keys

static void free_rkey(struct gompi_ucx_rkey *k) {
	if (k->rkey != NULL)
		gompi_ucp.rkey_destroy(k->rkey);
	free(k);
}

void gompi_ucx_free_rkeys(struct gompi_ucx_peer *p) {
	for (struct gompi_ucx_rkey *k = p->rkeys, *next; k != NULL; k = next) {
		next = k->next;
		free_rkey(k);
	}
	p->rkeys = NULL;
}

// Frees the unused remote keys of a peer beyond the limit, oldest first.
static void trim_rkeys(struct gompi_ucx_peer *p) {
	int unused = 0;
	for (struct gompi_ucx_rkey **at = &p->rkeys, *k; (k = *at) != NULL;) {
		if (k->uses == 0 && ++unused > MAX_UNUSED_RKEYS) {
			*at = k->next;
			free_rkey(k);
		} else {
			at = &k->next;
		}
	}
}

// Returns a peer's remote key, and makes it the first of the list. Requests the key at first use. Returns NULL if the
// request cannot be sent, usually because memory is low.
static struct gompi_ucx_rkey *find_rkey(struct gompi_ucx_peer *p, uint64_t key) {
	struct gompi_ucx_rkey **at = &p->rkeys, *k;
	while (*at != NULL && (*at)->key != key)
		at = &(*at)->next;
	if ((k = *at) != NULL) {
		*at = k->next;
	} else {
		trim_rkeys(p);
		k = calloc(1, sizeof *k);
		if (k == NULL || !gompi_ucx_send_control(p, UCX_RKEY_REQUEST, &(struct gompi_ucx_rkey_head){key},
							 sizeof(struct gompi_ucx_rkey_head))) {
			free(k);
			return NULL;
		}
		k->key = key;
	}
	k->next = p->rkeys;
	return p->rkeys = k;
}

// --- Accesses

static void end_access(struct gompi_net_op *op, ucs_status_t status) {
	gompi_ucx_op(op)->rkey->uses--;
	gompi_ucx_complete(op, gompi_ucx_error(status));
}

static void on_access_done(void *request, ucs_status_t status, void *user_data) {
	gompi_ucp.request_free(request);
	end_access(user_data, status);
}

static void on_put_done(void *request, ucs_status_t status, void *user_data) { gompi_ucp.request_free(request); }

static void start_ucx_access(struct gompi_ucx_peer *p, struct gompi_net_op *op) {
	const struct gompi_ucx_op *a = gompi_ucx_op(op);
	const ucp_request_param_t done = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
					  .cb.send = on_access_done,
					  .user_data = op};
	const ucp_request_param_t put = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK, .cb.send = on_put_done};
	ucs_status_ptr_t r;
	if (a->is_write) {
		r = gompi_ucp.put_nbx(p->ep, a->at, a->bytes, a->address, a->rkey->rkey, &put);
		if (!UCS_PTR_IS_ERR(r)) // the flush completes when the data is in the peer's memory
			r = gompi_ucp.ep_flush_nbx(p->ep, &done);
	} else {
		r = gompi_ucp.get_nbx(p->ep, a->at, a->bytes, a->address, a->rkey->rkey, &done);
	}
	if (!UCS_PTR_IS_PTR(r))
		end_access(op, UCS_PTR_STATUS(r));
}

static enum gompi_net_error begin_access(int peer, struct gompi_ucx_op access, uint64_t key, struct gompi_net_op *op) {
	enum gompi_net_error error;
	struct gompi_ucx_peer *p = gompi_ucx_peer(peer, &error);
	if (p == NULL)
		return error;
	struct gompi_ucx_rkey *k = find_rkey(p, key);
	if (k == NULL || !gompi_completion_reserve(&gompi_ucx_state.completions))
		return NET_NO_MEM;
	access.rkey = k;
	*gompi_ucx_op(op) = access;
	k->uses++;
	if (k->rkey != NULL) {
		start_ucx_access(p, op);
		return NET_SUCCESS;
	}
	struct gompi_net_op **end = &k->waiting;
	while (*end != NULL)
		end = &gompi_ucx_op(*end)->next;
	*end = op;
	return NET_SUCCESS;
}

enum gompi_net_error gompi_ucx_read(int peer, char *to, uint64_t bytes, struct gompi_net_local *local, uint64_t key,
				    uint64_t address, struct gompi_net_op *op) {
	return begin_access(peer, (struct gompi_ucx_op){.at = to, .bytes = bytes, .address = address}, key, op);
}

enum gompi_net_error gompi_ucx_write(int peer, char *from, uint64_t bytes, struct gompi_net_local *local, uint64_t key,
				     uint64_t address, struct gompi_net_op *op) {
	return begin_access(
		peer, (struct gompi_ucx_op){.at = from, .bytes = bytes, .address = address, .is_write = true}, key, op);
}

// Ends the wait for a remote key: starts or fails the waiting accesses.
static void resume_accesses(struct gompi_ucx_peer *p, struct gompi_ucx_rkey *k, ucs_status_t status) {
	struct gompi_net_op *op;
	while ((op = k->waiting) != NULL) {
		k->waiting = gompi_ucx_op(op)->next;
		if (status == UCS_OK)
			start_ucx_access(p, op);
		else
			end_access(op, status);
	}
}

void gompi_ucx_on_rkey_reply(struct gompi_ucx_peer *p, const char *data, size_t bytes) {
	struct gompi_ucx_rkey_head h;
	if (bytes < sizeof h)
		return;
	memcpy(&h, data, sizeof h);
	struct gompi_ucx_rkey **at = &p->rkeys, *k;
	while (*at != NULL && (*at)->key != h.key)
		at = &(*at)->next;
	if ((k = *at) == NULL || k->rkey != NULL)
		return;
	ucs_status_t status = UCS_ERR_INVALID_PARAM;
	if (bytes > sizeof h)
		status = gompi_ucp.ep_rkey_unpack(p->ep, data + sizeof h, &k->rkey);
	resume_accesses(p, k, status);
	if (status != UCS_OK) {
		*at = k->next;
		free_rkey(k);
	}
}

void gompi_ucx_fail_accesses(struct gompi_ucx_peer *p) {
	for (struct gompi_ucx_rkey *k = p->rkeys; k != NULL; k = k->next)
		resume_accesses(p, k, UCS_ERR_NOT_CONNECTED);
}
