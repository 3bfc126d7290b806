// The table of the groups of node leaders (internode.h) that are open in this process, and the records that arrive for
// these groups. The calls on a group are in internode.c.
//
// Early arrivals: a record may arrive before this process has opened its group. Such a record is stored until the group
// is opened. A sender does not know whether the receiver has opened the group. So it sends a peer at most
// GOMPI_EARLY_MAX_BYTES bytes, over all groups, that the peer has not acknowledged as matched with an open group. A
// call that needs to send more first sends a query (INTERNODE_QUERY_OPEN) and waits until the peer has opened the
// group. This wait cannot cause a deadlock, because a collective call may have to wait for its peer anyway. The wait
// depends on no other group, and therefore on no other thread. Once a process knows that a peer has opened a group, it
// sends that peer records of the group without limit.
//
// Only queries and records that are marked as sent early (is_early) are stored. Any other record for a group that is
// not open belongs to a group that this process has closed, and is dropped.
#ifndef GOMPI_FABRIC_EARLY_H
#define GOMPI_FABRIC_EARLY_H

#include <stddef.h>

#include "base/mutex.h"
#include "fabric/internode.h"

#pragma GCC visibility push(hidden)

enum {
	GOMPI_INTERNODE_MAX_AHEAD = 32,   // a member is fewer than this many calls ahead of any other; a power of 2
	GOMPI_EARLY_MAX_BYTES = 64 << 10, // maximum unacknowledged bytes sent early to a peer
	GOMPI_EARLY_OVERHEAD = 64,        // bytes charged for a record in addition to its length
	// maximum number of stored queries of a peer; each of its threads waits for at most one
	GOMPI_EARLY_MAX_QUERIES = 64 << 10
};

enum internode_kind {
	INTERNODE_BARRIER,
	INTERNODE_GATHER,
	INTERNODE_BCAST,
	INTERNODE_MISMATCH,
	// Flow control of early arrivals. In a query and in its reply, the field `round` is the round in which the
	// querying process sends to the receiver of the query.
	INTERNODE_QUERY_OPEN, // asks whether the receiver has opened the group
	INTERNODE_IS_OPEN,    // reply: the group is open; call.bytes may also acknowledge bytes
	INTERNODE_ACK,        // belongs to no group: acknowledges call.bytes bytes that were sent early
	INTERNODE_KINDS
};

// The head of a record of the port FABRIC_INTERNODE. In some kinds, data follows it.
struct internode_record {
	uint64_t id;
	uint32_t generation; // number of the call
	uint16_t round;
	uint8_t kind;
	uint8_t is_early; // 1 if sent early: the sender does not know whether the group is open
	struct internode_call_info {
		uint64_t signature, format;
		uint32_t bytes; // bytes of a member's data
		int32_t rank;
	} call; // call of the sender; in INTERNODE_MISMATCH, the data describes a call that does not match it
	char data[];
};

// A buffer for a record. The data begins at a multiple of 16.
struct arrival_buffer {
	struct arrival_buffer *next; // in the free list
	struct internode_record record;
};
_Static_assert(offsetof(struct arrival_buffer, record.data) % 16 == 0, "operands of any type");

// The record that has arrived in one round of one call.
struct arrival {
	gompi_a32 generation; // number of the call; stored last (release)
	uint32_t length;      // length of the record in bytes
	uint32_t small_bytes; // capacity of the buffer `small`
	// The field `buffer` is `small` or `large`, whichever holds the record; NULL if there is no record.
	struct arrival_buffer *buffer, *small, *large;
};

struct gompi_internode {
	uint64_t id;
	struct gompi_internode *next; // in its bucket of the table of groups
	int n, me, rounds;
	gompi_a32 generation;    // number of the current call
	int unsynced_calls;      // consecutive calls that need not synchronize all members
	bool is_open_everywhere; // all members have opened the group
	bool has_failed;         // a call has failed, so some records of the group may still arrive
	struct edge {
		int32_t to_peer, from_peer; // this member sends to to_peer in the round, and receives from from_peer
		gompi_a32 is_open;          // 1 if to_peer has opened the group
		struct arrival arrival[GOMPI_INTERNODE_MAX_AHEAD];
	} edge[]; // [rounds]
};

// Reserves credit to send a record of `length` bytes in a round. May block until the peer opens the group. Sets
// *is_early to the value for the record's is_early. Returns 0, MPI_ERR_PROC_ABORTED or MPI_ERR_NO_MEM.
int gompi_early_reserve_credit(struct gompi_internode *m, int round, size_t length,
			       const struct gompi_wait_desc *waiting, uint8_t *is_early);

// Releases the records of the current call. Returns their large buffers to a pool, so that few large buffers are in use
// at a time and stay in the caches.
void gompi_early_release(struct gompi_internode *m);

#pragma GCC visibility pop
#endif
