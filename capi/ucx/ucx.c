#include "ucx/ucx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "net/library.h"
#include "ucx/state.h"

// --- Choice

static uint32_t ucx_version(void) {
	unsigned major, minor, release;
	gompi_ucp.get_version(&major, &minor, &release);
	return major << 16 | minor;
}

static bool has_ucx_device(void) {
	static const char *const classes[] = {"infiniband"};
	return gompi_has_network_device(classes, 1);
}

static enum gompi_net_choice ucx_choose(const char *wanted, struct gompi_provider *chosen,
					char error_detail[GOMPI_NET_ERROR_BYTES]) {
	if (wanted == NULL && !has_ucx_device())
		return NET_NOT_CHOSEN;
	if (!gompi_ucx_load(error_detail))
		return wanted == NULL ? NET_NOT_CHOSEN : NET_UNAVAILABLE;
	*chosen = (struct gompi_provider){.name = "ucx", .version = ucx_version()};
	return NET_CHOSEN;
}

static int ucx_list(const struct gompi_provider *chosen, bool wanted, struct gompi_candidate *list, int capacity) {
	char ignored_error[GOMPI_NET_ERROR_BYTES];
	if (capacity == 0 || !gompi_ucx_load(ignored_error))
		return 0;
	const bool is_chosen = chosen != NULL && strcmp(chosen->name, "ucx") == 0;
	list[0] = (struct gompi_candidate){.provider = {.name = "ucx", .version = ucx_version()},
					   .is_chosen = is_chosen,
					   .explanation = !is_chosen ? "suitable; select it with GOMPIRMA_PROVIDER"
							  : wanted   ? "UCX, selected by GOMPIRMA_PROVIDER"
								   : "UCX supports InfiniBand or RoCE devices of this "
								     "node, and libfabric does not"};
	return 1;
}

// --- Sending

static void on_send_done(void *request, ucs_status_t status, void *user_data) {
	gompi_ucp.request_free(request);
	gompi_ucx_complete(user_data, gompi_ucx_error(status));
}

static enum gompi_net_error ucx_send(int peer, char *at, size_t bytes, struct gompi_net_local *local,
				     struct gompi_net_op *op) {
	struct gompi_ucx_state *u = &gompi_ucx_state;
	enum gompi_net_error error;
	struct gompi_ucx_peer *p = gompi_ucx_peer(peer, &error);
	if (p == NULL)
		return error;
	if (!gompi_completion_reserve(&u->completions))
		return NET_AGAIN;
	const char *head = gompi_message_head_write(at, bytes, peer, &u->names);
	const ucp_request_param_t done = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
					  .cb.send = on_send_done,
					  .user_data = op};
	ucs_status_ptr_t r =
		gompi_ucp.am_send_nbx(p->ep, UCX_FRAME, head, sizeof(struct gompi_message_head), at, bytes, &done);
	if (UCS_PTR_IS_ERR(r)) {
		gompi_completion_unreserve(&u->completions);
		return gompi_ucx_error(UCS_PTR_STATUS(r));
	}
	if (r == NULL)
		gompi_ucx_complete(op, NET_SUCCESS);
	return NET_SUCCESS;
}

// --- Receiving

// Ends the receive of a message of `bytes` bytes. A message that does not come from a process of the job becomes a
// failed receive.
static void end_receive(struct gompi_net_op *op, size_t bytes, ucs_status_t status) {
	struct gompi_ucx_state *u = &gompi_ucx_state;
	const struct gompi_ucx_op *b = gompi_ucx_op(op);
	struct gompi_net_completion c = {.op = op, .bytes = bytes, .error = gompi_ucx_error(status)};
	if (c.error == NET_SUCCESS) {
		c.peer = gompi_message_source(&b->head, b->at, bytes, &u->names);
		c.error = c.peer < 0 ? NET_FAILED : NET_SUCCESS;
	}
	gompi_completion_add(&u->completions, c);
}

static void on_data_received(void *request, ucs_status_t status, size_t bytes, void *user_data) {
	gompi_ucp.request_free(request);
	end_receive(user_data, bytes, status);
}

