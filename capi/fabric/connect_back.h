// Connections that can be made in one direction only: a process that cannot connect to a peer asks the peer to connect
// to it.
//
// The process writes the request into its cell. The lowest process of its node forwards the request from node to node,
// to the peer's node. There it is written into the peer's cell. The lowest processes of neighbouring nodes try to
// connect in both directions. So a request reaches the peer's node if, of each two neighbouring nodes, at least one can
// connect to the other.
#ifndef GOMPI_FABRIC_CONNECT_BACK_H
#define GOMPI_FABRIC_CONNECT_BACK_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

// Initializes. Called before the network is open, after gompi_health_open.
void gompi_connect_back_open(void);

// Requests that the peer connect to this process. The caller holds gompi_net.lock. May be repeated.
void gompi_connect_back_request(int peer);

// Forwards pending requests, periodically. Called by the progress thread.
void gompi_connect_back_tick(int64_t now);

#pragma GCC visibility pop
#endif
