// The window descriptor of the data path. Go fills it in when the window is created. After that, the calls of MPI-5.0
// chapter 12 (RMA) find all properties of the window here.
#ifndef GOMPI_WIN_H
#define GOMPI_WIN_H

#include "attribute/attribute.h"
#include "base/abi.h"
#include "base/barrier.h"
#include "base/node.h"
#include "base/error_status.h"
#include "errors/handler.h"
#include "fabric/fabric.h"
#include "group/group.h"
#include "win/hints.h"
#include "win/z_epoch.h"

// The state of one member that the members on its node share. Fields with different writers are on different cache
// lines. Members on other nodes have no such entry (struct gompi_win_remote).
struct gompi_win_member {
	_Alignas(GOMPI_CACHE_LINE) gompi_a64 lock; // the lock that MPI_Win_lock acquires (lock.h)
	gompi_a32 lock_next, lock_serving;         // next ticket to draw, and ticket whose turn it is
	gompi_a32 lock_bypass_count;               // acquisitions by newcomers during the turn of the queue's head
	struct gompi_waitword lock_wait;
	gompi_a32 lock_remote_waiters; // number of queued waiters on other nodes
	gompi_a32 lock_failures;       // number of times that the lock of a failed holder has been released
	// mode in which accumulates update this member's memory, and their lock (update/mode.h)
	_Alignas(GOMPI_CACHE_LINE) gompi_a32 accumulate_state;
	// consecutive small updates; only the holder of the lock in accumulate_state, or the owner, writes this field
	gompi_a32 accumulate_small_streak;
	gompi_a32 accumulate_last_owner;  // owner id of the last lock holder, 0 if it has none; written under the lock
	gompi_a32 accumulate_lock_streak; // consecutive acquisitions of the lock by that thread
	gompi_a32 accumulate_transfers;   // weighted count of recent ownership transfers between threads
	// number of MPI_Win_complete calls of origins since the window was created (rma/pscw.c)
	_Alignas(GOMPI_CACHE_LINE) gompi_a32 complete_count;
	struct gompi_waitword exposure_wait; // the member sleeps on this word in MPI_Win_wait
	struct gompi_waitword access_wait;   // the member sleeps on this word in MPI_Win_start
	// address of the window in the member's own address space, for the ring path
	_Alignas(GOMPI_CACHE_LINE) uint64_t address;
	uint64_t size;      // bytes of the member's memory
	int32_t peer;       // number of the member's process (base/process.h)
	int32_t local_rank; // index among the members on this node
};

// A window's control memory on one node, zeroed at creation. It has an entry for each rank from the lowest to the
// highest member on this node. Then the barrier of MPI_Win_fence and the posts follow, for the local_size members on
// this node. Pages that hold only entries of ranks on other nodes use no memory (core/rma).
//
// posts[origin * local_size + target], with indices on the node, counts the exposure epochs that member `target` has
// opened for member `origin`, modulo 256. Only the target writes the count, so no atomic read-modify-write is needed. A
// byte suffices, because at any time at most one post has not been consumed by MPI_Win_start.
//
// In a fault-tolerant job, shared_locks[target * local_size + origin] follows, in whole words: the number of shared
// locks of member `origin` at member `target` (lock.h). Only at itself a member can have several, for origins on other
// nodes.
struct gompi_win_shared {
	struct gompi_win_member member[1];
};

#define GOMPI_BARRIER_SIZE(n) (GOMPI_CACHE_LINE * (2 + 2 * (size_t)(n)))

// What this process knows about one member; 32 bytes. In a window that spans nodes, the entry of a member on another
// node is zero and uses no memory at first (base/sparse.h). It is written when this process opens an epoch to that
// member by MPI_Win_lock or MPI_Win_start.
struct gompi_target {
	char *base; // where the member's memory is mapped in this process, if TARGET_DIRECT
	// Number of bytes that this process can address from `base` on. With TARGET_DIRECT, this is the member's size.
	// Otherwise it is the end of the member's mapped range (gompi_mapped_range) if that range begins at offset 0,
	// else 0.
	uint64_t mapped_bytes;
	uint32_t disp_unit;       // 0 for a member on another node (in struct gompi_win_remote instead)
	gompi_a32 state;          // TARGET_* bits
	uint64_t offset_limit_8b; // 8 bytes can be addressed at offsets below this limit: mapped_bytes - 7, or 0
};

