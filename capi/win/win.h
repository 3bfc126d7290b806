// The window descriptor of the data path. Go fills it in when the window is created. The calls of chapter 12 use
// nothing else.
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

// The state of one member that the members on its node share. Fields with different writers are on different cache
// lines. Members on other nodes have no such entry (struct gompi_win_remote).
struct gompi_win_member {
	_Alignas(GOMPI_LINE) gompi_a64 lock; // lock.h
	gompi_a32 lock_next, lock_serving;   // tickets of the queue for the lock
	gompi_a32 lock_bypassed;             // acquisitions by newcomers during the turn of the queue's head
	struct gompi_waitword lock_wait;
	gompi_a32 lock_elsewhere;                  // number of queued waiters on other nodes
	_Alignas(GOMPI_LINE) gompi_a32 accumulate; // update/mode.h: mode and lock of this member's memory
	// consecutive small updates by the lock holder or the owner of the memory, who alone write it
	gompi_a32 accumulate_small;
	gompi_a32 accumulate_last;  // owner id of the last lock holder, 0 if it has none; written under the lock
	gompi_a32 accumulate_row;   // consecutive acquisitions of the lock by that thread
	gompi_a32 accumulate_turns; // weighted count of recent ownership transfers between threads
	// pscw.c: number of MPI_Win_complete calls of origins since the window was created
	_Alignas(GOMPI_LINE) gompi_a32 completed;
	struct gompi_waitword exposure_wait; // this member sleeps here in MPI_Win_wait
	struct gompi_waitword access_wait;   // and here in MPI_Win_start
	// address of the window in the member's own address space, for the ring path
	_Alignas(GOMPI_LINE) uint64_t address;
	uint64_t size; // bytes
	int32_t peer;  // number of its process
	int32_t local; // index among the members on this node
};

// A window's control memory on one node, zeroed at creation. It has an entry for each rank from the lowest to the
// highest member on this node. Then follow, for the local_n members on this node, the barrier of fence and the posts.
// Entries of ranks on other nodes use no memory where they fill whole pages (core/rma).
//
// posts[origin * local_n + target], with indices on the node, counts the exposure epochs that target has opened for
// origin, modulo 256. Only the target writes it, so no atomic read-modify-write is needed. A byte suffices: at most one
// post is not yet started.
struct gompi_win_shared {
	struct gompi_win_member member[1];
};

#define GOMPI_BARRIER_SIZE(n) (GOMPI_LINE * (2 + 2 * (size_t)(n)))

// The data of this process on one member; 32 bytes. In a window that spans nodes, the entries of members on other nodes
// are zero and use no memory until this process opens an epoch to such a member alone (base/sparse.h).
struct gompi_target {
	char *base; // where the member's memory is mapped in this process, if TARGET_DIRECT
	// bytes from base on that this process can address: the member's size if TARGET_DIRECT, else the end of its
	// mapped range (gompi_part) if that begins at base, else 0
	uint64_t reach;
	uint32_t disp_unit; // 0 for a member on another node: see struct gompi_win_remote
	gompi_a32 state;    // TARGET_ bits
	uint64_t reach8;    // number of offsets at which this process can address 8 bytes: reach - 7, or 0
};

// The data on one member that is the same for all processes of a node, if the window spans nodes; 32 bytes. The
// processes share the table of these entries at the end of the control memory, if it has enough space (core/rma). The
// table does not change after the window has been created.
struct gompi_win_remote {
	uint64_t size;              // bytes of the member's memory
	struct gompi_region region; // the memory as registered with the network; key 0: operations use records
	int32_t peer;               // number of its process
	uint32_t disp_unit;
};

// The mapped range of a member's memory, as offsets from its beginning, if not all of it is mapped: the whole pages of
// memory that is shared in place.
struct gompi_part {
	uint64_t from, to; // equal if nothing is mapped
};

enum {
	TARGET_DIRECT = 1 << 0,    // all of its memory is mapped in this process
	TARGET_LOCKED = 1 << 1,    // locked by MPI_Win_lock; the same bit as ACCESS_FENCE
	TARGET_EXCLUSIVE = 1 << 2, // the lock is exclusive
	TARGET_NOCHECK = 1 << 3,   // MPI_MODE_NOCHECK: the lock was not acquired
	TARGET_STARTED = 1 << 4,   // in the group of the open MPI_Win_start; the same bit as ACCESS_LOCK_ALL
	TARGET_NEAR = 1 << 5,      // the member is on this node
	TARGET_ACCESS = TARGET_LOCKED | TARGET_STARTED,
	// bits 24..31: number of posts of this member that MPI_Win_start has consumed, modulo 256
	TARGET_POSTS_SHIFT = 24,
};

