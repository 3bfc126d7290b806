// Messages to and from processes on other nodes: the same records (record.h), carried by the network (fabric/fabric.h)
// instead of an inbox.
//
// The process' lock of a lane is held while a record is written for the network, so that is only tried: what finds no
// room waits at the link, as on this node, and the network says when there is some. Answers to what has come need no
// room and wait for nothing. What comes is handled under the lane's lock by whoever makes the network go on.
//
// The data of a large message is read from the sender's memory if that and the receiver's are one run each and a device
// does it; else it comes in pieces. Nobody need be reminded of a message: the network's progress thread looks at all
// that comes.
#ifndef GOMPI_AWAY_H
#define GOMPI_AWAY_H

#include "message/messages.h"

enum { FINISHING = 2 }; // core/shm.State

#pragma GCC visibility push(hidden)

// The most data of a record between nodes.
enum { AWAY_MOST_DATA = GOMPI_FABRIC_RECORD - RECORD_LINE };

void gompi_away_open(struct gompi_messages *m);
void gompi_away_close(struct gompi_messages *m);

// The link to a process on another node, made at its first use.
struct gompi_link *gompi_away_link(struct gompi_lane *l, int world);

// Room for a record of n bytes; gompi_away_send follows at once. Without: *class is MPI_ERR_PENDING, there is none now,
// or what is wrong with the peer for good.
struct gompi_room gompi_away_reserve(struct gompi_lane *l, struct gompi_link *p, int64_t n, enum gompi_fabric_wait wait,
				     int *class);
void gompi_away_send(struct gompi_link *p, struct gompi_room room, uint64_t word, enum gompi_urgency urgency);

// When the first record of a send leaves: what somebody is about to wait for does at once. The waits for others push.
static inline enum gompi_urgency gompi_away_urgency(const struct gompi_request *r) {
	return r->blocking || r->urgent ? FABRIC_NOW : FABRIC_PENDING;
}

// Returns true if a record answers one that the peer has sent, so that there is always room.
static inline bool gompi_away_is_answer(enum gompi_record_kind kind) {
	return kind == RECORD_ACK || kind == RECORD_CTS || kind == RECORD_GONE;
}
// Returns true if a record may overtake what waits to be sent.
static inline bool gompi_away_passes(const struct gompi_link *p, const struct gompi_pending *w) {
	return gompi_is_away(p) && gompi_away_is_answer(gompi_record_kind(w->record.word));
}

// Lets the receiver read the data of a send, if that pays. Returns true if it can.
bool gompi_away_register(struct gompi_request *r);
void gompi_away_unregister(struct gompi_request *r);
// Takes over where the data of a message is, as its sender says.
void gompi_away_region(struct gompi_message *m, const char *payload, int64_t length);
// Reads the data of r->matched, soon: when the lock is given back.
void gompi_away_read(struct gompi_lane *l, struct gompi_request *r);
// Starts such reads; it gives the lock away meanwhile. Returns true if there were any.
bool gompi_away_start_reads(struct gompi_lane *l);
// Takes back the read of r. Returns true if it has not been started.
bool gompi_away_abandon(struct gompi_lane *l, struct gompi_request *r);

// RECORD_FLOW: a peer asks for its messages to be kept, or no longer. gompi_away_go_along: no longer, of all who have
// been asked.
void gompi_away_flow(struct gompi_lane *l, const struct gompi_record *h);
void gompi_away_go_along(struct gompi_lane *l);

// A peer in MPI_Finalize wants a message back once nobody can receive it. Returns true if that is so; else the
// question is kept.
bool gompi_away_is_last(struct gompi_lane *l, const struct gompi_record *h);
// Answers what has been kept: this process is in MPI_Finalize.
void gompi_away_answer_last(struct gompi_lane *l);

// The port's handler for the messages of one process, for tests.
void gompi_away_arrived(struct gompi_messages *m, int peer, const char *data, size_t length);
void gompi_away_room(struct gompi_messages *m, int peer);

#pragma GCC visibility pop
#endif
