// The groups that are open in this process, and what comes for them: what of groups (leaders.h) is not their calls.
//
// A record may come before its group is opened here. It is kept until then, and its sender cannot know. So nobody
// sends more than GOMPI_ADVANCE bytes to a peer, in all groups together, of which it has not learned that they have
// found their groups open. A call that has more to send asks first (LEADERS_ASK). It goes on when the peer has opened
// the meeting, as it may have to with any collective call; it depends on no other meeting, and so on no other thread.
// Who has learned that a peer has opened a group sends to it there as much as it likes.
//
// Only what is sent in advance is kept. What else comes for a group that is not open is for one that has been closed,
// and dropped.
#ifndef GOMPI_DESK_H
#define GOMPI_DESK_H

#include <stddef.h>

#include "base/mutex.h"
#include "fabric/leaders.h"

#pragma GCC visibility push(hidden)

enum {
	GOMPI_LEADERS_AHEAD = 32,  // more than so many calls no member is ahead of another: a power of two
	GOMPI_ADVANCE = 64 << 10,  // bytes sent in advance
	GOMPI_ADVANCE_MORE = 64,   // so many bytes are counted for a record besides its own
	GOMPI_QUESTIONS = 64 << 10 // so many members ask of one peer at most: one for each thread in a call
};

enum leaders_kind {
	LEADERS_BARRIER,
	LEADERS_GATHER,
	LEADERS_BCAST,
	LEADERS_DIFFERENT,
	// To and from the desk: a round of a meeting, by the number that it has for who asks.
	LEADERS_ASK,     // is the group open there?
	LEADERS_GO,      // it is
	LEADERS_SETTLED, // of no group: said.bytes of what was sent in advance have found theirs; so may LEADERS_GO say
	LEADERS_KINDS
};

// A record. Of a kind with data that follows.
struct leaders_record {
	uint64_t id;
	uint32_t generation; // number of the call
	uint16_t round;
	uint8_t kind;
	uint8_t advance; // 1: its sender does not know whether the group is open
	struct leaders_said {
		uint64_t what, plan;
		uint32_t bytes; // of a member's data
		int32_t rank;
	} said; // LEADERS_DIFFERENT: another one follows, which does not go together with it
	char data[];
};

// A place for a record. Its data begins at a multiple of 16.
struct arrival_room {
	struct arrival_room *next; // of those that are free
	struct leaders_record record;
};
_Static_assert(offsetof(struct arrival_room, record.data) % 16 == 0, "operands of any type");

// What has come in a round of a call.
struct arrival {
	gompi_a32 generation;                      // of the call; stored last
	uint32_t length;                           // of the record
	uint32_t bytes;                            // that little holds
	struct arrival_room *room, *little, *much; // where the record is: one of the two others, NULL: there is none
};

struct gompi_leaders {
	uint64_t id;
	struct gompi_leaders *next; // of its bucket
	int n, me, rounds;
	gompi_a32 generation; // calls so far
	int loose;            // calls in a row in which nobody need have waited for all
	bool all_open;        // all members have opened it
	bool failed;          // a call has: not all that is sent to it has come
	struct edge {
		int32_t to, from; // peers
		gompi_a32 open;   // `to` has opened the group
		struct arrival arrival[GOMPI_LEADERS_AHEAD];
	} edge[]; // [rounds]
};

// Takes into account that a record of so many bytes will be sent in a round. 0, and *advance: what the record says of
// that. It may wait for the peer to open the group. MPI_ERR_PROC_ABORTED, MPI_ERR_NO_MEM.
int gompi_desk_admit(struct gompi_leaders *m, int round, size_t length, const struct gompi_waiting *what,
		     uint8_t *advance);

// Nobody looks any longer at what has come for the call under way. What holds much goes to others: few are in use at a
// time, and so in caches.
void gompi_desk_drop(struct gompi_leaders *m);

#pragma GCC visibility pop
#endif
