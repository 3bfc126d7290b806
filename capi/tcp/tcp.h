// TCP between the processes of a job, with the interface of a libfabric provider. One endpoint reaches all peers, whose
// addresses are their ranks. It offers messages into posted receive buffers, reads and writes of registered memory, and
// one completion queue with a descriptor. libfabric itself is not needed.
//
// Connections are made when something is to be sent, by whichever side can connect, over whichever address of the host
// answers. Both sides prove that they know the job's secret. The functions below, and those of the objects that
// gompi_tcp_open returns, are called by one thread at a time, under a lock of the caller.
#ifndef GOMPI_TCP_H
#define GOMPI_TCP_H

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum {
	GOMPI_TCP_PORT_BYTES = 2,     // bytes of the data that a process publishes: its port
	GOMPI_TCP_HOST_BYTES = 256,   // maximum bytes of the data that a host publishes: its addresses
	GOMPI_TCP_ERROR_BYTES = 1000, // bytes of error texts
	GOMPI_TCP_VERSION = 1,        // of the protocol
};

// Event callbacks, called under the caller's lock.
struct gompi_tcp_events {
	// An open connection to a peer has ended unexpectedly: the process or its network has failed.
	void (*on_failed)(int peer);
	// This process stops trying to reach the peer: for a long time no address of it could be reached. See
	// gompi_tcp_error_detail.
	void (*on_unreachable)(int peer);
	// This process has tried unsuccessfully for a second to connect: the peer should be asked to connect. Called
	// repeatedly.
	void (*on_connect_back)(int peer);
	// Writes the host name of a peer.
	void (*host_name)(int peer, char *name, int bytes);
};

struct gompi_tcp {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_cq *cq;
	struct fid_ep *ep;
	int fd; // readable when there is work, provided that fi_trywait has allowed sleeping
};

// Opens the listening side. The environment variables GOMPIRMA_INTERFACE and GOMPIRMA_PORTS restrict addresses and
// ports. Writes the data to publish: the port, and the data that is the same for all processes of a host. Returns
// false, and the reason in error_detail, on failure.
bool gompi_tcp_open(struct gompi_tcp *t, char port[GOMPI_TCP_PORT_BYTES], char host[GOMPI_TCP_HOST_BYTES],
		    size_t *host_bytes, char *error_detail, size_t error_bytes);

// Sets the addresses of all processes: ports by rank; published host data by node, that of node i at host_offsets[i] to
// host_offsets[i + 1]. Copies all of it except events. Returns false if out of memory.
struct gompi_tcp_job {
	int size, rank, nodes;
	const char *ports;
	const char *hosts;
	const uint32_t *host_offsets;
	const int32_t *node_of;
	uint64_t secret[2];
	int64_t timeout_ns; // 0 if no peer is ever given up
	const struct gompi_tcp_events *events;
};
bool gompi_tcp_begin(const struct gompi_tcp_job *job);

// Closes all connections and frees all state.
void gompi_tcp_end(void);

// Connects to a peer without anything to send, because the peer has asked for it.
void gompi_tcp_connect(int peer);

// Returns true if no process listens at any address of the peer any more: each has refused since the last connection
// ended.
bool gompi_tcp_is_refused(int peer);

// Writes why a peer cannot be reached: both processes and hosts, each address with its port, and the system's error.
// Writes an empty text if no error is known.
void gompi_tcp_error_detail(int peer, char *text, size_t bytes);

// Lists the addresses that this process would publish, in the order in which peers try them, one per line: address,
// interface, kind. Returns false, and the reason in text, on failure.
bool gompi_tcp_addresses(char *text, size_t bytes);

// Counters for tests and debugging.
struct gompi_tcp_counts {
	uint64_t connected, accepted, crossed_requests, unauth_closed, idle_closed;
	int open_links; // descriptors in use
};
extern struct gompi_tcp_counts gompi_tcp_counts;

#pragma GCC visibility pop
#endif
