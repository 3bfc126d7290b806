// The functions of UCX that this directory uses. UCX is loaded at run time.
#ifndef GOMPI_UCX_LIBRARY_H
#define GOMPI_UCX_LIBRARY_H

#include <ucp/api/ucp.h>

#include "net/net_ops.h"

#pragma GCC visibility push(hidden)

// The names of the functions without the prefix. The struct gompi_ucp has a pointer to each.
#define GOMPI_UCP_FUNCTIONS(F)        \
	F(get_version)                \
	F(config_read)                \
	F(config_release)             \
	F(init_version)               \
	F(cleanup)                    \
	F(worker_create)              \
	F(worker_destroy)             \
	F(worker_get_address)         \
	F(worker_release_address)     \
	F(worker_get_efd)             \
	F(worker_arm)                 \
	F(worker_progress)            \
	F(worker_set_am_recv_handler) \
	F(ep_create)                  \
	F(ep_close_nbx)               \
	F(ep_flush_nbx)               \
	F(am_send_nbx)                \
	F(am_recv_data_nbx)           \
	F(am_data_release)            \
	F(put_nbx)                    \
	F(get_nbx)                    \
	F(mem_map)                    \
	F(mem_unmap)                  \
	F(rkey_pack)                  \
	F(rkey_buffer_release)        \
	F(ep_rkey_unpack)             \
	F(rkey_destroy)               \
	F(request_check_status)       \
	F(request_free)

struct gompi_ucp {
#define GOMPI_UCP_POINTER(name) __typeof__(&ucp_##name) name;
	GOMPI_UCP_FUNCTIONS(GOMPI_UCP_POINTER)
#undef GOMPI_UCP_POINTER
	const char *(*status_string)(ucs_status_t status);
};
extern struct gompi_ucp gompi_ucp;

// Loads UCX if it is not loaded yet. On failure returns false and writes the reason to error_detail.
bool gompi_ucx_load(char error_detail[GOMPI_NET_ERROR_BYTES]);

// Opens the context of UCX, with settings for its environment.
ucs_status_t gompi_ucx_open_context(ucp_context_h *context);

#pragma GCC visibility pop
#endif
