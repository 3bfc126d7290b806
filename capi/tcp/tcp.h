// TCP between the processes of a job. The address of a peer is the port of its process and the addresses of its host.
//
// This network makes a connection when a process has something to send. Either side may connect, to any address of the
// other host that answers. Both sides prove that they know the job's secret, so messages carry no authentication code.
#ifndef GOMPI_TCP_H
#define GOMPI_TCP_H

#include "base/atomics.h"
#include "net/net_ops.h"

#pragma GCC visibility push(hidden)

enum {
	GOMPI_TCP_PORT_BYTES = 2, // bytes of the data that a process publishes: its port
	GOMPI_TCP_VERSION = 3,    // version of the protocol
};

// The environment variables GOMPIRMA_INTERFACE and GOMPIRMA_PORTS restrict the addresses and ports.
extern const struct gompi_net_ops gompi_tcp_ops;

// Writes the reason why a peer cannot be reached: both ranks and hosts, and for each address its port and the system's
// error. Writes an empty text if no error is known.
void gompi_tcp_error_detail(int peer, char *text, size_t bytes);

// Counters for tests, debugging and tools.
struct gompi_tcp_counts {
	gompi_a64 failed_connects; // attempts to connect to an address that have failed
	uint64_t connected, accepted, crossed_requests, unauth_closed, idle_closed;
	int open_links; // number of open links, each with a descriptor
};
extern struct gompi_tcp_counts gompi_tcp_counts;

#pragma GCC visibility pop
#endif