// Parts of the access word besides the bits of z_epoch.h.
enum {
	ACCESS_EVERY_TARGET = ACCESS_FENCE | ACCESS_LOCK_ALL,
	ACCESS_PASSIVE = ACCESS_LOCK | ACCESS_LOCK_ALL,
	ACCESS_LOCKS_SHIFT = 8, // the remaining bits count the targets locked by MPI_Win_lock
};

enum {
	FLUSH_SENT = 1 << 0,  // an operation has been sent to a target through a transport
	FLUSH_POLL = 1 << 1,  // more processes than cores: a series of flushes may be a program that polls
	FLUSH_NODES = 1 << 3, // the window spans nodes
};

struct gompi_attached;

// Memory of another process that is mapped in this process.
struct gompi_win_mapping {
	atomic_flag busy; // held by one thread at a time
	char *base;
	int64_t heap; // offset in the node's memfd
	uint64_t size;
};

// The group of an exposure or access epoch as ranks of the window. It is cached, since programs use the same group
// repeatedly.
struct gompi_win_group {
	uintptr_t handle;
	uint64_t version; // gompi_groups_version at the lookup: a handle may be reused after MPI_Group_free
	int *ranks;
	int size;
};

_Static_assert((int)TARGET_ACCESS == (int)ACCESS_EVERY_TARGET, "one mask for both: gompi_direct");

enum { GOMPI_ALL = -1 }; // in place of a rank: all members, or all members of a group

struct gompi_win {
	uintptr_t handle;
	gompi_a32 access;
	uint32_t n;
	struct gompi_target *targets;
	struct gompi_win_shared *shared; // control memory, biased so that member[rank] is the entry of a rank
	struct gompi_win_remote *remote; // [n]; NULL: all members are on this node
	struct gompi_win_remote *own;    // the table in remote if it belongs to this process alone; else NULL
	// Counters of the operations that do not take the direct path (counts.h); NULL if they are not counted.
	struct MPIX_Gompirma_count (*counts)[MPIX_GOMPIRMA_WAYS];
	struct gompi_barrier *barrier;
	gompi_a32 exposure; // size of the group of the open MPI_Win_post + 1; 0 if none is open
	int me;
	// The members on this node: their number, this process' index among them, and their ranks in ascending order.
	// ranks is NULL if all members are on this node.
	int local_n, local_me;
	int32_t *ranks;
	_Atomic uint8_t *posts; // see struct gompi_win_shared
	// For a window that spans nodes: leaders synchronizes the node leaders; it is NULL if this process is not one.
	// If there are two nodes, and this process is the only member on its own, partner is the leader of the other
	// node; else -1.
	struct gompi_leaders *leaders;
	int32_t partner;
	uint32_t barriers; // fences so far
	// value of my member's `completed` at which the open exposure epoch ends; post increases it
	uint32_t completes_due;
	gompi_a32 flush_more; // FLUSH_ bits: what the end of operations needs besides a barrier
	// [n], ring path: position behind this process' last operation in the ring of the member's process; allocated
	// at the first use
	gompi_a64 *_Atomic sent;
	// streams to members on other nodes (transport/stream.h); allocated at the first use
	struct gompi_streams *_Atomic streams;
	// Values of predefined attributes; the application gets their addresses.
	void *base;
	MPI_Aint size;
	int disp_unit, flavor, model;
	// mpi_accumulate_granularity: bytes of a large accumulate per acquisition of its lock; 0: no limit
	gompi_a64 granularity;
	bool lock_all_nocheck;
	bool locks_in_order;  // the job has a network: a lock may have to wait for an earlier one (gompi_lock_in_order)
	gompi_a32 null_locks; // MPI_Win_lock calls for MPI_PROC_NULL that are not yet unlocked
	// [n], of a dynamic window: the members' tables, mapped at the first use. NULL for other windows.
	struct gompi_attached *_Atomic *attached;
	// allocated bytes of this process' table; guarded, with `empty`, by the lock of attach.c
	uint64_t attached_bytes;
	struct {
		uint64_t *at;
		uint32_t n, room;
	} empty;                                        // addresses of attached regions of size 0
	struct gompi_win_mapping mapping;               // dynamic windows: the memory used last
	struct gompi_part *parts;                       // [n]; NULL if no member's memory is partly mapped
	struct gompi_win_group start_group, post_group; // groups of the open epochs; kept afterwards
	struct gompi_hints hints;
	uint64_t may;                                // promises that may be in force
	struct gompi_told_hints *told;               // hints of the members on this node, in control memory
	struct gompi_attributes *_Atomic attributes; // NULL until the first attribute is set
	struct gompi_raises raises;
	struct gompi_ranks members;
	struct gompi_group *group; // created when the application first asks for it
	struct gompi_win *next;    // free list of descriptors without a window
};

