// The table of groups of leaders (internode.h) that are open in this process, and the records that arrive for them. The
// calls on a group are in internode.c.
//
// Early arrivals: a record may arrive before its group is opened in this process. It is stored until then. The sender
// cannot know whether the group is open. So a process sends at most GOMPI_EARLY_MAX_BYTES bytes to a peer, over all
// groups, that the peer has not acknowledged as matched with an open group. A call that needs to send more asks the
// peer first (INTERNODE_QUERY_OPEN). It continues when the peer has opened the group, which a collective call may have
// to wait for anyway. This wait depends on no other group, and therefore on no other thread. Once a process knows that
// a peer has opened a group, it sends records of that group to the peer without limit.
//
// Only records that are marked as sent early (is_early) are stored. Any other record for a group that is not open
// belongs to a group that has been closed, and is dropped.
#ifndef GOMPI_FABRIC_EARLY_H
#define GOMPI_FABRIC_EARLY_H

#include <stddef.h>

#include "base/mutex.h"
#include "fabric/internode.h"

#pragma GCC visibility push(hidden)

enum {
	GOMPI_INTERNODE_MAX_AHEAD = 32, // a member is ahead of another by at most this number of calls; a power of two
	GOMPI_EARLY_MAX_BYTES = 64 << 10,  // maximum unacknowledged bytes sent early to a peer
	GOMPI_EARLY_OVERHEAD = 64,         // bytes charged for a record in addition to its length
	GOMPI_EARLY_MAX_QUERIES = 64 << 10 // maximum queries from one peer: one for each thread in a call
};

enum internode_kind {
	INTERNODE_BARRIER,
	INTERNODE_GATHER,
	INTERNODE_BCAST,
	INTERNODE_MISMATCH,
	// Flow control of early arrivals. round is the number that the asking process uses.
	INTERNODE_QUERY_OPEN, // has the receiver opened the group?
	INTERNODE_IS_OPEN,    // the answer: it is open; call.bytes may acknowledge bytes too
	INTERNODE_ACK,        // of no group: acknowledges call.bytes bytes that were sent early
	INTERNODE_KINDS
};

// A record. The data of some kinds follows it.
struct internode_record {
	uint64_t id;
	uint32_t generation; // number of the call
	uint16_t round;
	uint8_t kind;
	uint8_t is_early; // 1 if sent early: the sender does not know whether the group is open
	struct internode_call_info {
		uint64_t signature, format;
		uint32_t bytes; // of a member's data
		int32_t rank;
	} call; // of INTERNODE_MISMATCH: data holds another one, which does not match this one
	char data[];
};

// A buffer for a record. The data begins at a multiple of 16.
struct arrival_buffer {
	struct arrival_buffer *next; // in the free list
	struct internode_record record;
};
_Static_assert(offsetof(struct arrival_buffer, record.data) % 16 == 0, "operands of any type");

// The record that has arrived in a round of a call.
struct arrival {
	gompi_a32 generation; // of the call; stored last (release)
	uint32_t length;      // of the record, in bytes
	uint32_t small_bytes; // capacity of small
	// buffer: the one in use, which is small or large; NULL if none
	struct arrival_buffer *buffer, *small, *large;
};

struct gompi_internode {
	uint64_t id;
	struct gompi_internode *next; // in its bucket
	int n, me, rounds;
	gompi_a32 generation;    // calls so far
	int unsynced_calls;      // consecutive calls that need not synchronize all members
	bool is_open_everywhere; // all members have opened the group
	bool has_failed;         // a call has failed: some records of the group have not been received
	struct edge {
		int32_t to_peer, from_peer; // peers
		gompi_a32 is_open;          // 1 if to_peer has opened the group
		struct arrival arrival[GOMPI_INTERNODE_MAX_AHEAD];
	} edge[]; // [rounds]
};

// Reserves credit to send a record of length bytes in a round. Returns 0, and sets *is_early to the value for the
// record. May block until the peer opens the group. Otherwise returns MPI_ERR_PROC_ABORTED or MPI_ERR_NO_MEM.
int gompi_early_reserve_credit(struct gompi_internode *m, int round, size_t length,
			       const struct gompi_wait_desc *waiting, uint8_t *is_early);

// Releases the records of the call in progress. Large buffers return to a pool, so that only a few are in use at a
// time, and stay in caches.
void gompi_early_release(struct gompi_internode *m);

#pragma GCC visibility pop
#endif
