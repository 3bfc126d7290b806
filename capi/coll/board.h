// The board of a communicator: a shared memory area in which nonblocking and persistent collectives (MPI-5.0 6.12,
// 6.13) run among members that share memory. It is separate from the slots of blocking collectives (slots.h), because a
// nonblocking collective can complete after blocking calls that started later. Each persistent collective has a board
// of its own (persistent.h).
//
// Every collective has a number and every member has a head for it. All members count the numbers alike: they start the
// nonblocking collectives of a communicator in one order, and likewise the rounds of a persistent collective. In its
// head a member publishes its call signature (in the format of the slots) and its data. The data is one of:
//   - bytes in the head itself;
//   - bytes in a body;
//   - the address of the data, which other members read with process_vm_readv(2).
// Data that does not fit into a body, and cannot be read at its address, passes through the body in segments. Data that
// fits into all bodies of a member together is stored there, because reading it at its address takes a system call.
//
// Heads and bodies are used cyclically. A member refills one only after all members have finished the collective that
// used it before; a collective that starts earlier than that is queued. A collective with two parts uses the same head
// and body for both, one after the other. Part 1 of collective number n is published as number 2n. Part 2 is published
// as 2n + 1 after all members have read part 1.
//
// Any thread that makes progress in a process advances its collectives: an application thread inside a call, or the
// progress thread. Other members notify the progress thread if there is much data or a wait takes long.
#ifndef GOMPI_BOARD_H
#define GOMPI_BOARD_H

#include "base/mutex.h"
#include "base/wait.h"

struct gompi_started;

enum {
	GOMPI_BOARD_FEW = 32, // bytes of data in a head
	GOMPI_BOARD_BODY = 2 << 10,
	GOMPI_BOARD_HEADS = 16,                                    // heads of each member
	GOMPI_BOARD_BODIES = 4,                                    // bodies of each member
	GOMPI_BOARD_WHOLE = GOMPI_BOARD_BODIES * GOMPI_BOARD_BODY, // bytes of all bodies of a member together
	GOMPI_BOARD_MOST = 128,                                    // members; larger communicators use messages
};

// Values of wrote and read in a head: a number of segments, or one of these.
enum {
	BOARD_DIRECT = 1 << 30,  // wrote: the data is at the address in few
	BOARD_REFUSED = 1 << 30, // read: this member cannot read directly and needs segments
	BOARD_DONE = INT32_MAX,  // read: this member has read all that it needs
};

struct gompi_board_head {
	_Alignas(GOMPI_LINE) gompi_a64 number; // 2n, or 2n + 1 for the second part, of collective n that uses the head
	gompi_a64 what, plan;                  // call signature, as in gompi_slot_head
	gompi_a32 wrote, read;
	char few[GOMPI_BOARD_FEW];
};

// The shared memory of one member. The member writes it; the other members read it.
struct gompi_board_member {
	_Alignas(GOMPI_LINE) gompi_a64 finished; // this member has finished all collectives up to this number
	struct gompi_board_head head[GOMPI_BOARD_HEADS];
	_Alignas(GOMPI_LINE) char body[GOMPI_BOARD_BODIES][GOMPI_BOARD_BODY];
};

// One member's private view of a board. The lock guards it.
struct gompi_board {
	struct gompi_mutex lock;
	gompi_a32 missed;                  // a thread found the lock held while it wanted to make progress
	struct gompi_board_member *member; // [n]
	struct gompi_cell **cell;          // [n]: cells of the members' processes
	int32_t *peers;                    // ranks in MPI_COMM_WORLD
	int n, me;
	uint64_t last;    // number of the last collective that was started here
	uint64_t settled; // all members are known to have finished all collectives up to this number
	uint64_t whole;   // last collective for which this member filled all its bodies
	// Set during a progress pass when a collective waits for free space. Later collectives must not take a body
	// before it.
	bool waits;
	// Unfinished collectives, in the order of their numbers.
	struct gompi_started *first, *end;
	struct gompi_board *next;  // next board with unfinished collectives
	bool listed;               // this board is in that list
	struct gompi_board *spare; // next in the free list
	// The communicator. Requests refer to it even after the application has freed it.
	uint64_t object;
	uintptr_t owner; // argument of gompi_up.board_left
	gompi_a32 held;  // number of requests, plus BOARD_LEFT
	// Fields for persistent collectives (persistent.h), in the communicator's board. initialized counts
	// initializations. opened lists by entry the memory of their boards that this process has mapped; NULL before
	// the first one.
	uint64_t initialized;
	void **opened;
	// Fields in the board of a persistent collective: the communicator's board, the table entry and the number.
	// parent is NULL in the communicator's board.
	struct gompi_board *parent;
	int entry;
	uint64_t number;
};

enum { BOARD_LEFT = 1 << 30 }; // communicator freed: the release of the last request calls gompi_up.board_left

// Returns the head of member i for both parts of a collective.
static inline struct gompi_board_head *gompi_board_head(const struct gompi_board *b, int i, uint64_t number) {
	return &b->member[i].head[number / 2 % GOMPI_BOARD_HEADS];
}

// The space for data that a collective needs: the head, one body, or all bodies.
enum gompi_board_space { BOARD_IN_HEAD, BOARD_IN_BODY, BOARD_IN_ALL };

static inline char *gompi_board_body(const struct gompi_board *b, int i, uint64_t number,
				     enum gompi_board_space space) {
	return b->member[i].body[space == BOARD_IN_ALL ? 0 : number / 2 % GOMPI_BOARD_BODIES];
}

#pragma GCC visibility push(hidden)

// Returns the view of member me of n members on zeroed memory of n * sizeof(struct gompi_board_member) bytes. Copies
// peers, the members' ranks in MPI_COMM_WORLD. Returns NULL if out of memory.
struct gompi_board *gompi_board_open(void *memory, int n, int me, const int32_t *peers, uintptr_t owner);
// Marks the communicator as freed. Returns true if requests still refer to it: the release of the last one then calls
// gompi_up.board_left.
bool gompi_board_leave(struct gompi_board *b);
// Adds and releases a request's reference to the communicator.
void gompi_board_hold(struct gompi_board *b);
void gompi_board_let_go(struct gompi_board *b);
// Returns the view to the free list.
void gompi_board_close(struct gompi_board *b);
// Resets the shared memory to its unused state. No member may use it any longer.
void gompi_board_clean(struct gompi_board *b);

// Returns true if the space that the collective with this number needs is free, and reserves it.
bool gompi_board_room(struct gompi_board *b, uint64_t number, enum gompi_board_space space);

// Notifies the other members that the board has changed. Wakes members that sleep in a call. With much, also notifies
// progress threads, because there is work for members whose threads all compute.
void gompi_board_tell(struct gompi_board *b, bool much);

// Registers the service by which every wait makes progress with boards.
void gompi_boards_serve(void);
// Appends s to the unfinished collectives. The caller holds the lock.
void gompi_board_add(struct gompi_board *b, struct gompi_started *s);
// Advances all collectives of the board as far as possible. Returns true if any has completed. Does not block: if
// another thread holds the lock, that thread makes another pass for this one.
bool gompi_board_progress(struct gompi_board *b);
// Advances like gompi_board_progress. The caller holds the lock; it is released.
void gompi_board_progress_locked(struct gompi_board *b);
// Releases the lock after a use other than progress. A thread that found the lock held meanwhile has left its progress
// to the next run of the service. So the caller must be in that service, or in a wait that runs it before it sleeps.
void gompi_board_unlock(struct gompi_board *b);

#pragma GCC visibility pop
#endif