// What all processes of a node know about one member, if the window spans nodes; 32 bytes. The processes share a table
// of these entries at the end of the control memory, if that memory has enough space (core/rma). The table does not
// change after the window has been created.
struct gompi_win_remote {
	uint64_t size;              // bytes of the member's memory
	struct gompi_region region; // the memory as registered with the network; if key is 0, operations use records
	int32_t peer;               // number of the member's process (base/process.h)
	uint32_t disp_unit;
};

// The mapped range of a member's memory, if only a part of the memory is mapped: the whole pages of memory that is
// shared in place. Both bounds are offsets from the beginning of the memory.
struct gompi_mapped_range {
	uint64_t from, to; // equal if nothing is mapped
};

enum {
	TARGET_DIRECT = 1 << 0,    // all of the target's memory is mapped in this process
	TARGET_LOCKED = 1 << 1,    // MPI_Win_lock has locked the target; the same bit as ACCESS_FENCE
	TARGET_EXCLUSIVE = 1 << 2, // the lock is exclusive
	TARGET_NOCHECK = 1 << 3,   // MPI_MODE_NOCHECK: the lock was not acquired
	TARGET_STARTED = 1 << 4,   // a member of the group of the open MPI_Win_start; the same bit as ACCESS_LOCK_ALL
	TARGET_LOCAL = 1 << 5,     // the member is on this node
	TARGET_ACCESS = TARGET_LOCKED | TARGET_STARTED,
	// bits 24..31: number of posts of this member that MPI_Win_start has consumed, modulo 256
	TARGET_POSTS_SHIFT = 24,
};

// Masks and fields of the access word, besides the bits of z_epoch.h.
enum {
	ACCESS_EVERY_TARGET = ACCESS_FENCE | ACCESS_LOCK_ALL,
	ACCESS_PASSIVE = ACCESS_LOCK | ACCESS_LOCK_ALL,
	ACCESS_LOCKS_SHIFT = 8, // the remaining bits count the targets locked by MPI_Win_lock
};

enum {
	FLUSH_SENT = 1 << 0,        // an operation has been sent to a target through a transport
	FLUSH_MAY_POLL = 1 << 1,    // more processes than cores: a program that calls flush repeatedly may be polling
	FLUSH_SPANS_NODES = 1 << 3, // the window spans nodes
};

struct gompi_attached_regions;

