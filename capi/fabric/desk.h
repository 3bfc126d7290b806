// The table of groups of leaders (leaders.h) that are open in this process, and the records that arrive for them. The
// calls on a group are in leaders.c.
//
// Early arrivals: a record may arrive before its group is opened here. It is kept until then. The sender cannot know
// whether the group is open. So a process sends at most GOMPI_ADVANCE bytes to a peer, over all groups, that the peer
// has not acknowledged as matched with an open group (acknowledged: "settled"). A call that needs to send more asks the
// peer first (LEADERS_ASK). It continues when the peer has opened the group, which a collective call may have to wait
// for anyway. This wait depends on no other group, and therefore on no other thread. Once a process knows that a peer
// has opened a group, it sends to it there without limit.
//
// Only records that are marked as sent in advance are kept. Any other record for a group that is not open belongs to a
// group that has been closed, and is dropped.
#ifndef GOMPI_DESK_H
#define GOMPI_DESK_H

#include <stddef.h>

#include "base/mutex.h"
#include "fabric/leaders.h"

#pragma GCC visibility push(hidden)

enum {
	GOMPI_LEADERS_AHEAD = 32,  // a member is ahead of another by at most this number of calls; a power of two
	GOMPI_ADVANCE = 64 << 10,  // bytes sent in advance
	GOMPI_ADVANCE_MORE = 64,   // bytes charged for a record in addition to its length
	GOMPI_QUESTIONS = 64 << 10 // maximum questions from one peer: one for each thread in a call
};

enum leaders_kind {
	LEADERS_BARRIER,
	LEADERS_GATHER,
	LEADERS_BCAST,
	LEADERS_DIFFERENT,
	// Flow control of early arrivals. round is the round of the group as the asking process numbers it.
	LEADERS_ASK,     // is the group open there?
	LEADERS_GO,      // the answer: it is open; said.bytes may acknowledge bytes too
	LEADERS_SETTLED, // of no group: acknowledges said.bytes that were sent in advance
	LEADERS_KINDS
};

// A record. The data of some kinds follows it.
struct leaders_record {
	uint64_t id;
	uint32_t generation; // number of the call
	uint16_t round;
	uint8_t kind;
	uint8_t advance; // 1 if sent in advance: the sender does not know whether the group is open
	struct leaders_said {
		uint64_t what, plan;
		uint32_t bytes; // of a member's data
		int32_t rank;
	} said; // of LEADERS_DIFFERENT: data holds another one, which does not match this one
	char data[];
};

// A buffer for a record. The data begins at a multiple of 16.
struct arrival_room {
	struct arrival_room *next; // in the free list
	struct leaders_record record;
};
_Static_assert(offsetof(struct arrival_room, record.data) % 16 == 0, "operands of any type");

// The record that has arrived in a round of a call.
struct arrival {
	gompi_a32 generation; // of the call; stored last (release)
	uint32_t length;      // of the record, in bytes
	uint32_t bytes;       // capacity of little
	// room: the buffer in use, which is little or much (for small and large records); NULL if none
	struct arrival_room *room, *little, *much;
};

struct gompi_leaders {
	uint64_t id;
	struct gompi_leaders *next; // in its bucket
	int n, me, rounds;
	gompi_a32 generation; // calls so far
	int loose;            // consecutive calls that need not synchronize all members
	bool all_open;        // all members have opened the group
	bool failed;          // a call has failed: some records of the group have not been received
	struct edge {
		int32_t to, from; // peers
		gompi_a32 open;   // 1 if `to` has opened the group
		struct arrival arrival[GOMPI_LEADERS_AHEAD];
	} edge[]; // [rounds]
};

// Reserves credit to send a record of length bytes in a round. Returns 0, and sets *advance to the value for the
// record. May block until the peer opens the group. Otherwise returns MPI_ERR_PROC_ABORTED or MPI_ERR_NO_MEM.
int gompi_desk_admit(struct gompi_leaders *m, int round, size_t length, const struct gompi_waiting *what,
		     uint8_t *advance);

// Releases the records of the call in progress. Large buffers return to a pool, so that only a few are in use at a
// time, and stay in caches.
void gompi_desk_drop(struct gompi_leaders *m);

#pragma GCC visibility pop
#endif
