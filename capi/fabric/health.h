// Who still lives. A network tells neither of a dead process nor of a cut link, so processes ask each other.
//
// The lowest living process of each node asks that of the next node every 750 ms, and whoever waits for a peer to take
// something asks it too. An answer comes from the peer's progress thread. A peer that does not answer for too long is
// lost, and all of its node if it is the lowest and three others of the node are silent too; so is one whose connection
// has ended. Processes of a node see each other's deaths. The first of a node to learn of one tells some other nodes,
// which tell on: all waits of the job end, for log2 of the nodes messages of each.
#ifndef GOMPI_FABRIC_HEALTH_H
#define GOMPI_FABRIC_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// timeout: nanoseconds of silence after which a peer is lost; 0: none is for that reason. false: there is no memory.
bool gompi_health_open(int64_t timeout);

// Nobody is lost from now on: all end.
void gompi_health_end(void);

// The progress thread's: does what is due at this time, and returns when something will be.
int64_t gompi_health_tick(int64_t now);

// The lowest living process of the node that is so many behind this one, -1: there is none, or it is this node. And the
// number of nodes.
int gompi_health_lowest(int ahead);
int gompi_health_nodes(void);
// Returns true if this process is the lowest living one of its node.
bool gompi_health_first(void);
#pragma GCC visibility pop
#endif
