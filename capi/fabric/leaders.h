// Groups of leaders: barriers and exchanges of a few bytes among processes on different nodes, one record a round.
//
// A group is a list of processes, usually one of each node that a window or communicator has members on, and an id
// that they agree on. All members make the same calls on it, in the same order, each by one thread at a time.
#ifndef GOMPI_LEADERS_H
#define GOMPI_LEADERS_H

#include "base/wait.h"

#pragma GCC visibility push(hidden)

// Whose numbers an id is made of, so that those of different kinds are not the same.
enum gompi_leaders_kind {
	LEADERS_COMM = 1,  // the identity of a communicator, whose low 4 bits are 0
	LEADERS_WIN = 2,   // the handle of a window << 4
	LEADERS_OTHER = 3, // a number of the caller << 4
};

static inline uint64_t gompi_leaders_id(enum gompi_leaders_kind kind, uint64_t number) {
	return kind == LEADERS_COMM ? number | LEADERS_COMM : number << 4 | (uint64_t)kind;
}

struct gompi_leaders;

// Opens the group with an id for member me of n, whose ranks in MPI_COMM_WORLD are peers, n of them; they are not
// kept. Nothing is sent. The other members may have begun with it, or not yet. It takes O(log n) memory. NULL: there is
// none.
struct gompi_leaders *gompi_leaders_open(uint64_t id, int n, int me, const int32_t *peers);

// Ends it at this member, after its last call. The others may still be in theirs. NULL is none.
void gompi_leaders_close(struct gompi_leaders *m);

// Returns when all members have called it as often as this one. ceil(log2 n) rounds of one record each, which leave at
// once. 0; MPI_ERR_PROC_ABORTED: a member is gone, and the group of no more use; MPI_ERR_NO_MEM.
int gompi_leaders_barrier(struct gompi_leaders *m, const struct gompi_waiting *what);

// What a member says that its call is about. Members say the same if they make calls that belong together.
struct gompi_leaders_words {
	uint64_t what, plan;
	int32_t rank; // of the member, as errors name it; may differ
};

// The most bytes that a record of a call carries: those of a message of 64 KiB, with what is said of them.
enum { GOMPI_LEADERS_MOST = (64 << 10) + 64 };

// What the calls with data of several members return besides error classes: members have said or brought something that
// does not go together. words is what another one has said than this one.
enum { GOMPI_LEADERS_DIFFER = -1 };

// A block of each member, all of so many bytes: with those of n / 2 members (one, if there are fewer) at most
// GOMPI_LEADERS_MOST.
struct gompi_leaders_blocks {
	uint32_t bytes;
	// Writes this member's block of a piece to a record: that for member `to`, if there is one for each. It may be
	// called several times, and waits for nothing.
	void (*put)(void *arg, int to, uint64_t piece, char *at);
	void *arg;
	const char **got; // [n]: where those of the others are, until the next call; this member's is left alone
};

// Gives all members the blocks of each. It meets, as gompi_leaders_barrier does, in as many rounds. differs is NULL, or
// what a process for which this one speaks says instead: then all get GOMPI_LEADERS_DIFFER, as if members differ.
int gompi_leaders_allgather(struct gompi_leaders *m, struct gompi_leaders_words *words,
			    const struct gompi_leaders_words *differs, struct gompi_leaders_blocks *b,
			    const struct gompi_waiting *what);

// The same; but each member has a block for each, and gets those that are for it.
int gompi_leaders_alltoall(struct gompi_leaders *m, struct gompi_leaders_words *words,
			   const struct gompi_leaders_words *differs, struct gompi_leaders_blocks *b,
			   const struct gompi_waiting *what);

// The same, for root alone; got is set nowhere else. Of two members the other one waits for nobody, or the first time
// and once in a while, and may learn nothing of root, unless it asks for a verdict: which follows from what they say.
int gompi_leaders_gather(struct gompi_leaders *m, int root, struct gompi_leaders_words *words,
			 const struct gompi_leaders_words *differs, struct gompi_leaders_blocks *b, bool verdict,
			 const struct gompi_waiting *what);

// The most members among whom a record holds the block of one.
enum { GOMPI_LEADERS_FEW = 3 };

// After gompi_leaders_allgather or _alltoall among at most GOMPI_LEADERS_FEW that has returned 0: gives all members
// pieces 1 to n - 1 of their blocks, some of which are under way at a time. taken is called when got is of a piece.
int gompi_leaders_stream(struct gompi_leaders *m, struct gompi_leaders_blocks *b, uint64_t n,
			 void (*taken)(void *arg, uint64_t piece), const struct gompi_waiting *what);

// Gives all members what root says and up to GOMPI_LEADERS_MOST bytes that it brings. At root words, *data and *bytes
// are sent; elsewhere they are set, and *data is there until the next call on m. The others wait for what goes down a
// binomial tree. Root waits for nobody; or once in a while; or, when it has sent much to who has not opened the groups
// that it was for, until this one is open there (desk.h).
int gompi_leaders_bcast(struct gompi_leaders *m, int root, struct gompi_leaders_words *words, const void **data,
			uint32_t *bytes, const struct gompi_waiting *what);

// Has this room listen on its port. Before the network is opened.
void gompi_leaders_start(void);

#pragma GCC visibility pop
#endif