// Receives a message that has arrived into a posted buffer.
static void receive(const struct gompi_ucx_arrival *a) {
	struct gompi_ucx_state *u = &gompi_ucx_state;
	struct gompi_net_op *op = u->posted;
	struct gompi_ucx_op *b = gompi_ucx_op(op);
	u->posted = b->next;
	b->head = a->head;
	if (a->is_rendezvous && a->bytes <= b->bytes) {
		const ucp_request_param_t done = {.op_attr_mask =
							  UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
						  .cb.recv_am = on_data_received,
						  .user_data = op};
		ucs_status_ptr_t r = gompi_ucp.am_recv_data_nbx(u->worker, a->data, b->at, a->bytes, &done);
		if (!UCS_PTR_IS_PTR(r))
			end_receive(op, a->bytes, UCS_PTR_STATUS(r));
		return;
	}
	if (a->bytes <= b->bytes)
		memcpy(b->at, a->data, a->bytes);
	gompi_ucp.am_data_release(u->worker, a->data);
	end_receive(op, a->bytes, a->bytes <= b->bytes ? UCS_OK : UCS_ERR_INVALID_PARAM);
}

static ucs_status_t on_frame(void *arg, const void *header, size_t header_bytes, void *data, size_t bytes,
			     const ucp_am_recv_param_t *param) {
	struct gompi_ucx_state *u = &gompi_ucx_state;
	struct gompi_message_head head;
	if (header_bytes != sizeof head)
		return UCS_OK; // UCX drops the message, which is not from a process of the job
	memcpy(&head, header, sizeof head);
	struct gompi_ucx_arrival *a = malloc(sizeof *a);
	if (a == NULL) { // fabric/ would wait forever for the dropped message
		enum gompi_net_error error;
		const int source = gompi_message_sender(&head, &u->names);
		struct gompi_ucx_peer *p = source >= 0 ? gompi_ucx_peer(source, &error) : NULL;
		if (p != NULL)
			gompi_ucx_peer_fail(p);
		return UCS_OK;
	}
	*a = (struct gompi_ucx_arrival){.head = head,
					.data = data,
					.bytes = bytes,
					.is_rendezvous = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0};
	*u->arrivals_end = a;
	u->arrivals_end = &a->next;
	return UCS_INPROGRESS; // the data stays valid
}

// Removes and returns the first of the messages that wait for a buffer.
static struct gompi_ucx_arrival *next_arrival(void) {
	struct gompi_ucx_state *u = &gompi_ucx_state;
	struct gompi_ucx_arrival *a = u->arrivals;
	u->arrivals = a->next;
	if (u->arrivals == NULL)
		u->arrivals_end = &u->arrivals;
	return a;
}

