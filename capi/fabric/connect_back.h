// Connections that can be made in one direction only: if a process cannot connect to a peer, it asks the peer to open
// the connection instead.
//
// The lowest process of a node is its living process with the lowest rank (health.h). A process writes its request into
// its cell. The lowest process of its node sends the request to the lowest process of the next node, and so on until
// the request reaches the peer's node. There the lowest process writes the request into the peer's cell. The lowest
// processes of neighbouring nodes try to connect in both directions. So a request reaches the peer's node if, of each
// two neighbouring nodes, at least one can connect to the other.
#ifndef GOMPI_FABRIC_CONNECT_BACK_H
#define GOMPI_FABRIC_CONNECT_BACK_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

// Registers the handler of FABRIC_CONNECT_BACK. Called after gompi_health_open, before the network is open.
void gompi_connect_back_open(void);

// Requests that the peer connect to this process. The caller holds gompi_net.lock, and may repeat the request.
void gompi_connect_back_request(int peer);

// Forwards the pending requests of this node and connects to the peers that request it, once per interval. The argument
// `now` is the time in ns. The progress thread calls this function.
void gompi_connect_back_tick(int64_t now);

#pragma GCC visibility pop
#endif
