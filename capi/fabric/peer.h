// What there is for a peer that this process has talked to: frames that wait, credits, transfers.
#ifndef GOMPI_FABRIC_PEER_H
#define GOMPI_FABRIC_PEER_H

#include <rdma/fi_domain.h>

#include "base/node.h"
#include "fabric/frame.h"
#include "fabric/pace.h"

#pragma GCC visibility push(hidden)

enum {
	// Frames that a peer has not said to have taken; the fewer while all together have GOMPI_FRAMES_MANY.
	// A process that sends much to many peers would have 6 MiB for each of them otherwise.
	GOMPI_WINDOW = 96,
	GOMPI_WINDOW_CROWDED = 16,
	GOMPI_FRAMES_MANY = 256,
	GOMPI_OWED = 8, // frames taken for which their credits go back on their own if nothing else does
};

struct gompi_peer {
	struct gompi_mutex lock;
	int32_t rank;
	fi_addr_t address;

	// Frames to the peer. Only the open one is written to, the others wait for credits or for the provider.
	struct gompi_frame *open; // NULL: none
	struct gompi_frame *first, *last;
	bool hurry;                // what is in the open one shall leave
	uint32_t sent;             // frames with records
	uint32_t credited;         // of these, taken by the peer
	gompi_a32 told;            // so many of the peer's frames it knows to be taken
	gompi_a32 taken;           // and so many are: the serving thread's
	uint32_t arrived;          // counts them when they arrive, the serving thread's alone
	struct gompi_frame *early; // frames that have arrived before others, by their numbers; the serving thread's

	gompi_a32 blocked;          // whether frames wait: there is room for answers only
	gompi_a32 no_room;          // ports (bits) to be told when there is room
	struct gompi_waitword room; // who waits for it sleeps here
	size_t reserved;            // where the head of the record is that is being written

	// Transfers with it.
	struct gompi_transfer *waits, *waits_last; // not all of these has been started
	gompi_a64 flying;                          // bytes under way
	struct gompi_pace pace;

	// Links of two lists (records.c, peers.c), and whether the peer is on them.
	struct gompi_peer *next_pending, *next_retry;
	gompi_a32 pending, again;

	gompi_a32 gone;
	gompi_a32 unreachable; // why it is
	gompi_a32 announced;   // that it is, to all nodes

	// Its life (health.c): the progress thread's, but for alive and out.
	gompi_a32 alive;                       // something has come from it since the last look
	gompi_a32 out;                         // frames to it that the provider has not finished
	bool owes_answer;                      // it has asked; under the lock
	bool met;                              // it has been heard of
	int asked;                             // so many questions are not answered
	int64_t heard, watched, busy, refused; // times, 0: never
	struct gompi_peer *next;               // in the list of all
};

// Makes the table of peers, instead of that of a network that has ended; false: there is no memory.
bool gompi_peers_open(void);
// Nothing lies there for anybody.
void gompi_records_open(void);

// The peer of a rank, made at the first use; NULL: *class says why.
struct gompi_peer *gompi_peer_of(int rank, int *class);
// The same if it exists.
extern struct gompi_peer *_Atomic *gompi_peers; // by rank
static inline struct gompi_peer *gompi_peer_known(int rank) {
	// pairs with the release in gompi_peer_of
	return (uint32_t)rank < (uint32_t)gompi_net.size ? gompi_load_acquire(&gompi_peers[rank]) : NULL;
}

// Frames that peers have not said to have taken, of all of them.
extern gompi_a32 gompi_frames_under_way;

// Sends what can leave, under the lock of the peer.
void gompi_peer_send(struct gompi_peer *p);
// Makes a new frame the open one if that may be, under the lock: 0, MPI_ERR_PENDING: not now, MPI_ERR_NO_MEM.
int gompi_peer_open_frame(struct gompi_peer *p, enum gompi_fabric_wait wait);

// A frame of p says that the peer has taken so many of ours.
void gompi_peer_credit(struct gompi_peer *p, uint32_t taken);
// Tells the peer what has been taken, because it has asked, or if it is owed much and nothing goes there.
void gompi_peer_tell(struct gompi_peer *p, bool asked);

// Asks a peer to say something.
enum gompi_asked {
	GOMPI_ASKED,
	GOMPI_BUSY,    // with what has been sent before
	GOMPI_REFUSED, // the provider has no connection
};
enum gompi_asked gompi_peer_ask(struct gompi_peer *p);
// Returns true if there is something that it has not taken, or not done; gompi_peers_busy: if there is such a peer.
bool gompi_peer_busy(struct gompi_peer *p);
bool gompi_peers_busy(void);
// The list of all.
struct gompi_peer *gompi_peers_first(void);

// Has the serving thread try again for p soon: a provider could not take something.
void gompi_peer_retry(struct gompi_peer *p);
// Returns true if a peer waits for that.
bool gompi_peers_have_retries(void);
// The list of them, which is empty then; NULL: it was.
struct gompi_peer *gompi_peers_take_retries(void);
// 1: one is gone that the others have not been told of.
extern gompi_a32 gompi_peers_news;
// Returns true if one does, or has something that only lies there.
bool gompi_peers_wait(void);
// Tries again for all that wait. Returns true if there is one less.
bool gompi_peers_retry(void);

// Starts what can be started of p's transfers, under its lock.
void gompi_transfers_start(struct gompi_peer *p);
// Part of one has ended, with 0 or an error of libfabric; the serving thread says so.
void gompi_part_done(struct gompi_op *op, int error);
// Ends the transfers that nothing is to be done for; the serving thread. Returns true if there was one.
bool gompi_transfers_end(void);
bool gompi_transfers_ended(void);

// The connection to p has ended.
void gompi_peer_is_gone(struct gompi_peer *p);

#pragma GCC visibility pop
#endif
