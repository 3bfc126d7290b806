// Peers and their endpoints.
#include <stdlib.h>
#include <string.h>

#include "ucx/state.h"

struct gompi_ucx_state gompi_ucx_state = {.fd = -1};

enum gompi_net_error gompi_ucx_error(ucs_status_t status) {
	switch (status) {
	case UCS_OK:
		return NET_SUCCESS;
	case UCS_ERR_NO_MEMORY:
		return NET_NO_MEM;
	case UCS_ERR_NO_RESOURCE:
		return NET_AGAIN;
	case UCS_ERR_UNREACHABLE:
	case UCS_ERR_CANCELED:
	case UCS_ERR_TIMED_OUT:
	case UCS_ERR_NOT_CONNECTED:
	case UCS_ERR_CONNECTION_RESET:
	case UCS_ERR_ENDPOINT_TIMEOUT:
	case UCS_ERR_IO_ERROR:
	case UCS_ERR_REJECTED:
		return NET_PEER_FAILED;
	default:
		return NET_FAILED;
	}
}

void gompi_ucx_peer_fail(struct gompi_ucx_peer *p) {
	if (p->has_failed)
		return;
	p->has_failed = true;
	p->next_failed = gompi_ucx_state.failed_peers;
	gompi_ucx_state.failed_peers = p;
	gompi_ucx_state.events->on_failed(p->number);
}

static void on_peer_error(void *arg, ucp_ep_h ep, ucs_status_t status) { gompi_ucx_peer_fail(arg); }

struct gompi_ucx_peer *gompi_ucx_peer(int number, enum gompi_net_error *error) {
	struct gompi_ucx_state *u = &gompi_ucx_state;
	struct gompi_ucx_peer *p = u->peers[number];
	if (p == NULL) {
		*error = NET_NO_MEM;
		p = calloc(1, sizeof *p);
		if (p == NULL)
			return NULL;
		p->number = number;
		const char *address = u->addresses + (size_t)number * GOMPI_ADDRESS_BYTES + sizeof(uint16_t);
		const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
							      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
							      UCP_EP_PARAM_FIELD_ERR_HANDLER,
						.address = (const ucp_address_t *)(const void *)address,
						.err_mode = UCP_ERR_HANDLING_MODE_PEER,
						.err_handler = {on_peer_error, p}};
		const ucs_status_t status = gompi_ucp.ep_create(u->worker, &params, &p->ep);
		if (status != UCS_OK) {
			free(p);
			*error = gompi_ucx_error(status);
			return NULL;
		}
		u->peers[number] = p;
	}
	*error = NET_PEER_FAILED;
	return p->has_failed ? NULL : p;
}

void *gompi_ucx_close_endpoint(struct gompi_ucx_peer *p) {
	const ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
	ucs_status_ptr_t r = p->ep != NULL ? gompi_ucp.ep_close_nbx(p->ep, &force) : NULL;
	p->ep = NULL;
	return UCS_PTR_IS_PTR(r) ? r : NULL;
}

static void on_control_done(void *request, ucs_status_t status, void *user_data) {
	gompi_ucp.request_free(request);
	free(user_data);
}

bool gompi_ucx_send_control(struct gompi_ucx_peer *p, unsigned id, const void *data, size_t bytes) {
	const struct gompi_ucx_state *u = &gompi_ucx_state;
	const size_t head_bytes = sizeof(struct gompi_message_head);
	char *copy = malloc(head_bytes + bytes);
	if (copy == NULL)
		return false;
	memcpy(copy + head_bytes, data, bytes);
	gompi_message_head_write(copy + head_bytes, bytes, p->number, &u->names);
	const ucp_request_param_t done = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
							  UCP_OP_ATTR_FIELD_FLAGS,
					  .flags = UCP_AM_SEND_FLAG_EAGER,
					  .cb.send = on_control_done,
					  .user_data = copy};
	ucs_status_ptr_t r = gompi_ucp.am_send_nbx(p->ep, id, copy, head_bytes, copy + head_bytes, bytes, &done);
	if (!UCS_PTR_IS_PTR(r))
		free(copy);
	return !UCS_PTR_IS_ERR(r);
}