// A region of another process that is mapped in this process.
struct gompi_win_mapping {
	atomic_flag busy; // spin lock that guards the other fields
	char *base;
	int64_t heap_offset; // offset of the region in the node's memfd
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

_Static_assert((int)TARGET_ACCESS == (int)ACCESS_EVERY_TARGET, "one mask for both: gompi_resolve_direct");

enum { GOMPI_ALL = -1 }; // in place of a rank: all members, or all members of a group

struct gompi_win {
	uintptr_t handle;
	gompi_a32 access;
	uint32_t n;
	struct gompi_target *targets;
	struct gompi_win_shared *shared;         // control memory, biased so that member[rank] is the entry of a rank
	struct gompi_win_remote *remote;         // [n]; NULL if all members are on this node
	struct gompi_win_remote *private_remote; // equals remote if this process owns that table; NULL if it is shared
	// Counters of MPIX_Gompirma_win_count (counts.h); NULL if it has not been called.
	struct MPIX_Gompirma_count (*counts)[MPIX_GOMPIRMA_WAYS];
	struct gompi_barrier *barrier;
	gompi_a32 exposure; // size of the group of the open MPI_Win_post + 1; 0 if none is open
	int me;
	// The members on this node: their number, this process' index among them, and their ranks in ascending order.
	// ranks is NULL if all members are on this node.
	int local_size, local_rank;
	int32_t *ranks;
	_Atomic uint8_t *posts;  // see struct gompi_win_shared
	gompi_a32 *shared_locks; // see struct gompi_win_shared; NULL if the job is not fault-tolerant
	// leaders synchronizes the node leaders of a window that spans nodes. It is NULL if this process is not a node
	// leader. The field `partner` is -1 except in this case: there are exactly two nodes, and this process is the
	// only member on its node. Then `partner` is the leader of the other node.
	struct gompi_leaders *leaders;
	int32_t partner;
	uint32_t barrier_count; // number of barriers on this window that this process has executed
	// value of this member's complete_count at which the open exposure epoch ends; MPI_Win_post increases it
	uint32_t expected_completes;
	gompi_a32 flush_flags; // FLUSH_* bits: the reasons why a flush or fence needs its slow path; 0 if there is none
	gompi_a32
		has_moved; // 1 if a put or get to a process of this node has followed the last flush (transport/node.c)
	// for the ring path: array by rank, allocated at the first use. An element is the position after this process'
	// last operation in the ring of that member's process
	gompi_a64 *_Atomic ring_sent;
	// streams to members on other nodes (transport/stream.h); allocated at the first use
	struct gompi_streams *_Atomic streams;
	// Values of predefined attributes; the application gets their addresses.
	void *base;
	MPI_Aint size;
	int disp_unit, flavor, model;
	// mpi_accumulate_granularity: maximum number of bytes that a large accumulate updates per acquisition of the
	// lock; 0 if there is no limit
	gompi_a64 granularity;
	bool lock_all_nocheck;
	// true if the job has a network: MPI_Win_lock must then first acquire the lock that this thread has requested
	// before (gompi_acquire_deferred_lock). Also true if shared_locks is not NULL
	bool needs_ordered_locks;
	gompi_a32 proc_null_locks; // MPI_Win_lock calls for MPI_PROC_NULL that are not yet unlocked
	// [n], of a dynamic window: the members' tables, mapped at the first use. NULL for other windows.
	struct gompi_attached_regions *_Atomic *attached;
	// allocated bytes of this process' table; guarded, with empty_regions, by the lock of attach.c
	uint64_t attached_bytes;
	struct {
		uint64_t *at;
		uint32_t n, capacity;
	} empty_regions;                                // addresses of attached regions of size 0
	struct gompi_win_mapping mapping;               // dynamic windows: the region mapped last
	struct gompi_mapped_range *mapped_ranges;       // [n]; NULL if no member's memory is partly mapped
	struct gompi_win_group start_group, post_group; // groups of the open epochs; stay cached afterwards
	struct gompi_hints hints;
	// Mask of the PROMISE_* bits (hints.h) that this window can fulfil; MPI_Win_set_info ignores all other
	// promises. For example, the bit PROMISE_SAME_SIZE is 0 if the sizes of the members differ.
	uint64_t allowed_promises;
	struct gompi_hints_message *exchanged_hints; // array in control memory by which members exchange hints (info.c)
	struct gompi_attributes *_Atomic attributes; // NULL until the first attribute is set
	struct gompi_errhandler_ref errhandler;
	struct gompi_ranks members;
	struct gompi_group *group; // created when the application first asks for it
	struct gompi_win *next;    // next in the list of retired or of free descriptors (win_table.c)
	struct gompi_tool_counts *_Atomic tool_counts; // NULL unless a tool has asked for them (counts.h)
};

// The table of windows. Its index is the index in a window's handle (core/handle). An entry holds the handle of the
// window with that index, or 0, and the window's descriptor. Descriptors are never returned to the system, so a late
// call that has found a descriptor reads valid memory. No window has index 0, and handle[0] matches no handle, so an
// uninitialized variable finds nothing. An entry takes 16 bytes of address space, and memory only if used.
enum { GOMPI_WIN_INDICES = 1 << 20 };
struct gompi_win_table {
	// stored last, with release: a thread that finds a handle sees the descriptor
	_Atomic uintptr_t handle[GOMPI_WIN_INDICES];
	struct gompi_win *descriptor[GOMPI_WIN_INDICES];
};
extern struct gompi_win_table gompi_win_table;
extern gompi_a32 gompi_win_count; // number of windows of this process

// Returns the descriptor of win, or NULL if win is not a live window of this process.
static inline struct gompi_win *gompi_win_get(MPI_Win win) {
	uintptr_t h = (uintptr_t)win;
	size_t i = h % GOMPI_WIN_INDICES;
	if (__builtin_expect(!gompi_equals_acquire(&gompi_win_table.handle[i], h), 0))
		return NULL;
	struct gompi_win *w = gompi_win_table.descriptor[i];
	if (w == NULL)
		__builtin_unreachable(); // so that callers' tests for NULL cost nothing here
	return w;
}

// Stores the name of a window in name, which has MPI_MAX_OBJECT_NAME bytes, and returns the length of the name. Returns
// 0 if the window has no name or does not exist.
int gompi_win_name(MPI_Win win, char *name);

// Returns the shared state of a member on this node.
static inline struct gompi_win_member *gompi_member(const struct gompi_win *w, int rank) {
	return &w->shared->member[rank];
}

// Returns true if a member is on another node.
static inline bool gompi_win_is_remote(const struct gompi_win *w, int rank) {
	return __builtin_expect(w->remote != NULL, 0) && !(gompi_load(&w->targets[rank].state) & TARGET_LOCAL);
}

// gompi_win_peer returns the number of the process of a member on any node. gompi_win_bytes returns the size of the
// member's memory in bytes, and gompi_win_disp_unit its displacement unit.
static inline int32_t gompi_win_peer(const struct gompi_win *w, int rank) {
	return __builtin_expect(w->remote == NULL, 1) ? gompi_member(w, rank)->peer : w->remote[rank].peer;
}
static inline uint64_t gompi_win_bytes(const struct gompi_win *w, int rank) {
	return __builtin_expect(w->remote == NULL, 1) ? gompi_member(w, rank)->size : w->remote[rank].size;
}
static inline uint32_t gompi_win_disp_unit(const struct gompi_win *w, int rank) {
	return gompi_win_is_remote(w, rank) ? w->remote[rank].disp_unit : w->targets[rank].disp_unit;
}

// gompi_win_rank_of_local converts an index among the members on this node to a rank. gompi_win_local_rank converts a
// rank on this node to its index.
static inline int gompi_win_rank_of_local(const struct gompi_win *w, int i) {
	return w->ranks == NULL ? i : w->ranks[i];
}
static inline int gompi_win_local_rank(const struct gompi_win *w, int rank) {
	return w->ranks == NULL ? rank : gompi_member(w, rank)->local_rank;
}

// Returns the byte in which the member `target` counts its posts to the member `origin`, modulo 256. Both members are
// on this node.
static inline _Atomic uint8_t *gompi_post_counter(const struct gompi_win *w, int origin, int target) {
	return &w->posts[(size_t)gompi_win_local_rank(w, origin) * (size_t)w->local_size +
			 (size_t)gompi_win_local_rank(w, target)];
}

// Executes a barrier of all members of a window that does not span nodes. Returns 0 or an error class.
static inline int gompi_win_node_barrier(struct gompi_win *w, const struct gompi_wait_desc *waiting) {
	return gompi_shared_barrier(w->barrier, w->local_size, w->local_rank, &w->barrier_count, waiting);
}

// Returns the process number of a failed member on this node; GOMPI_NONE_FAILED if all members on this node are alive
// (base/failure.h). A failed member may hold a lock of memory on this node forever. Locks held by members on other
// nodes are reclaimed.
int gompi_win_failed_local(const struct gompi_win *w);

// Stores the description of the window that a thread waits for in the details of its wait record. Returns false if the
// thread does not wait for a window.
bool gompi_win_fill_wait_record(const struct gompi_wait_desc *waiting, struct gompi_wait_details *t);

// Returns the mapped range of a member's memory, if not all of it is mapped. targets[rank].base is the address of the
// memory.
static inline struct gompi_mapped_range gompi_mapped_range_of(const struct gompi_win *w, int rank) {
	return w->mapped_ranges == NULL ? (struct gompi_mapped_range){0, 0} : w->mapped_ranges[rank];
}

// Raises an error of a call on win, and returns the value that the call must return. This must be the last action of
// the call (base/error_status.h). The text is printf-like; the names of the call and of the window precede it.
__attribute__((format(printf, 4, 5), cold)) int gompi_win_error(MPI_Win win, const char *call, int class,
								const char *text, ...);
// Raises the error that a check has stored in v. In all other respects like gompi_win_error.
__attribute__((cold)) int gompi_win_raise(MPI_Win win, const char *call, const struct gompi_error_status *v);
// Raises MPI_ERR_WIN for a handle that is not a live window.
__attribute__((cold)) int gompi_not_a_window(MPI_Win win, const char *call);
// Raises the error that ended a wait, or that a target has returned.
__attribute__((cold)) int gompi_win_raise_class(struct gompi_win *w, const char *call, int class);
// Writes the text of an error class that has ended a wait or that a target has returned. `dynamic` is true if the
// window is dynamic.
__attribute__((cold)) void gompi_describe_op_error(struct gompi_error_status *v, bool dynamic, int class);

#endif
