// A window as the data path sees it: the slot that Go fills in when the window is created and that the calls of chapter
// 12 work from alone.
#ifndef GOMPI_WIN_H
#define GOMPI_WIN_H

#include "attribute/attribute.h"
#include "base/abi.h"
#include "base/barrier.h"
#include "base/node.h"
#include "base/verdict.h"
#include "errors/handler.h"
#include "fabric/fabric.h"
#include "group/group.h"
#include "win/hints.h"
#include "win/z_epoch.h"

// What the members of a window on one node share about one of them. Lines are drawn by who writes them. There is none
// for members on other nodes (struct gompi_win_remote).
struct gompi_win_member {
	_Alignas(GOMPI_LINE) gompi_a64 lock; // lock.h
	gompi_a32 lock_next, lock_serving;   // tickets of those who queue for the lock
	gompi_a32 lock_bypassed;             // times it was taken past the one at the queue's head
	struct gompi_waitword lock_wait;
	gompi_a32 lock_elsewhere;                  // so many of those who queue are on other nodes
	_Alignas(GOMPI_LINE) gompi_a32 accumulate; // update/mode.h: mode and lock of this member's memory
	gompi_a32 accumulate_small; // small updates in a row by who has the lock or owns the memory, who alone write it
	gompi_a32 accumulate_last; // claim of the thread that had the lock last, 0: it had none; written under the lock
	gompi_a32 accumulate_row;  // times that it had it in a row
	gompi_a32 accumulate_turns;               // how often it went from one thread to another of late
	_Alignas(GOMPI_LINE) gompi_a32 completed; // pscw.c: MPI_Win_complete calls of origins since the window was made
	struct gompi_waitword exposure_wait;      // this member sleeps here in MPI_Win_wait
	struct gompi_waitword access_wait;        // and here in MPI_Win_start
	_Alignas(GOMPI_LINE) uint64_t address;    // of the window in the member's own address space, for the ring path
	uint64_t size;                            // bytes
	int32_t peer;                             // number of its process
	int32_t local;                            // index among the members on this node
};

// A window's control memory on one node, zeroed at creation: a line for each rank from the lowest to the highest member
// on this node, then, for the local_n members there, the barrier of fence and posts. Lines of ranks on other nodes have
// no memory where they fill pages (core/rma).
//
// posts[origin * local_n + target], by index on the node, counts, modulo 256, the exposure epochs that target has
// opened for origin: written by the target only, so it needs no atomic read-modify-write. A byte is enough: at most one
// post is not yet started.
struct gompi_win_shared {
	struct gompi_win_member member[1];
};

#define GOMPI_BARRIER_SIZE(n) (GOMPI_LINE * (2 + 2 * (size_t)(n)))

// What this process knows of one member; 32 bytes. Of a window that spans nodes those of members on other nodes are
// zero, and have no memory, until this process opens an epoch to such a member alone (base/sparse.h).
struct gompi_target {
	char *base;     // where the member's memory is mapped here, if TARGET_DIRECT
	uint64_t reach; // bytes that can be addressed here from base on: the member's size if TARGET_DIRECT, else 0, or
			// the end of its part (gompi_part) if that begins at base
	uint32_t disp_unit; // 0 for a member on another node: see struct gompi_win_remote
	gompi_a32 state;    // TARGET_ bits
	uint64_t reach8;    // number of offsets at which 8 bytes can be addressed here: reach - 7, or 0
};

// What all processes of a node know alike of one member if the window spans nodes; 32 bytes. They share the table of
// these, at the end of the control memory, where there was room for it (core/rma); it does not change once the window
// is made.
struct gompi_win_remote {
	uint64_t size;              // of its memory, bytes
	struct gompi_region region; // it, for reads and writes by the network; key 0: it goes by records
	int32_t peer;               // number of its process
	uint32_t disp_unit;
};

// The bytes of a member's memory, from its beginning, that are mapped here if not all are: the whole pages of memory
// that is shared in place.
struct gompi_part {
	uint64_t from, to; // equal: none
};

enum {
	TARGET_DIRECT = 1 << 0,    // mapped here
	TARGET_LOCKED = 1 << 1,    // by MPI_Win_lock; the same bit as ACCESS_FENCE
	TARGET_EXCLUSIVE = 1 << 2, // and exclusively
	TARGET_NOCHECK = 1 << 3,   // and without taking the lock
	TARGET_STARTED = 1 << 4,   // in the group of the open MPI_Win_start; the same bit as ACCESS_LOCK_ALL
	TARGET_NEAR = 1 << 5,      // on this node
	TARGET_ACCESS = TARGET_LOCKED | TARGET_STARTED,
	TARGET_POSTS_SHIFT = 24, // bits 24..31: posts of this member that MPI_Win_start has used up
};

