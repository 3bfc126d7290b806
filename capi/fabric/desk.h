// The meetings that are open in this process, and what comes for them: what of meetings (meet.h) is not their calls.
//
// A record may come before its meeting is opened here. It is kept until then, and its sender cannot know. So nobody
// sends more than GOMPI_ADVANCE bytes to a peer, in all meetings together, of which it has not learned that they have
// found their meetings open. A call that has more to send asks first (MEET_ASK). It goes on when the peer has opened
// the meeting, as it may have to with any collective call; it depends on no other meeting, and so on no other thread.
// Who has learned that a peer has opened a meeting sends to it there as much as it likes.
//
// Only what is sent in advance is kept. What else comes for a meeting that is not open is for one that has been closed,
// and dropped.
#ifndef GOMPI_DESK_H
#define GOMPI_DESK_H

#include "base/mutex.h"
#include "fabric/meet.h"

#pragma GCC visibility push(hidden)

enum {
	GOMPI_MEET_AHEAD = 8,      // more than so many calls no member is ahead of another: a power of two
	GOMPI_ADVANCE = 64 << 10,  // bytes sent in advance
	GOMPI_ADVANCE_MORE = 64,   // so many bytes are counted for a record besides its own
	GOMPI_QUESTIONS = 64 << 10 // so many members ask of one peer at most: one for each thread in a call
};

enum meet_kind {
	MEET_BARRIER,
	MEET_GATHER,
	MEET_BCAST,
	MEET_DIFFERENT,
	// To and from the desk: a round of a meeting, by the number that it has for who asks.
	MEET_ASK,     // is the meeting open there?
	MEET_GO,      // it is
	MEET_SETTLED, // of no meeting: said.bytes of what was sent in advance have found theirs; MEET_GO may say so too
	MEET_KINDS
};

// A record. Of a kind with data that follows.
struct meet_record {
	uint64_t id;
	uint32_t generation; // number of the call
	uint16_t round;
	uint8_t kind;
	uint8_t advance; // 1: its sender does not know whether the meeting is open
	struct meet_said {
		uint64_t what, plan;
		uint32_t bytes; // of a member's data
		int32_t rank;
	} said; // MEET_DIFFERENT: another one follows, which does not go together with it
	char data[];
};

// What has come in a round of a call.
struct arrival {
	gompi_a32 generation; // of the call; stored last
	uint32_t length;      // of record
	uint32_t room;
	struct meet_record *record;
};

struct gompi_meeting {
	uint64_t id;
	struct gompi_meeting *next; // of its bucket
	int n, me, rounds;
	gompi_a32 generation; // calls so far
	int loose;            // broadcasts in a row without a meeting
	bool all_open;        // all members have opened it
	bool failed;          // a call has: not all that is sent to it has come
	struct edge {
		int32_t to, from; // peers
		gompi_a32 open;   // `to` has opened the meeting
		struct arrival arrival[GOMPI_MEET_AHEAD];
	} edge[]; // [rounds]
};

// Takes into account that a record of so many bytes will be sent in a round. 0, and *advance: what the record says of
// that. It may wait for the peer to open the meeting. MPI_ERR_PROC_ABORTED, MPI_ERR_NO_MEM.
int gompi_desk_admit(struct gompi_meeting *m, int round, size_t length, const struct gompi_waiting *what,
		     uint8_t *advance);

#pragma GCC visibility pop
#endif