static ucs_status_t on_control(void *arg, const void *header, size_t header_bytes, void *data, size_t bytes,
			       const ucp_am_recv_param_t *param) {
	const struct gompi_ucx_state *u = &gompi_ucx_state;
	struct gompi_message_head head;
	if (header_bytes != sizeof head || (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0)
		return UCS_OK;
	memcpy(&head, header, sizeof head);
	const int source = gompi_message_source(&head, data, bytes, &u->names);
	enum gompi_net_error error;
	struct gompi_ucx_peer *p = source < 0 ? NULL : gompi_ucx_peer(source, &error);
	if (p != NULL)
		((void (*)(struct gompi_ucx_peer *, const char *, size_t))arg)(p, data, bytes);
	return UCS_OK;
}

static enum gompi_net_error ucx_post_receive(char *at, size_t bytes, struct gompi_net_local *local,
					     struct gompi_net_op *op) {
	struct gompi_ucx_state *u = &gompi_ucx_state;
	if (!gompi_completion_reserve(&u->completions))
		return NET_NO_MEM;
	// Last in, first out, because the buffer that was used last is in the caches.
	*gompi_ucx_op(op) = (struct gompi_ucx_op){.next = u->posted, .at = at, .bytes = bytes};
	u->posted = op;
	return NET_SUCCESS;
}

// --- Progress

// Ends the accesses to failed peers, and closes their endpoints, which is not allowed in the function that reports the
// failure.
static void end_failed_peers(void) {
	struct gompi_ucx_peer *p;
	while ((p = gompi_ucx_state.failed_peers) != NULL) {
		gompi_ucx_state.failed_peers = p->next_failed;
		gompi_ucx_fail_accesses(p);
		void *request = gompi_ucx_close_endpoint(p);
		if (request != NULL)
			gompi_ucp.request_free(request); // UCX frees it when the endpoint is closed
	}
}

static int ucx_poll(struct gompi_net_completion *completions, int capacity) {
	struct gompi_ucx_state *u = &gompi_ucx_state;
	if (u->completions.count == 0)
		gompi_ucp.worker_progress(u->worker);
	while (u->arrivals != NULL && u->posted != NULL) {
		struct gompi_ucx_arrival *a = next_arrival();
		receive(a);
		free(a);
	}
	if (u->failed_peers != NULL)
		end_failed_peers();
	return gompi_completions_take(&u->completions, completions, capacity);
}

static bool ucx_arm(void) {
	const struct gompi_ucx_state *u = &gompi_ucx_state;
	return u->completions.count == 0 && (u->arrivals == NULL || u->posted == NULL) &&
	       gompi_ucp.worker_arm(u->worker) == UCS_OK;
}

// --- Opening and closing

static bool ucx_open_failed(const char *step, ucs_status_t status, char error_detail[GOMPI_NET_ERROR_BYTES]) {
	snprintf(error_detail, GOMPI_NET_ERROR_BYTES, "%s of UCX failed: %s", step, gompi_ucp.status_string(status));
	return false;
}

// Registers the handlers of active messages.
static ucs_status_t set_handlers(struct gompi_ucx_state *u) {
	static const struct {
		ucp_am_recv_callback_t handler;
		void (*function)(struct gompi_ucx_peer *p, const char *data, size_t bytes); // called by on_control
	} handlers[UCX_MESSAGES] = {[UCX_FRAME] = {on_frame, NULL},
				    [UCX_RKEY_REQUEST] = {on_control, gompi_ucx_on_rkey_request},
				    [UCX_RKEY_REPLY] = {on_control, gompi_ucx_on_rkey_reply}};
	ucs_status_t status = UCS_OK;
	for (unsigned i = 0; i < UCX_MESSAGES && status == UCS_OK; i++) {
		const ucp_am_handler_param_t p = {
			.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
				      UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG,
			.id = i,
			.flags = UCP_AM_FLAG_WHOLE_MSG | UCP_AM_FLAG_PERSISTENT_DATA,
			.cb = handlers[i].handler,
			.arg = (void *)handlers[i].function};
		status = gompi_ucp.worker_set_am_recv_handler(u->worker, &p);
	}
	return status;
}

// Stores the address of the worker, behind its length.
static bool get_address(const struct gompi_ucx_state *u, struct gompi_net_endpoint *e,
			char error_detail[GOMPI_NET_ERROR_BYTES]) {
	ucp_address_t *address;
	size_t bytes;
	const ucs_status_t status = gompi_ucp.worker_get_address(u->worker, &address, &bytes);
	if (status != UCS_OK)
		return ucx_open_failed("the address", status, error_detail);
	const uint16_t length = (uint16_t)bytes;
	const bool fits = bytes <= sizeof e->address - sizeof length;
	if (fits) {
		memcpy(e->address, &length, sizeof length);
		memcpy(e->address + sizeof length, address, bytes);
	} else {
		snprintf(error_detail, GOMPI_NET_ERROR_BYTES,
			 "the address of this process for UCX has %zu bytes, but at most %zu are supported: restrict "
			 "the devices with UCX_NET_DEVICES",
			 bytes, sizeof e->address - sizeof length);
	}
	gompi_ucp.worker_release_address(u->worker, address);
	return fits;
}

static bool ucx_open(const struct gompi_provider *provider, struct gompi_net_endpoint *e,
		     char error_detail[GOMPI_NET_ERROR_BYTES]) {
	struct gompi_ucx_state *u = &gompi_ucx_state;
	if (!gompi_ucx_load(error_detail))
		return false;
	if (provider->version != ucx_version()) {
		snprintf(error_detail, GOMPI_NET_ERROR_BYTES,
			 "rank 0 uses UCX %u.%u, this process UCX %u.%u: install the same UCX on all nodes",
			 provider->version >> 16, provider->version & 0xffff, ucx_version() >> 16,
			 ucx_version() & 0xffff);
		return false;
	}
	ucs_status_t status = gompi_ucx_open_context(&u->context);
	if (status != UCS_OK)
		return ucx_open_failed("the context", status, error_detail);
	const ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
					    .thread_mode = UCS_THREAD_MODE_SERIALIZED};
	status = gompi_ucp.worker_create(u->context, &params, &u->worker);
	if (status == UCS_OK)
		status = gompi_ucp.worker_get_efd(u->worker, &u->fd);
	if (status == UCS_OK)
		status = set_handlers(u);
	if (status != UCS_OK)
		return ucx_open_failed("the worker", status, error_detail);
	*e = (struct gompi_net_endpoint){.address_bytes = GOMPI_ADDRESS_BYTES,
					 .fd = u->fd,
					 .message_bytes = 1 << 30,
					 .max_op_bytes = 1 << 30,
					 .has_rdma = has_ucx_device()};
	return get_address(u, e, error_detail);
}

