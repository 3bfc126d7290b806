// Messages to and from processes on other nodes. The records (record.h) are the same as on a node, but the network
// (fabric/fabric.h) carries them instead of an inbox.
//
// A thread may hold the VCI's lock while it writes a record for the network, so it must not wait for space: it only
// tries to reserve space (FABRIC_TRY). A record that finds no space is queued at the link, as on this node. The network
// reports when there is space again. Answers to received records never wait for space. The thread that drives the
// network handles received records under the VCI's lock.
//
// The data of a large message is read from the sender's memory if the send and receive buffers are both contiguous;
// else the sender sends it in fragments (RECORD_FRAGMENT). RECORD_REMINDER is not needed, because the network's
// progress thread handles all records that arrive.
#ifndef GOMPI_REMOTE_H
#define GOMPI_REMOTE_H

#include "message/messages.h"

#pragma GCC visibility push(hidden)

// Maximum number of data bytes in a record between nodes.
enum { REMOTE_MAX_DATA = GOMPI_MAX_RECORD_BYTES - RECORD_LINE };

// Output (remote.c).

// Reserves space for a record of n bytes. The caller must call gompi_remote_commit next. On failure, the field `record`
// of the result is NULL, and *class is MPI_ERR_PENDING if there is no space now, or the error class of a permanent
// failure of the peer.
struct gompi_reservation gompi_remote_reserve(struct gompi_vci *l, struct gompi_link *p, int64_t n,
					      enum gompi_fabric_wait wait, int *class);
void gompi_remote_commit(struct gompi_link *p, struct gompi_reservation space, uint64_t word,
			 enum gompi_urgency urgency);

// Reserves space for a record to a process on this node or on another node. Fails as gompi_remote_reserve does. The
// caller must call gompi_record_commit next.
static inline struct gompi_reservation gompi_record_reserve(struct gompi_vci *l, struct gompi_link *p, int64_t n,
							    bool remote, enum gompi_fabric_wait wait, int *class) {
	*class = MPI_ERR_PENDING;
	return remote ? gompi_remote_reserve(l, p, n, wait, class) : gompi_inbox_reserve(p->inbox, &p->cached_head, n);
}
static inline void gompi_record_commit(struct gompi_link *p, struct gompi_reservation space, uint64_t word, bool remote,
				       enum gompi_urgency urgency, enum gompi_notify_mode mode) {
	if (remote)
		gompi_remote_commit(p, space, word, urgency);
	else
		gompi_record_publish(p, space, word, mode);
}

// Registers the data of a send for remote reads, if it is contiguous and large enough. Returns true if it is
// registered.
bool gompi_remote_register(struct gompi_request *r);
void gompi_remote_unregister(struct gompi_request *r);
// Queues a remote read of the data of r->matched. gompi_remote_start_reads starts the read. At the end of the read, the
// network calls `done`, which must call gompi_remote_read_end first.
void gompi_remote_read(struct gompi_vci *l, struct gompi_request *r, void (*done)(struct gompi_transfer *t, int class));
// Acquires the lock of a read's VCI, frees the descriptor of the read, and returns the receive that the read belongs
// to.
struct gompi_request *gompi_remote_read_end(struct gompi_transfer *t);
// Starts the queued reads. Releases the VCI's lock while it starts each read. Returns true if any read was queued.
bool gompi_remote_start_reads(struct gompi_vci *l);
// Removes the queued read of r. Returns true if it was still queued (not started).
bool gompi_remote_cancel_read(struct gompi_vci *l, struct gompi_request *r);
void gompi_remote_close(struct gompi_vci *l);

// Input (remote_arrive.c).

// Registers the handler for records from the network. Called when the network is opened.
void gompi_remote_open(struct gompi_messages *m);
// Implements the handlers for events of the network, for one message layer; exported for tests.
// gompi_remote_handle_record handles a received record. gompi_remote_handle_space sends pending output to a peer after
// the network has reported space.
void gompi_remote_handle_record(struct gompi_messages *m, int peer, const char *data, size_t length);
void gompi_remote_handle_space(struct gompi_messages *m, int peer);

#pragma GCC visibility pop
#endif
