// Nonblocking shared-memory collectives (nbc): nonblocking and persistent collectives (MPI-5.0 6.12, 6.13) among
// members that share memory. Each communicator has a shared memory area for its nonblocking collectives. The area is
// separate from the buffers of blocking collectives (shm_coll.h), because a nonblocking collective can complete after
// blocking calls that started later. Each persistent collective has an area of its own (nbc_persistent.h).
//
// Every collective has a number. All members use the same numbers, because all members start the nonblocking
// collectives of a communicator, and the rounds of one persistent collective, in the same order. In shared memory each
// member has several headers (struct gompi_nbc_header) and several bodies, which are larger buffers for data. In the
// header for a collective, the member publishes its call signature (as in struct gompi_shm_header) and its data. The
// data is one of:
//   - bytes in the header itself;
//   - bytes in a body;
//   - the address of the data, which other members read with process_vm_readv(2).
// Data that does not fit into a body, and cannot be read at its address, passes through the body in segments. Data that
// is too large for one body but fits into all bodies of a member together is stored there, because reading it at its
// address takes a system call.
//
// Headers and bodies are used cyclically. A member refills a header or body only after all members have finished the
// collective that used it last; until then, the member queues the next collective. A collective with two phases uses
// the same header and body for both phases. The first phase of collective number n is published as number 2n. The
// second phase is published as 2n + 1 after all members have read the first phase.
//
// Any thread that makes progress in a process advances its collectives: an application thread inside a call, or the
// progress thread. Other members notify the progress thread if there is much data or a wait takes long.
#ifndef GOMPI_NBC_H
#define GOMPI_NBC_H

#include "base/combining_lock.h"
#include "base/wait.h"

struct gompi_nbc_op;

enum {
	GOMPI_NBC_INLINE_BYTES = 32, // bytes of data in a header
	GOMPI_NBC_BODY_BYTES = 2 << 10,
	GOMPI_NBC_HEADERS = 16, // number of headers of each member
	GOMPI_NBC_BODIES = 4,   // number of bodies of each member
	GOMPI_NBC_ALL_BODIES_BYTES =
		GOMPI_NBC_BODIES * GOMPI_NBC_BODY_BYTES, // bytes of all bodies of a member together
	GOMPI_NBC_MAX_RANKS = 128,                       // maximum members; larger communicators use messages
};

// Values of segments_written and segments_read in a header: a number of segments, or one of these.
enum {
	NBC_DIRECT = 1 << 30,         // written: readers read the data at its address (nbc_data.c)
	NBC_DIRECT_REFUSED = 1 << 30, // read: this member cannot read directly and needs segments
	NBC_READ_DONE = INT32_MAX,    // read: this member has read all that it needs
};

struct gompi_nbc_header {
	_Alignas(GOMPI_CACHE_LINE) gompi_a64 number; // collective n: 2n in the first phase, 2n + 1 in the second
	gompi_a64 signature, format;                 // call signature, as in gompi_shm_header
	gompi_a32 segments_written, segments_read;
	char inline_data[GOMPI_NBC_INLINE_BYTES];
};

// The shared memory of one member. The member writes it; the other members read it.
struct gompi_nbc_member {
	_Alignas(GOMPI_CACHE_LINE) gompi_a64 finished; // this member has finished all collectives up to this number
	struct gompi_nbc_header header[GOMPI_NBC_HEADERS];
	_Alignas(GOMPI_CACHE_LINE) char body[GOMPI_NBC_BODIES][GOMPI_NBC_BODY_BYTES];
};