// What belongs to the access word beside the bits of z_epoch.h.
enum {
	ACCESS_EVERY_TARGET = ACCESS_FENCE | ACCESS_LOCK_ALL,
	ACCESS_PASSIVE = ACCESS_LOCK | ACCESS_LOCK_ALL,
	ACCESS_LOCKS_SHIFT = 8, // the rest counts the targets locked by MPI_Win_lock
};

enum {
	FLUSH_SENT = 1 << 0,  // an operation has been sent to a target, by whatever transport
	FLUSH_POLL = 1 << 1,  // more processes than cores: a series of flushes may be a program that polls
	FLUSH_NODES = 1 << 3, // the window spans nodes
};

struct gompi_attached;

// Memory of another process, mapped here.
struct gompi_win_mapping {
	atomic_flag busy; // one thread at a time
	char *base;
	int64_t heap; // offset in the node's memfd
	uint64_t size;
};

// A group of an exposure or access epoch as ranks of the window; kept, since codes use the same group again and again.
struct gompi_win_group {
	uintptr_t handle;
	uint64_t version; // of gompi_groups_version when it was looked up: a handle may come again after MPI_Group_free
	int *ranks;
	int size;
};

_Static_assert((int)TARGET_ACCESS == (int)ACCESS_EVERY_TARGET, "one mask for both: gompi_direct");

enum { GOMPI_ALL = -1 }; // in place of a rank: all members, or those of a group

struct gompi_win {
	uintptr_t handle;
	gompi_a32 access;
	uint32_t n;
	struct gompi_target *targets;
	struct gompi_win_shared *shared; // control memory, as if it began with rank 0's line
	struct gompi_win_remote *remote; // [n]; NULL: all members are on this node
	struct gompi_win_remote *own;    // the same, if this process has the table alone; else NULL
	// What operations are counted in that do not take the direct way (counts.h); NULL: they are not.
	struct MPIX_Gompirma_count (*counts)[MPIX_GOMPIRMA_WAYS];
	struct gompi_barrier *barrier;
	gompi_a32 exposure; // size of the group of the open MPI_Win_post + 1, 0: none
	int me;
	// The members on this node: their number, this process' index among them, their ranks, ascending. ranks is NULL
	// if all are.
	int local_n, local_me;
	int32_t *ranks;
	_Atomic uint8_t *posts; // see struct gompi_win_shared
	// Of a window that spans nodes: where those that lead on each of them meet, NULL if this process does not; and
	// the process that leads on the other one, if there are two and this one has no other member on its own, else
	// -1.
	struct gompi_leaders *leaders;
	int32_t partner;
	uint32_t barriers;       // fences so far
	uint32_t completes_due;  // value of my member's `completed` at which the open exposure epoch is over; moved on
				 // by post
	gompi_a32 flush_more;    // FLUSH_ bits: what the end of operations needs besides a barrier
	gompi_a64 *_Atomic sent; // [n], ring path: position after this process' last operation in the ring of the
				 // member's process; made at the first use
	struct gompi_streams *_Atomic streams; // of members on other nodes (transport/stream.h); made at the first use
	// attributes: the standard hands out their addresses
	void *base;
	MPI_Aint size;
	int disp_unit, flavor, model;
	gompi_a64 granularity; // mpi_accumulate_granularity: bytes of a large accumulate for which its lock is taken at
			       // a time, 0: any number
	bool lock_all_nocheck;
	bool locks_in_order; // the job has a network, so that a lock may have to wait for another (gompi_lock_in_order)
	gompi_a32 null_locks; // calls of MPI_Win_lock for MPI_PROC_NULL that have not been unlocked
	// [n], of a dynamic window: the members' tables, mapped at the first use; else NULL
	struct gompi_attached *_Atomic *attached;
	uint64_t
		attached_bytes; // of this process' table that have memory, with what follows under the lock of attach.c
	struct {
		uint64_t *at;
		uint32_t n, room;
	} empty;                                        // addresses at which no bytes are attached
	struct gompi_win_mapping mapping;               // of a dynamic window: memory used last
	struct gompi_part *parts;                       // [n]; NULL if no member's memory is mapped in part
	struct gompi_win_group start_group, post_group; // of the open epochs, and afterwards
	struct gompi_hints hints;
	uint64_t may;                                // promises that may be among them
	struct gompi_told_hints *told;               // of the members on this node, in control memory
	struct gompi_attributes *_Atomic attributes; // NULL: there were none
	struct gompi_raises raises;
	struct gompi_ranks members;
	struct gompi_group *group; // once the application has asked for it
	struct gompi_win *next;    // of slots without a window
};

// The windows by the index in their handle (core/handle): the handle of the one that has the index, 0 if none has, and
// its slot. A slot is never given back to the system, so a call that comes too late still finds one. Index 0 is no
// window's, and handle[0] no handle: an uninitialized variable finds nothing. 16 bytes of address space each, memory
// only where used.
enum { GOMPI_WIN_INDICES = 1 << 20 };
struct gompi_win_table {
	_Atomic uintptr_t handle[GOMPI_WIN_INDICES]; // set last: a thread that has got a window's handle has got what
						     // was written before it
	struct gompi_win *slot[GOMPI_WIN_INDICES];
};
extern struct gompi_win_table gompi_win_table;

