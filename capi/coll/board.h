// The board of a communicator: memory in which collectives that have been started (MPI-5.0 6.12, 6.13) meet, of members
// that share memory. It is beside the slots, which blocking calls have (slots.h): one that was started may end after
// calls that have been made later. A persistent collective has a board of its own (persistent.h).
//
// Every collective has a number, which all members count alike, and a head of each member: all start the nonblocking
// collectives of a communicator in one order, and the rounds of a persistent one. There the member says what it does,
// in the words of slots, and what it has for others: bytes in the head itself, or in a body, or the address of its
// data, which others read with process_vm_readv(2). What does not fit into a body, and cannot be read where it is, goes
// through the body in pieces. Data that fits into all bodies of a member together lies there, since to read it
// elsewhere takes a system call. Heads and bodies are used in turn, and filled again when all members are done with the
// collective that they were filled for; until then one that is started later waits. One of two parts, one after the
// other, uses the same head and body for both: number n is written as 2n and, when all have read that, as 2n + 1.
//
// Whoever makes progress in a process advances its collectives: a thread of the application in a call, or the progress
// thread, which others wake if there is much data or a wait lasts.
#ifndef GOMPI_BOARD_H
#define GOMPI_BOARD_H

#include "base/mutex.h"
#include "base/wait.h"

struct gompi_started;

enum {
	GOMPI_BOARD_FEW = 32, // bytes of data in a head
	GOMPI_BOARD_BODY = 2 << 10,
	GOMPI_BOARD_HEADS = 16, // so many of each a member has
	GOMPI_BOARD_BODIES = 4,
	GOMPI_BOARD_WHOLE = GOMPI_BOARD_BODIES * GOMPI_BOARD_BODY, // all bodies as one
	GOMPI_BOARD_MOST = 128, // members; if there are more, messages carry what is started
};

// What a member has written, and what it has read: a number of pieces, or one of these.
enum {
	BOARD_DIRECT = 1 << 30,  // written: the data is where few says
	BOARD_REFUSED = 1 << 30, // read: this member cannot read directly, it wants pieces
	BOARD_DONE = INT32_MAX,  // read: all that it is about to read
};

struct gompi_board_head {
	_Alignas(GOMPI_LINE) gompi_a64 number; // twice that of the collective that the head is filled for, or one more
	gompi_a64 what, plan;                  // as gompi_slot_head has them
	gompi_a32 wrote, read;
	char few[GOMPI_BOARD_FEW];
};

// What a member shares with the others.
struct gompi_board_member {
	_Alignas(GOMPI_LINE) gompi_a64 finished; // it is done with all collectives up to this number
	struct gompi_board_head head[GOMPI_BOARD_HEADS];
	_Alignas(GOMPI_LINE) char body[GOMPI_BOARD_BODIES][GOMPI_BOARD_BODY];
};

// One member's view.
struct gompi_board {
	struct gompi_mutex lock;
	gompi_a32 missed;                  // a thread found the lock taken while it wanted to make progress
	struct gompi_board_member *member; // [n]
	struct gompi_cell **cell;          // [n], of the members' processes
	int32_t *peers;                    // ranks in MPI_COMM_WORLD
	int n, me;
	uint64_t last;    // number of the last collective that was started
	uint64_t settled; // all members are known to be done with all up to this one
	uint64_t whole;   // the last one for which all bodies of this member were filled
	bool waits;       // one of those that are being advanced waits for room: none after it may take a body before
	// Those that are not over, in the order of their numbers.
	struct gompi_started *first, *end;
	struct gompi_board *next; // of those with some
	bool listed;
	struct gompi_board *spare; // the next of those without a communicator
	// Of its communicator, to which requests belong even when the application has freed it.
	uint64_t object;
	uintptr_t owner; // what gompi_up.board_left is told
	gompi_a32 held;  // requests; and BOARD_LEFT
	// Of persistent collectives (persistent.h), at the communicator's board: how many were initialized, and the
	// memory of their boards that is mapped here, by entry. NULL if there was none yet.
	uint64_t initialized;
	void **opened;
	// At the board of a persistent collective: the communicator's board, the entry and the number. parent is NULL
	// at the communicator's board.
	struct gompi_board *parent;
	int entry;
	uint64_t number;
};

enum { BOARD_LEFT = 1 << 30 }; // the communicator has been freed: who gives the last request back says so

// What is written for a collective, or for its second part.
static inline struct gompi_board_head *gompi_board_head(const struct gompi_board *b, int i, uint64_t number) {
	return &b->member[i].head[number / 2 % GOMPI_BOARD_HEADS];
}

// How much room for data a collective needs.
enum gompi_board_space { BOARD_IN_HEAD, BOARD_IN_BODY, BOARD_IN_ALL };

static inline char *gompi_board_body(const struct gompi_board *b, int i, uint64_t number,
				     enum gompi_board_space space) {
	return b->member[i].body[space == BOARD_IN_ALL ? 0 : number / 2 % GOMPI_BOARD_BODIES];
}

#pragma GCC visibility push(hidden)

// Makes the view of member me of n, whose ranks in MPI_COMM_WORLD are peers (copied), on n * sizeof(struct
// gompi_board_member) bytes of zeroed memory. NULL: there is no memory.
struct gompi_board *gompi_board_open(void *memory, int n, int me, const int32_t *peers, uintptr_t owner);
// The communicator is about to be freed. Returns true if requests need it still: then gompi_up.board_left tells when
// that is over.
bool gompi_board_leave(struct gompi_board *b);
// A request needs the communicator, or does so no longer.
void gompi_board_hold(struct gompi_board *b);
void gompi_board_let_go(struct gompi_board *b);
void gompi_board_close(struct gompi_board *b);
// Makes the memory one that nobody has written to, when no member uses it any longer.
void gompi_board_clean(struct gompi_board *b);

// Returns true if there is room for a collective with this number, which has it then.
bool gompi_board_room(struct gompi_board *b, uint64_t number, enum gompi_board_space space);

// Tells the other members that there is something new on the board: those who sleep in a call. much: those whose
// threads all compute, too, as there is work for them.
void gompi_board_tell(struct gompi_board *b, bool much);

// Has every wait make progress with what is on boards.
void gompi_boards_serve(void);
// Makes s one that progress is made with; the caller has the lock.
void gompi_board_add(struct gompi_board *b, struct gompi_started *s);
// Advances what can be advanced. Returns true if anything was over. It does not block: if another thread is at it
// that one does this thread's part as well.
bool gompi_board_progress(struct gompi_board *b);
// The same for who has the lock, which is given back.
void gompi_board_progress_locked(struct gompi_board *b);
// Releases a lock that was not acquired to make progress. A thread that wanted to make progress meanwhile left that to
// the next call of the service, so the caller must be in a wait that serves before it sleeps, or in that service.
void gompi_board_unlock(struct gompi_board *b);

#pragma GCC visibility pop
#endif
