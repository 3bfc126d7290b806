// Messages to and from processes on other nodes: the same records (record.h), carried by the network (fabric/fabric.h)
// instead of an inbox.
//
// The process' lock of a lane is held while a record is written for the network, so that is only tried: what finds no
// room waits at the link, as on this node, and the network says when there is some. Answers to what has come need no
// room and wait for nothing. What comes is handled under the lane's lock by whoever makes the network go on.
//
// The data of a large message is read from the sender's memory if that and the receiver's are one run each; else it
// comes in pieces. Nobody need be reminded of a message: the network's progress thread looks at all
// that comes.
#ifndef GOMPI_REMOTE_H
#define GOMPI_REMOTE_H

#include "message/messages.h"

#pragma GCC visibility push(hidden)

// The most data of a record between nodes.
enum { REMOTE_MOST_DATA = GOMPI_FABRIC_RECORD - RECORD_LINE };

// What goes out (remote.c).

// Room for a record of n bytes; gompi_remote_send follows at once. Without: *class is MPI_ERR_PENDING, there is none
// now, or what is wrong with the peer for good.
struct gompi_room gompi_remote_reserve(struct gompi_lane *l, struct gompi_link *p, int64_t n,
				       enum gompi_fabric_wait wait, int *class);
void gompi_remote_send(struct gompi_link *p, struct gompi_room room, uint64_t word, enum gompi_urgency urgency);

// Room for a record on this node, or on another as gompi_remote_reserve takes it; gompi_record_send follows at once.
static inline struct gompi_room gompi_record_reserve(struct gompi_lane *l, struct gompi_link *p, int64_t n, bool remote,
						     enum gompi_fabric_wait wait, int *class) {
	*class = MPI_ERR_PENDING;
	return remote ? gompi_remote_reserve(l, p, n, wait, class) : gompi_inbox_reserve(p->box, &p->head, n);
}
static inline void gompi_record_send(struct gompi_link *p, struct gompi_room room, uint64_t word, bool remote,
				     enum gompi_urgency urgency, enum gompi_notice notice) {
	if (remote)
		gompi_remote_send(p, room, word, urgency);
	else
		gompi_publish(p, room, word, notice);
}

// Lets the receiver read the data of a send, if that pays. Returns true if it can.
bool gompi_remote_register(struct gompi_request *r);
void gompi_remote_unregister(struct gompi_request *r);
// Reads the data of r->matched, soon: when the lock is given back. done begins with gompi_remote_read_over.
void gompi_remote_read(struct gompi_lane *l, struct gompi_request *r,
		       void (*done)(struct gompi_transfer *t, int class));
// Takes the lock of the lane that a read was for, and returns its receive.
struct gompi_request *gompi_remote_read_over(struct gompi_transfer *t);
// Starts such reads; it gives the lock away meanwhile. Returns true if there were any.
bool gompi_remote_start_reads(struct gompi_lane *l);
// Takes back the read of r. Returns true if it has not been started.
bool gompi_remote_abandon(struct gompi_lane *l, struct gompi_request *r);
void gompi_remote_close(struct gompi_lane *l);

// What arrives (remote_arrive.c).

// Listens to the network, if the job spans nodes.
void gompi_remote_open(struct gompi_messages *m);
// The port's handler for the messages of one process, for tests.
void gompi_remote_arrived(struct gompi_messages *m, int peer, const char *data, size_t length);
void gompi_remote_room(struct gompi_messages *m, int peer);

#pragma GCC visibility pop
#endif
