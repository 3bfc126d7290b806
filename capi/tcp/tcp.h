// A TCP provider for the processes of a job, with the interface of a libfabric provider but without libfabric. One
// endpoint reaches all peers; the address of a peer is its rank. The provider offers messages into posted receive
// buffers, reads and writes of registered memory, and one completion queue with a file descriptor.
//
// The provider makes a connection when a process has something to send. Either side may connect, to any address of the
// other host that answers. Both sides prove that they know the job's secret. The callers use a lock so that only one
// thread at a time calls the functions below and the functions of the objects that gompi_tcp_open returns.
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
	GOMPI_TCP_VERSION = 1,        // version of the protocol
};

// Event callbacks. The provider calls them inside the functions below, so the thread holds the lock of the callers.
struct gompi_tcp_events {
	// An open connection to a peer has ended unexpectedly, because the process or its network has failed.
	void (*on_failed)(int peer);
	// This process stops trying to reach the peer, because it has been unable to connect to any address of the peer
	// for a long time. gompi_tcp_error_detail has the reasons.
	void (*on_unreachable)(int peer);
	// This process has tried to connect for a second without success, so the callback should request that the peer
	// connect instead. Called again at each further attempt.
	void (*on_connect_back)(int peer);
	// Writes the host name of a peer, for messages, to `name`, which has `bytes` bytes.
	void (*host_name)(int peer, char *name, int bytes);
};

struct gompi_tcp {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_cq *cq;
	struct fid_ep *ep;
	int fd; // readable when there is work; to be polled only after fi_trywait has returned 0
};

// Opens the endpoint and begins to listen. The environment variables GOMPIRMA_INTERFACE and GOMPIRMA_PORTS restrict the
// addresses and ports. Writes the data that must be published: the port of this process to `port`, and the data of the
// host, equal for all its processes, to `host`. On failure returns false and writes the reason to error_detail.
bool gompi_tcp_open(struct gompi_tcp *t, char port[GOMPI_TCP_PORT_BYTES], char host[GOMPI_TCP_HOST_BYTES],
		    size_t *host_bytes, char *error_detail, size_t error_bytes);

// The job, for gompi_tcp_begin. The arrays `ports` and node_of are indexed by rank. The array `hosts` contains the
// published host data of node i at the offsets host_offsets[i] to host_offsets[i + 1].
struct gompi_tcp_job {
	int size, rank, nodes;
	const char *ports;
	const char *hosts;
	const uint32_t *host_offsets;
	const int32_t *node_of;
	uint64_t secret[2];
	int64_t timeout_ns; // time after which a peer counts as unreachable; 0 if it never does
	const struct gompi_tcp_events *events;
};
// Stores the addresses of all processes. Copies all data of the job except *events. Returns false if out of memory.
bool gompi_tcp_begin(const struct gompi_tcp_job *job);

// Closes all connections and frees all state.
void gompi_tcp_end(void);

// Connects to a peer although there is nothing to send, because the peer has requested it.
void gompi_tcp_connect(int peer);

// Returns true if no process listens for the peer: since the last connection ended, attempts to connect to the peer's
// addresses have been refused.
bool gompi_tcp_is_refused(int peer);

// Writes the reason why a peer cannot be reached: both ranks and hosts, and for each address its port and the system's
// error. Writes an empty text if no error is known.
void gompi_tcp_error_detail(int peer, char *text, size_t bytes);

// Writes to `text` the addresses that this process would publish. Peers try them in the order of the lines. Each line
// has an address, its interface and its kind, separated by tabs. On failure returns false and writes the reason to
// text.
bool gompi_tcp_addresses(char *text, size_t bytes);

// Counters for tests and debugging.
struct gompi_tcp_counts {
	uint64_t connected, accepted, crossed_requests, unauth_closed, idle_closed;
	int open_links; // number of open links, each with a descriptor
};
extern struct gompi_tcp_counts gompi_tcp_counts;

#pragma GCC visibility pop
#endif
