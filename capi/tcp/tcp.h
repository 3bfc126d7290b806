// TCP between the processes of a job, with the interface of a provider of libfabric: one endpoint that reaches all
// others, whose addresses are their ranks; messages to places that have been posted, reads and writes of registered
// memory, one completion queue with a descriptor. libfabric itself is not needed.
//
// Connections are made when something is to be sent, from whichever side can, over whichever of the host's addresses
// answers; both sides prove that they know the job's secret. One at a time calls what is here and the objects that it
// makes, under a lock of the caller's.
#ifndef GOMPI_TCP_H
#define GOMPI_TCP_H

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum {
	GOMPI_TCP_PORT = 2,    // bytes of what a process publishes about itself: its port
	GOMPI_TCP_HOST = 256,  // the most bytes of what one of its host does: addresses
	GOMPI_TCP_TEXT = 1000, // bytes of texts
	GOMPI_TCP_VERSION = 1, // of what is sent
};

// What the caller is told, under its lock.
struct gompi_tcp_events {
	// The connection to a peer that had been open has ended without a word: its process has, or its network.
	void (*lost)(int peer);
	// No address of the peer can be reached, and each said so, for long: see gompi_tcp_why.
	void (*unreachable)(int peer);
	// This process has tried a peer in vain for a second: let the peer be asked to connect. Again and again.
	void (*call)(int peer);
	// Writes the name of the host of a peer.
	void (*host)(int peer, char *name, int bytes);
};

struct gompi_tcp {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_cq *cq;
	struct fid_ep *ep;
	int fd; // readable when there is something to do, fi_trywait permitting
};

// Opens what others connect to. GOMPIRMA_INTERFACE and GOMPIRMA_PORTS of the environment say where it may be. Writes
// what is to be published: the port, and what is the same for all processes of a host. false: why says why.
bool gompi_tcp_open(struct gompi_tcp *t, char port[GOMPI_TCP_PORT], char host[GOMPI_TCP_HOST], size_t *host_bytes,
		    char *why, size_t why_bytes);

// Who is where: ports by rank; what hosts have published, by node, the i-th at host_at[i] to host_at[i + 1]. Copied,
// but for events. false: there is no memory.
struct gompi_tcp_job {
	int size, rank, nodes;
	const char *ports;
	const char *hosts;
	const uint32_t *host_at;
	const int32_t *node_of;
	uint64_t secret[2];
	int64_t timeout; // nanoseconds; 0: nobody is given up
	const struct gompi_tcp_events *events;
};
bool gompi_tcp_begin(const struct gompi_tcp_job *job);

// Closes all.
void gompi_tcp_end(void);

// Connects to a peer though there is nothing to send: it has asked for that.
void gompi_tcp_reach(int peer);

// Returns true if no address of the peer has a process behind it any longer: each has refused since the last
// connection ended.
bool gompi_tcp_refused(int peer);

// Writes why a peer cannot be reached: who, from where, each address with its port and what the system answered. An
// empty text if nothing is known to be wrong.
void gompi_tcp_why(int peer, char *text, size_t bytes);

// Lists the addresses that this process would publish, the first to be tried first, one a line: address, interface,
// what it is. false: text says what is wrong.
bool gompi_tcp_addresses(char *text, size_t bytes);

// Counters, for the tests and for who looks for an error.
struct gompi_tcp_counts {
	uint64_t connected, accepted, crossed, strangers, idle;
	int links; // descriptors in use
};
extern struct gompi_tcp_counts gompi_tcp_counts;

#pragma GCC visibility pop
#endif
