// Connections that can be made in one direction only: a process that cannot connect to a peer asks the peer to connect
// to it.
//
// The process writes the request into its cell. The lowest process of its node forwards the request from node to node,
// to the peer's node. There it is written into the peer's cell. The lowest processes of neighbouring nodes try to
// connect in both directions. So the request finds a path if of each two neighbours one can connect to the other.
#ifndef GOMPI_FABRIC_CALL_H
#define GOMPI_FABRIC_CALL_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

// Initializes. Called before the network is open, after gompi_health_open.
void gompi_call_open(void);

// Requests that the peer connect to this process. The caller holds gompi_net.lock. May be repeated.
void gompi_call_for(int peer);

// Forwards pending requests, periodically. Called by the progress thread.
void gompi_call_tick(int64_t now);

#pragma GCC visibility pop
#endif
