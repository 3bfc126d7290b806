// Failure detection. A network reports neither a dead process nor a cut link, so processes ask each other.
//
// The lowest living process of each node asks that of the next node every 750 ms. A process that waits for a peer to
// receive something asks that peer too. The peer's progress thread answers. A peer is declared failed if it does not
// answer for too long, or if its connection has ended. If it is the lowest of its node and three other processes of the
// node are silent too, the whole node is declared failed. Processes of one node detect each other's failures directly.
// The first process of a node that learns of a failure notifies some other nodes, which forward the report. Then all
// waits of the job end; each node sends at most log2(nodes) messages.
#ifndef GOMPI_FABRIC_HEALTH_H
#define GOMPI_FABRIC_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Starts failure detection. timeout: nanoseconds of silence after which a peer is declared failed; 0 if silence never
// is a failure. Returns false if out of memory.
bool gompi_health_open(int64_t timeout);

// Stops failure detection: from now on all processes end, and no peer is declared failed.
void gompi_health_stop(void);

// Runs the checks that are due at time now (ns), and returns the time of the next call. Called by the progress thread.
int64_t gompi_health_tick(int64_t now);

// gompi_health_lowest_rank returns the lowest living process of the node `ahead` places after this one; -1 if no
// process lives there, or if it is this node. gompi_health_node_count returns the number of nodes.
int gompi_health_lowest_rank(int ahead);
int gompi_health_node_count(void);
// Returns true if this process is the lowest living one of its node.
bool gompi_health_is_lowest(void);
#pragma GCC visibility pop
#endif
