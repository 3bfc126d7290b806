// The state of the network on libfabric.
#ifndef GOMPI_OFI_STATE_H
#define GOMPI_OFI_STATE_H

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "net/key_table.h"
#include "net/message_head.h"
#include "net/net_ops.h"

#pragma GCC visibility push(hidden)

// Memory that peers access.
struct gompi_ofi_memory {
	struct gompi_key_entry entry; // entry of the table gompi_ofi_state.memory
	struct fid_mr *mr;
};

struct gompi_net_local {
	struct fid_mr *mr;
	struct gompi_net_local *next, *prev; // list of all
};

struct gompi_ofi_state {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep; // a single endpoint reaches all peers
	int fd;            // readable if cq has completions; -1 if the provider has no descriptor
	struct gompi_message_names names;
	char *addresses; // addresses by peer, of address_bytes each
	size_t address_bytes;
	fi_addr_t *peer; // by peer: entry of av; FI_ADDR_NOTAVAIL if the peer has not been inserted
	struct gompi_key_table memory;
	struct gompi_net_local *locals;
};
extern struct gompi_ofi_state gompi_ofi_state;

#pragma GCC visibility pop
#endif
