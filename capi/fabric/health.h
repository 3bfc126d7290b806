// Failure detection. A network need not report a dead process or a cut link, so processes probe each other.
//
// Every 750 ms, or every eighth of the timeout if that is less, the lowest living process of each node probes the
// lowest living process of the next node. A process that waits for a peer also probes that peer. The peer's progress
// thread replies. A process declares a peer failed if the peer does not reply for too long, or if its connection has
// ended. If the silent peer is the lowest process of its node, up to three other processes of the node are probed. If
// none of these replies, the whole node is declared failed, else only the silent peer. Processes of one node detect
// each other's failures directly.
//
// The first process of a node that learns of a failure notifies some other nodes, which forward the report. Then all
// waits in the job that depend on the failed process return an error. For each failure, a node sends reports to at most
// log2(nodes) nodes, rounded up.
#ifndef GOMPI_FABRIC_HEALTH_H
#define GOMPI_FABRIC_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Starts failure detection. A peer is declared failed after `timeout` ns of silence, or never if `timeout` is 0.
// Returns false if out of memory.
bool gompi_health_open(int64_t timeout);

// Notes that all processes of the job have called MPI_Finalize. This process continues failure detection for a session.
void gompi_health_job_finalized(void);
// Stops failure detection, before the processes of the job end. After this call no peer is declared failed.
void gompi_health_stop(void);
// Notifies processes of other jobs that all processes of this job have called MPI_Finalize: those in the list `to`, and
// all with which this process has exchanged frames. Notifies each process once. Does not wait.
void gompi_health_notify_finalize(const int32_t *to, int n);
// Notifies the processes of this job with which this process has exchanged frames that this process ends after
// MPI_Finalize. Does not wait.
void gompi_health_notify_end(void);

// Runs the checks that are due at the time `now` (ns). Returns the time of the next checks, when the progress thread
// must call it again.
int64_t gompi_health_tick(int64_t now);

// Returns the lowest rank that has not failed on the node whose number is `ahead` higher than this node's, modulo the
// number of nodes. Returns -1 if all processes of that node have failed, or if that node is this process' node.
// gompi_health_node_count returns the number of nodes.
int gompi_health_lowest_rank(int ahead);
int gompi_health_node_count(void);
// Returns true if this process is the lowest living process of its node.
bool gompi_health_is_lowest(void);
#pragma GCC visibility pop
#endif