// The windows by the index in their handle (core/handle): the handle of the window with that index, or 0, and its
// descriptor. Descriptors are never returned to the system, so a late call with a stale handle still finds one. No
// window has index 0, and handle[0] matches no handle, so an uninitialized variable finds nothing. An entry takes 16
// bytes of address space, and memory only if used.
enum { GOMPI_WIN_INDICES = 1 << 20 };
struct gompi_win_table {
	// stored last, with release: a thread that finds a handle sees the descriptor
	_Atomic uintptr_t handle[GOMPI_WIN_INDICES];
	struct gompi_win *slot[GOMPI_WIN_INDICES];
};
extern struct gompi_win_table gompi_win_table;

// Returns the descriptor of win, or NULL if win is not a live window of this process.
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

// Stores the name of a window, of less than MPI_MAX_OBJECT_NAME bytes, and returns its length. Returns 0 if it has no
// name or there is no such window.
int gompi_win_name(MPI_Win win, char *name);

// Returns the shared state of a member on this node.
static inline struct gompi_win_member *gompi_member(const struct gompi_win *w, int rank) {
	return &w->shared->member[rank];
}

// Returns true if a member is on another node.
static inline bool gompi_win_elsewhere(const struct gompi_win *w, int rank) {
	return __builtin_expect(w->remote != NULL, 0) && !(gompi_load(&w->targets[rank].state) & TARGET_NEAR);
}

// Returns, for a member on any node, the number of its process; its size in bytes; its displacement unit.
static inline int32_t gompi_win_peer(const struct gompi_win *w, int rank) {
	return __builtin_expect(w->remote == NULL, 1) ? gompi_member(w, rank)->peer : w->remote[rank].peer;
}
static inline uint64_t gompi_win_bytes(const struct gompi_win *w, int rank) {
	return __builtin_expect(w->remote == NULL, 1) ? gompi_member(w, rank)->size : w->remote[rank].size;
}
static inline uint32_t gompi_win_unit(const struct gompi_win *w, int rank) {
	return gompi_win_elsewhere(w, rank) ? w->remote[rank].disp_unit : w->targets[rank].disp_unit;
}

// Converts an index among the members on this node to a rank, and a rank on this node to its index.
static inline int gompi_win_local(const struct gompi_win *w, int i) { return w->ranks == NULL ? i : w->ranks[i]; }
static inline int gompi_win_index(const struct gompi_win *w, int rank) {
	return w->ranks == NULL ? rank : gompi_member(w, rank)->local;
}

// Returns the byte in which target counts its posts to origin, modulo 256. Both are on this node.
static inline _Atomic uint8_t *gompi_posts(const struct gompi_win *w, int origin, int target) {
	return &w->posts[(size_t)gompi_win_index(w, origin) * (size_t)w->local_n + (size_t)gompi_win_index(w, target)];
}

// Executes a barrier of all members. Returns 0 or an error class. gompi_win_node_barrier is the same for a window that
// does not span nodes.
int gompi_win_barrier(struct gompi_win *w, const struct gompi_waiting *what);
static inline int gompi_win_node_barrier(struct gompi_win *w, const struct gompi_waiting *what) {
	return gompi_shared_barrier(w->barrier, w->local_n, w->local_me, &w->barriers, what);
}

// Returns the process number of a failed member on this node; GOMPI_NOBODY if there is none (base/loss.h). A lock of
// memory on this node may be held forever by such a member. Locks held by members on other nodes are reclaimed.
int gompi_win_lost_here(const struct gompi_win *w);

// Describes the window of a wait, for its wait record. Returns false if the object of the wait is no window.
bool gompi_win_tell(const struct gompi_waiting *what, struct gompi_told *t);

// Returns the mapped range of a member's memory, if not all of it is mapped. targets[rank].base is its address.
static inline struct gompi_part gompi_part_of(const struct gompi_win *w, int rank) {
	return w->parts == NULL ? (struct gompi_part){0, 0} : w->parts[rank];
}

// Raises an error of a call on win, as the call's last act (base/verdict.h), and returns the value that the call must
// return. The text is printf-like; the name of the call and of the window precede it.
__attribute__((format(printf, 4, 5), cold)) int gompi_win_error(MPI_Win win, const char *call, int class,
								const char *text, ...);
// Raises the error that a check has found; otherwise like gompi_win_error.
__attribute__((cold)) int gompi_win_refuse(MPI_Win win, const char *call, const struct gompi_verdict *v);
// Raises MPI_ERR_WIN for a handle that is no live window.
__attribute__((cold)) int gompi_not_a_window(MPI_Win win, const char *call);
// Raises the error that ended a wait, or that a target has returned.
__attribute__((cold)) int gompi_wait_error(struct gompi_win *w, const char *call, int class);
// Writes the meaning of such an error class for an operation on a window, dynamic or not.
__attribute__((cold)) void gompi_operation_verdict(struct gompi_verdict *v, bool dynamic, int class);

#endif
