// Opens the network: chooses the provider, opens the endpoint, learns the addresses of the peers. core/fabric calls
// these in this order.
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

// Chooses the provider for the job: "tcp" is gompirma's own (tcp/), all others are libfabric's. wanted is the name that
// the user has given, or NULL. Returns false, and the reason in error_detail, if no provider can be used.
bool gompi_net_choose(const char *wanted, struct gompi_provider *chosen, char error_detail[GOMPI_FABRIC_ERROR_BYTES]);

// Lists gompirma's own provider and those of libfabric on this machine, in libfabric's order, and why each is chosen or
// not. wanted is as in gompi_net_choose. Returns the number of entries, at most capacity; error_detail is not empty if
// none can be used.
struct gompi_candidate {
	struct gompi_provider provider;
	bool is_chosen;
	const char *explanation;
};
int gompi_net_candidates(const char *wanted, struct gompi_candidate *list, int capacity,
			 char error_detail[GOMPI_FABRIC_ERROR_BYTES]);

// Opens an endpoint of that provider. Returns its address, of *length bytes, under which peers reach it. Writes to host
// the data that is the same for all processes of the host. One process of each node publishes this data; it may be
// empty.
bool gompi_net_open(const struct gompi_provider *provider, char address[GOMPI_ADDRESS_BYTES], size_t *length,
		    char host[GOMPI_HOST_DATA_BYTES], size_t *host_length, char error_detail[GOMPI_FABRIC_ERROR_BYTES]);

// The job. Arrays by rank are copied.
struct gompi_net_job {
	int size, rank;
	const char *addresses; // by rank, address_bytes each
	size_t address_bytes;
	int nodes;
	const char *hosts;            // published data of all nodes
	const uint32_t *host_offsets; // nodes + 1: offsets in hosts; the data of node i ends at host_offsets[i + 1]
	const int32_t *node_of;       // node numbers by rank, from 0
	uint64_t secret[2];
	int64_t timeout_ns; // see gompi_health_open
};

// Sets the addresses of all processes and opens the network to the threads of this process.
bool gompi_net_begin(const struct gompi_net_job *job, char error_detail[GOMPI_FABRIC_ERROR_BYTES]);

// Closes the network. The caller ensures that no thread of this process uses it, and that no process waits for this
// one.
void gompi_net_end(void);

#pragma GCC visibility pop
#endif