// The slot behind win, or NULL if win is not a live window of this process.
static inline struct gompi_win *gompi_win_get(MPI_Win win) {
	uintptr_t h = (uintptr_t)win;
	size_t i = h % GOMPI_WIN_INDICES;
	if (__builtin_expect(!gompi_is(&gompi_win_table.handle[i], h), 0))
		return NULL;
	struct gompi_win *w = gompi_win_table.slot[i];
	if (w == NULL)
		__builtin_unreachable(); // so that callers' tests for NULL cost nothing here
	return w;
}

// Stores the name of a window, of less than MPI_MAX_OBJECT_NAME bytes, and returns its length. 0: it has none, or there
// is no such window.
int gompi_win_name(MPI_Win win, char *name);

// A member on this node.
static inline struct gompi_win_member *gompi_member(const struct gompi_win *w, int rank) {
	return &w->shared->member[rank];
}

// Returns true if a member is on another node.
static inline bool gompi_win_elsewhere(const struct gompi_win *w, int rank) {
	return __builtin_expect(w->remote != NULL, 0) && !(gompi_load(&w->targets[rank].state) & TARGET_NEAR);
}

// Rank in MPI_COMM_WORLD of a member, wherever it is; its size in bytes; its displacement unit.
static inline int32_t gompi_win_peer(const struct gompi_win *w, int rank) {
	return __builtin_expect(w->remote == NULL, 1) ? gompi_member(w, rank)->peer : w->remote[rank].peer;
}
static inline uint64_t gompi_win_bytes(const struct gompi_win *w, int rank) {
	return __builtin_expect(w->remote == NULL, 1) ? gompi_member(w, rank)->size : w->remote[rank].size;
}
static inline uint32_t gompi_win_unit(const struct gompi_win *w, int rank) {
	return gompi_win_elsewhere(w, rank) ? w->remote[rank].disp_unit : w->targets[rank].disp_unit;
}

// The rank of the i-th member on this node, and the way back.
static inline int gompi_win_local(const struct gompi_win *w, int i) { return w->ranks == NULL ? i : w->ranks[i]; }
static inline int gompi_win_index(const struct gompi_win *w, int rank) {
	return w->ranks == NULL ? rank : gompi_member(w, rank)->local;
}

// The byte in which target counts its posts to origin, modulo 256; both are on this node.
static inline _Atomic uint8_t *gompi_posts(const struct gompi_win *w, int origin, int target) {
	return &w->posts[(size_t)gompi_win_index(w, origin) * (size_t)w->local_n + (size_t)gompi_win_index(w, target)];
}

// The barrier of all members, which is that of one node's if the window does not span nodes. 0 or an error class.
int gompi_win_barrier(struct gompi_win *w, const struct gompi_waiting *what);
static inline int gompi_win_node_barrier(struct gompi_win *w, const struct gompi_waiting *what) {
	return gompi_shared_barrier(w->barrier, w->local_n, w->local_me, &w->barriers, what);
}

// Returns a member on this node that is lost, by the number of its process, GOMPI_NOBODY if none is (base/loss.h). A
// lock of memory here may have been its own for good; those of members on other nodes are taken back.
int gompi_win_lost_here(const struct gompi_win *w);

// Tells of the window of a wait, for its record. false: its object is none.
bool gompi_win_tell(const struct gompi_waiting *what, struct gompi_told *t);

// Returns which bytes of a member's memory are mapped here if not all are; targets[rank].base says where.
static inline struct gompi_part gompi_part_of(const struct gompi_win *w, int rank) {
	return w->parts == NULL ? (struct gompi_part){0, 0} : w->parts[rank];
}

// Raises an error of a call on win, as the call's last act (base/verdict.h), and returns what the call must return. The
// text is printf-like; the name of the call and of the window are put before it.
__attribute__((format(printf, 4, 5), cold)) int gompi_win_error(MPI_Win win, const char *call, int class,
								const char *text, ...);
// The same for what a check has found.
__attribute__((cold)) int gompi_win_refuse(MPI_Win win, const char *call, const struct gompi_verdict *v);
// Raises MPI_ERR_WIN for a handle that is no live window.
__attribute__((cold)) int gompi_not_a_window(MPI_Win win, const char *call);
// Raises the error that ended a wait, or that a target has answered.
__attribute__((cold)) int gompi_wait_error(struct gompi_win *w, const char *call, int class);
// Writes what such a class means of an operation on a window, which is dynamic or not.
__attribute__((cold)) void gompi_operation_verdict(struct gompi_verdict *v, bool dynamic, int class);

#endif
