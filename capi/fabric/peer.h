// The state of a peer that this process has communicated with: queued frames, credits, transfers.
#ifndef GOMPI_FABRIC_PEER_H
#define GOMPI_FABRIC_PEER_H

#include "base/node.h"
#include "fabric/frame.h"
#include "fabric/pace.h"

#pragma GCC visibility push(hidden)

enum {
	// GOMPI_SEND_WINDOW: maximum number of frames to a peer that are sent but not acknowledged (credits). The
	// maximum is GOMPI_SEND_WINDOW_CROWDED while all peers together have at least GOMPI_CROWDED_FRAMES such frames.
	// Without the lower maximum, a process that sends much data to many peers would need 6 MiB per peer.
	GOMPI_SEND_WINDOW = 96,
	GOMPI_SEND_WINDOW_CROWDED = 16,
	GOMPI_CROWDED_FRAMES = 256,
	// Number of received frames after which this process returns their credits in a separate frame, unless a frame
	// with records has returned them already.
	GOMPI_ACK_FRAMES = 8,
};

struct gompi_peer {
	struct gompi_mutex lock;
	int32_t rank;

	// Frames to the peer. Only the open frame accepts records. The frames of the queue wait for credits or for the
	// network.
	struct gompi_frame *open_frame; // frame that collects records; NULL if none is open
	struct gompi_frame *queue_first, *queue_last;
	bool flush_requested;             // send the open frame when the queue is empty, although the frame is not full
	uint32_t frames_sent;             // number of frames with records that this process has sent
	uint32_t frames_acked;            // number of those frames that the peer has acknowledged
	gompi_a32 acks_sent;              // number of the peer's frames that this process has acknowledged
	gompi_a32 frames_received;        // number of the peer's frames received; the serving thread writes it
	uint32_t next_sequence;           // the serving thread's own copy of frames_received, incremented on delivery
	struct gompi_frame *out_of_order; // frames that arrived out of order, sorted by number; serving thread only

	gompi_a32 blocked; // 1 if frames wait in the queue; then only replies may be added
	// bit i: on_room of port i (enum gompi_port) must be called when there is space
	gompi_a32 ports_waiting;
	struct gompi_waitword room_waiters; // threads that wait for space sleep here
	size_t record_offset;               // offset in the open frame of the record that is being written

	// Transfers with the peer.
	struct gompi_transfer *transfer_queue,
		*transfer_queue_last; // queue of transfers that are not completely started
	gompi_a64 inflight_bytes;     // bytes of transfers in progress
	struct gompi_pace pace;

	// Membership of the list of peers with queued records (pending list, records.c) and of the retry list
	// (peers.c). A flag is 1 if the peer is on the list.
	struct gompi_peer *next_pending, *next_retry;
	gompi_a32 on_pending_list, on_retry_list;

	gompi_a32 has_failed;
	gompi_a32 is_unreachable; // 1 if the peer has failed because it cannot be reached
	gompi_a32 is_reported;    // 1 if the peer's failure has been reported to all nodes
	bool is_loss_raised;      // EVENT_CONNECTION_LOST has been raised; only the progress thread uses it

	// Liveness (health.c). Only the progress thread uses these fields, except activity_seen, sends_in_flight and
	// reply_pending.
	gompi_a32 activity_seen;   // 1 if a frame from the peer has arrived since the last check
	gompi_a32 sends_in_flight; // number of frames to the peer that the network has not completed
	bool reply_pending;        // the reply to the peer's probe has not been sent yet; under the lock
	bool was_connected;        // a frame from the peer has arrived before
	bool finalize_notified;    // the peer, which is of another job, has been sent the notice JOB_FINALIZED
	int probes_unanswered;     // number of probes without a reply
	// Times in ns, 0 if not set. last_heard_ns: arrival of the last frame. watched_since_ns: when this process
	// began to probe the peer as the lowest process of the next node. busy_since_ns: the first check that found
	// operations in progress with the peer. refused_since_ns: the first refused connection since the last success.
	// awaited_until_ns: time until which the peer, of another job, is probed because calls wait for it.
	int64_t last_heard_ns, watched_since_ns, busy_since_ns, refused_since_ns, awaited_until_ns;
	struct gompi_peer *next; // next peer in the list of all peers
};

