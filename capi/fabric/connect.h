// Connections, for providers whose endpoints are connected one to one: libfabric's tcp.
#ifndef GOMPI_FABRIC_CONNECT_H
#define GOMPI_FABRIC_CONNECT_H

#include <stdbool.h>
#include <stddef.h>

#include "fabric/peer.h"

#pragma GCC visibility push(hidden)

// Makes what others connect to, and its address; 0, or an error of libfabric. The net has a domain and a queue.
int gompi_connect_open(char *address, size_t *length);
// Closes it and all connections, under the lock of the net.
void gompi_connect_close(void);

// Whether p can be given something, under the lock of the net: 0; -FI_EAGAIN: not yet, a connection is under way;
// -FI_ENOTCONN: it has had one that has ended.
int gompi_connect(struct gompi_peer *p);
static inline int gompi_connected(struct gompi_peer *p) {
	return __builtin_expect(p->connection == GOMPI_OPEN, 1) ? 0 : gompi_connect(p);
}

// Takes what has become of connections, and those that others ask for. Whether there was anything.
bool gompi_connections_serve(void);
// Whether this process waits for one.
bool gompi_connections_wait(void);

#pragma GCC visibility pop
#endif
