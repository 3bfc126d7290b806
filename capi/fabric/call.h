// Where connections can be made in one direction only: who cannot reach a peer has it asked to connect.
//
// It says so in its cell. The lowest process of its node sends that from node to node until the peer's has it, and
// there it is put into the peer's cell. The lowest of neighbouring nodes try to connect to each other, both ways, so
// that this has a way wherever one of two can reach the other.
#ifndef GOMPI_FABRIC_CALL_H
#define GOMPI_FABRIC_CALL_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

// Before the network is open, after gompi_health_open.
void gompi_call_open(void);

// This process cannot connect to a peer. Under the lock of the net; may be said again.
void gompi_call_for(int peer);

// The progress thread's: passes on what there is, now and then.
void gompi_call_tick(int64_t now);

#pragma GCC visibility pop
#endif