// Allocates the table of peers. Frees the table and the peers of a previous network. Returns false if out of memory.
bool gompi_peers_open(void);
// Empties the list of peers with queued records.
void gompi_records_reset(void);

// Returns the peer with this rank. Creates the peer at first use. On error returns NULL and sets *class.
struct gompi_peer *gompi_peer_get(int rank, int *class);
// Returns the peer with this rank, or NULL if it has not been created.
extern struct gompi_peer *_Atomic *gompi_peers; // by rank
static inline struct gompi_peer *gompi_peer_find(int rank) {
	// pairs with the release in gompi_peer_get
	return (uint32_t)rank < (uint32_t)gompi_net.capacity ? gompi_load_acquire(&gompi_peers[rank]) : NULL;
}

// Frames that are sent but not acknowledged, over all peers.
extern gompi_a32 gompi_frames_in_flight;

// Sends the frames of p that can be sent now. The caller holds p's lock.
void gompi_peer_send(struct gompi_peer *p);
// Opens a new frame. The caller holds p's lock. Returns 0, MPI_ERR_NO_MEM, or MPI_ERR_PENDING if there is no space now.
int gompi_peer_open_frame(struct gompi_peer *p, enum gompi_fabric_wait wait);

// Processes an acknowledgement: the peer has received `received` of this process's frames.
void gompi_peer_on_ack(struct gompi_peer *p, uint32_t received);
// Acknowledges the peer's frames if at least GOMPI_ACK_FRAMES frames are not acknowledged, or if is_probe is true
// because the peer has sent a probe.
void gompi_peer_send_ack(struct gompi_peer *p, bool is_probe);

// 1 if a thread may wait for an acknowledgement (gompi_fabric_is_delivered).
extern gompi_a32 gompi_delivery_awaited;

// Results of gompi_peer_probe.
enum gompi_probe_result {
	GOMPI_PROBE_SENT,
	GOMPI_PROBE_BUSY,    // not sent: the network still works on earlier operations
	GOMPI_PROBE_REFUSED, // the peer refuses connections, or the network has no connection to it
};
// Sends the peer a probe, to which its progress thread replies.
enum gompi_probe_result gompi_peer_probe(struct gompi_peer *p);
// Returns true if p is busy, that is, if some of its frames or transfers are not completed or not acknowledged.
// gompi_peers_busy returns true if any living peer is busy.
bool gompi_peer_busy(struct gompi_peer *p);
bool gompi_peers_busy(void);
// Returns the first peer of the list of all peers.
struct gompi_peer *gompi_peers_first(void);

// Puts p on the retry list, because the network could not accept an operation. The serving thread retries p's
// operations soon.
void gompi_peer_schedule_retry(struct gompi_peer *p);
// Returns true if peers are on the retry list.
bool gompi_peers_have_retries(void);
// Empties the retry list and returns its former first peer, or NULL if the list was empty.
struct gompi_peer *gompi_peers_dequeue_retries(void);
// 1 if the failure of a peer must still be reported to the other nodes.
extern gompi_a32 gompi_peers_unreported;
// Returns true if a peer is on the retry list, or has queued records.
bool gompi_peers_have_work(void);
// Retries the operations of all peers on the retry list. Returns true if at least one of these peers needs no further
// retry.
bool gompi_peers_retry(void);

// Starts the transfers of p that can be started. The caller holds p's lock.
void gompi_transfers_start(struct gompi_peer *p);
// Completes a segment of a transfer. The serving thread calls this function.
void gompi_segment_done(struct gompi_net_op *op, enum gompi_net_error error);
// Calls the callback `done` of each transfer that has ended without a segment in progress (list done_list). Returns
// true if the list was not empty. The serving thread calls this function. gompi_transfers_have_done returns true if the
// list is not empty.
bool gompi_transfers_call_done(void);
bool gompi_transfers_have_done(void);

// Sets p->has_failed, because p's connection has ended. Wakes the progress thread, which reports the failure.
void gompi_peer_mark_failed(struct gompi_peer *p);

#pragma GCC visibility pop
#endif