static bool ucx_begin(const struct gompi_net_job *job, const struct gompi_net_events *events,
		      char error_detail[GOMPI_NET_ERROR_BYTES]) {
	struct gompi_ucx_state *u = &gompi_ucx_state;
	const size_t size = (size_t)job->size, capacity = size + (size_t)job->max_added;
	u->addresses = malloc(capacity * GOMPI_ADDRESS_BYTES); // untouched pages use no memory
	u->peers = calloc(capacity, sizeof *u->peers);
	if (!gompi_message_names_open(&u->names, job) || u->addresses == NULL || u->peers == NULL) {
		snprintf(error_detail, GOMPI_NET_ERROR_BYTES, "out of memory for the addresses of the processes");
		return false;
	}
	memcpy(u->addresses, job->addresses, size * GOMPI_ADDRESS_BYTES);
	u->peer_count = job->size;
	u->events = events;
	u->arrivals_end = &u->arrivals;
	return true;
}

static enum gompi_net_error ucx_add(const struct gompi_net_foreign *f) {
	struct gompi_ucx_state *u = &gompi_ucx_state;
	if (f->address_bytes != GOMPI_ADDRESS_BYTES)
		return NET_FAILED;
	memcpy(u->addresses + (size_t)f->peer * GOMPI_ADDRESS_BYTES, f->address, GOMPI_ADDRESS_BYTES);
	if (u->peer_count <= f->peer)
		u->peer_count = f->peer + 1;
	gompi_message_names_add(&u->names, f);
	return NET_SUCCESS;
}

static void ucx_close(void) {
	enum { CLOSE_NS = 1000000000 }; // limit for a network that does not complete its operations
	struct gompi_ucx_state *u = &gompi_ucx_state;
	const int64_t end = gompi_now_ns() + CLOSE_NS;
	for (int i = 0; i < u->peer_count; i++) {
		struct gompi_ucx_peer *p = u->peers[i];
		void *request = NULL;
		if (p != NULL) {
			p->has_failed = true; // on_peer_error reports nothing more
			request = gompi_ucx_close_endpoint(p);
		}
		while (request != NULL && gompi_ucp.request_check_status(request) == UCS_INPROGRESS &&
		       gompi_now_ns() < end)
			gompi_ucp.worker_progress(u->worker);
		if (request != NULL)
			gompi_ucp.request_free(request);
	}
	while (u->arrivals != NULL) {
		struct gompi_ucx_arrival *a = next_arrival();
		gompi_ucp.am_data_release(u->worker, a->data);
		free(a);
	}
	for (int i = 0; i < u->peer_count; i++)
		if (u->peers[i] != NULL) {
			gompi_ucx_free_rkeys(u->peers[i]);
			free(u->peers[i]);
		}
	gompi_ucx_free_memory();
	gompi_ucp.worker_destroy(u->worker);
	gompi_ucp.cleanup(u->context);
	gompi_completions_clear(&u->completions);
	free(u->addresses);
	free(u->peers);
	gompi_message_names_close(&u->names);
	*u = (struct gompi_ucx_state){.fd = -1};
}

const struct gompi_net_ops gompi_ucx_ops = {.name = "ucx",
					    .choose = ucx_choose,
					    .list = ucx_list,
					    .open = ucx_open,
					    .begin = ucx_begin,
					    .add = ucx_add,
					    .close = ucx_close,
					    .send = ucx_send,
					    .post_receive = ucx_post_receive,
					    .read = gompi_ucx_read,
					    .write = gompi_ucx_write,
					    .register_memory = gompi_ucx_register,
					    .unregister_memory = gompi_ucx_unregister,
					    .poll = ucx_poll,
					    .arm = ucx_arm};
