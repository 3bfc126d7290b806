// Opens the network. core/fabric calls three functions in this order. gompi_net_choose chooses the provider,
// gompi_net_open opens the endpoint, and gompi_net_begin gets the addresses of all processes.
#ifndef GOMPI_FABRIC_OPEN_H
#define GOMPI_FABRIC_OPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/libfabric.h"

#pragma GCC visibility push(hidden)

// Bytes of a provider's name, of an address, and of the address data that all processes of a host share.
enum { GOMPI_PROVIDER_NAME_BYTES = 64, GOMPI_ADDRESS_BYTES = 256, GOMPI_HOST_DATA_BYTES = 256 };

struct gompi_provider {
	char name[GOMPI_PROVIDER_NAME_BYTES];
	uint32_t version;
};

// Chooses the provider for the job. The provider "tcp" is gompirma's own (tcp/); all other providers belong to
// libfabric. The argument `wanted` is the name that the user has given, or NULL. If no provider can be used, returns
// false and writes the reason to error_detail.
bool gompi_net_choose(const char *wanted, struct gompi_provider *chosen, char error_detail[GOMPI_FABRIC_ERROR_BYTES]);

// A provider that gompi_net_candidates lists, and why it is chosen or not.
struct gompi_candidate {
	struct gompi_provider provider;
	bool is_chosen;
	const char *explanation;
};
// Lists gompirma's own provider, then libfabric's providers on this machine in libfabric's order. The argument `wanted`
// is as in gompi_net_choose. Returns the number of entries, at most capacity. Writes a reason to error_detail if no
// provider can be used, else an empty string.
int gompi_net_candidates(const char *wanted, struct gompi_candidate *list, int capacity,
			 char error_detail[GOMPI_FABRIC_ERROR_BYTES]);

// Opens an endpoint of the provider. Stores the address by which peers reach the endpoint in `address`, and the length
// of this address in *length. Stores in the array `host` the address data that all processes of this host share. This
// data may be empty, and one process of each node publishes it. On failure returns false and writes the reason to
// error_detail.
bool gompi_net_open(const struct gompi_provider *provider, char address[GOMPI_ADDRESS_BYTES], size_t *length,
		    char host[GOMPI_HOST_DATA_BYTES], size_t *host_length, char error_detail[GOMPI_FABRIC_ERROR_BYTES]);

// The job, as gompi_net_begin receives it. gompi_net_begin copies the arrays that are indexed by rank.
struct gompi_net_job {
	int size, rank;
	const char *addresses; // by rank, address_bytes each
	size_t address_bytes;
	int nodes;
	const char *hosts; // published data of all nodes
	// nodes + 1 offsets in `hosts`: node i has the bytes from host_offsets[i] to host_offsets[i + 1]
	const uint32_t *host_offsets;
	const int32_t *node_of; // node numbers by rank, from 0
	uint64_t secret[2];
	int64_t timeout_ns; // see gompi_health_open
};

// Stores the addresses of all processes and opens the network for the threads of this process. On failure returns false
// and writes the reason to error_detail.
bool gompi_net_begin(const struct gompi_net_job *job, char error_detail[GOMPI_FABRIC_ERROR_BYTES]);

// Closes the network. The caller ensures that no thread of this process uses the network, and that no other process
// waits for this process.
void gompi_net_end(void);

#pragma GCC visibility pop
#endif
