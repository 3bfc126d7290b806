// Opening the network: which provider, the endpoint, where the others are. core/fabric does it, in this order.
#ifndef GOMPI_FABRIC_OPEN_H
#define GOMPI_FABRIC_OPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/load.h"

#pragma GCC visibility push(hidden)

// Bytes of a provider's name, of an address, of what processes of a host have in common of theirs.
enum { GOMPI_PROVIDER = 64, GOMPI_ADDRESS = 256, GOMPI_HOST = 256 };

struct gompi_provider {
	char name[GOMPI_PROVIDER];
	uint32_t version;
};

// Chooses the provider for the job: "tcp" is gompirma's own (tcp/), all others are libfabric's. wanted: the name that
// the user has given, NULL: none. false: why says why none can be had.
bool gompi_net_choose(const char *wanted, struct gompi_provider *chosen, char why[GOMPI_FABRIC_TEXT]);

// The own one and what libfabric has here, in its order, and why each is taken or not; wanted as above. Returns how
// many there are, at most so many; why is not empty if none can be taken.
struct gompi_candidate {
	struct gompi_provider provider;
	bool taken;
	const char *why;
};
int gompi_net_candidates(const char *wanted, struct gompi_candidate *list, int most, char why[GOMPI_FABRIC_TEXT]);

// Opens an endpoint of that provider, which others reach at an address of *length bytes, and what is the same for all
// processes of the host, which one of each node publishes: may be nothing.
bool gompi_net_open(const struct gompi_provider *provider, char address[GOMPI_ADDRESS], size_t *length,
		    char host[GOMPI_HOST], size_t *host_length, char why[GOMPI_FABRIC_TEXT]);

// The job: what is by rank is copied.
struct gompi_net_job {
	int size, rank;
	const char *addresses; // of address_bytes each
	size_t address_bytes;
	int nodes;
	const char *hosts;       // what has been published of each, the i-th at host_at[i] to host_at[i + 1]
	const uint32_t *host_at; // nodes + 1 of them
	const int32_t *node_of;  // numbers of the nodes, from 0
	uint64_t secret[2];
	int64_t timeout; // nanoseconds: gompi_health_open
};

// Says who is where. The network is open afterwards.
bool gompi_net_begin(const struct gompi_net_job *job, char why[GOMPI_FABRIC_TEXT]);

// Closes it. No thread of this process uses it any longer, and nobody waits for anything of this process.
void gompi_net_end(void);

#pragma GCC visibility pop
#endif