// One member's private state (its view) for an area. The field `lock` guards this state.
struct gompi_nbc {
	struct gompi_combining_lock lock;
	struct gompi_nbc_member *member; // [n]
	struct gompi_cell **cell;        // [n]: cells of the members' processes
	int32_t *peers;                  // process numbers of the members
	int n, me;
	uint64_t last_started;       // number of the last collective that this process has started
	uint64_t acked;              // all members are known to have finished all collectives up to this number
	uint64_t last_in_all_bodies; // last collective for which this member filled all its bodies
	// True if a collective has found no free space in the current progress pass. Later collectives must not reserve
	// a body before that collective does.
	bool space_pending;
	// Unfinished collectives, in the order of their numbers.
	struct gompi_nbc_op *first, *tail;
	struct gompi_nbc *next;      // next view in the list of views with unfinished collectives
	bool is_listed;              // this view is in that list
	struct gompi_nbc *next_free; // next in the free list
	// The communicator. Requests keep the communicator alive even after the application has freed it. The field
	// `object` is its handle.
	uint64_t object;
	uintptr_t owner;      // argument of gompi_go_callbacks.release_comm
	gompi_a32 references; // number of requests, plus NBC_COMM_FREED if the application has freed the communicator
	// Fields for persistent collectives (nbc_persistent.h), in the communicator's view. init_count counts
	// initializations of persistent collectives. mapped[entry] is the address at which this process has mapped the
	// area of a table entry. mapped is NULL before the first such area.
	uint64_t init_count;
	void **mapped;
	// Fields in the view of a persistent collective: the communicator's view (parent), the index of the table entry
	// (entry) and the collective's number. parent is NULL in the communicator's view.
	struct gompi_nbc *parent;
	int entry;
	uint64_t number;
};

enum {
	NBC_COMM_FREED = 1 << 30
}; // communicator freed: the release of the last request calls gompi_go_callbacks.release_comm

// Returns member i's header for the collective with this number. Both phases use the same header.
static inline struct gompi_nbc_header *gompi_nbc_header(const struct gompi_nbc *b, int i, uint64_t number) {
	return &b->member[i].header[number / 2 % GOMPI_NBC_HEADERS];
}

// The space for data that a collective needs: the header, one body, or all bodies.
enum gompi_nbc_space { NBC_IN_HEADER, NBC_IN_BODY, NBC_IN_ALL_BODIES };

static inline char *gompi_nbc_body(const struct gompi_nbc *b, int i, uint64_t number, enum gompi_nbc_space space) {
	return b->member[i].body[space == NBC_IN_ALL_BODIES ? 0 : number / 2 % GOMPI_NBC_BODIES];
}

#pragma GCC visibility push(hidden)

// Creates the view of rank `me` among n members. The argument `memory` points to n zeroed elements of struct
// gompi_nbc_member, which the members share. Copies `peers`, the members' process numbers. Returns NULL if out of
// memory.
struct gompi_nbc *gompi_nbc_open(void *memory, int n, int me, const int32_t *peers, uintptr_t owner);
// Marks the communicator as freed. Returns true if requests still refer to it: the release of the last request then
// calls gompi_go_callbacks.release_comm.
bool gompi_nbc_comm_freed(struct gompi_nbc *b);
// Adds a request's reference to the communicator. gompi_nbc_release drops such a reference.
void gompi_nbc_acquire(struct gompi_nbc *b);
void gompi_nbc_release(struct gompi_nbc *b);
// Returns the view to the free list.
void gompi_nbc_close(struct gompi_nbc *b);
// Resets the shared memory to its unused state. The caller ensures that no member uses it any longer.
void gompi_nbc_reset(struct gompi_nbc *b);

// Reserves the space that the collective with this number needs. Returns false if the space is still in use, or if an
// earlier collective waits for a body (space_pending).
bool gompi_nbc_reserve_space(struct gompi_nbc *b, uint64_t number, enum gompi_nbc_space space);

// Notifies the other members that the area has changed. Wakes members that sleep in a call. If wake_progress is true,
// also notifies the members' progress threads, because all other threads of a member may be computing.
void gompi_nbc_notify(struct gompi_nbc *b, bool wake_progress);

// Registers the service by which every wait makes progress with nonblocking shared-memory collectives.
void gompi_nbc_register_service(void);
// Appends s to the unfinished collectives. The caller holds the lock.
void gompi_nbc_enqueue(struct gompi_nbc *b, struct gompi_nbc_op *s);
// Advances all collectives of the view as far as possible. Returns true if any has completed. Does not block: if
// another thread holds the lock, that thread makes another pass for this one.
bool gompi_nbc_progress(struct gompi_nbc *b);
// Advances like gompi_nbc_progress. The caller holds the lock, and the function releases it.
void gompi_nbc_progress_locked(struct gompi_nbc *b);
// Releases the lock of a caller that has made no progress while it held the lock. If another thread has meanwhile found
// the lock held, the next run of the service (gompi_nbc_register_service) makes progress for that thread. So the caller
// must be in this service, or in a wait that runs the service before it sleeps.
void gompi_nbc_unlock(struct gompi_nbc *b);

#pragma GCC visibility pop
#endif
