// The steps that every collective over slots is made of. For the files of this folder that are the algorithms.
//
// Where all members read each other's slots of an operation, none has to be asked whether it has finished the one
// before: nobody fills a slot earlier.
#ifndef GOMPI_PROTOCOL_H
#define GOMPI_PROTOCOL_H

#include <string.h>

#include "coll/slots.h"
#include "datatype/memory.h"

#pragma GCC visibility push(hidden)

// Where the data of an operation is.
enum gompi_slot_place { GOMPI_IN_HEAD, GOMPI_IN_SMALL, GOMPI_IN_LARGE };

static inline uint64_t gompi_capacity(enum gompi_slot_place p) {
	return p == GOMPI_IN_HEAD ? GOMPI_SLOT_INLINE : p == GOMPI_IN_SMALL ? GOMPI_SLOT_SMALL : GOMPI_SLOT_LARGE;
}

// For so many bytes of a member. What does not fit into the control block takes more than one operation.
static inline enum gompi_slot_place gompi_place_of(uint64_t bytes) {
	return bytes <= GOMPI_SLOT_INLINE ? GOMPI_IN_HEAD : bytes <= GOMPI_SLOT_SMALL ? GOMPI_IN_SMALL : GOMPI_IN_LARGE;
}

// Which collective, whose root, how many bytes.
static inline uint64_t gompi_what(int kind, int root, uint64_t bytes) {
	return (uint64_t)kind << 56 | (uint64_t)(root & 0xffffff) << 32 | (uint32_t)bytes;
}

// A plan for bytes, which are below 2^47, in elements of elem bytes that no operation divides.
static inline uint64_t gompi_plan(uint64_t bytes, uint64_t elem) { return bytes << 16 | (elem & 0xffff); }

static inline struct gompi_slot_head *gompi_slot_head(struct gompi_slots *t, int i, uint64_t number) {
	return &t->member[i].head[number % GOMPI_SLOT_HEADS];
}

// The data of member i in an operation.
static inline char *gompi_slot_data(struct gompi_slots *t, int i, uint64_t number, enum gompi_slot_place p) {
	if (p == GOMPI_IN_HEAD)
		return gompi_slot_head(t, i, number)->data;
	unsigned b = number % GOMPI_SLOT_BODIES;
	return p == GOMPI_IN_SMALL ? t->member[i].body[b] : t->more[i].body[b];
}

// The slow halves of the functions below.
int gompi_slots_room(struct gompi_slots *t, uint64_t depth);
int gompi_slots_await_long(struct gompi_slots *t, int i);
// Waits until done(arg) is true. Whoever makes it so wakes this member's word.
int gompi_slots_until(struct gompi_slots *t, bool (*done)(void *), void *arg);
void gompi_slots_note(struct gompi_slots *t, struct gompi_slots_call *c, int i, uint64_t w, uint64_t plan);

// Begins the next operation as one that fills its slot, once there is room. MPI_ERR_PROC_ABORTED.
static inline int gompi_slots_begin(struct gompi_slots *t, enum gompi_slot_place p) {
	uint64_t depth = p == GOMPI_IN_HEAD ? GOMPI_SLOT_HEADS : GOMPI_SLOT_BODIES;
	if (__builtin_expect(++t->seq <= t->settled + depth, 1))
		return 0;
	return gompi_slots_room(t, depth);
}

// Lets the others read the slot. Plain stores, which take their way while this member already looks for the others'; a
// barrier would wait for them. It comes before a wait that lasts, and at the end of the operation.
static inline void gompi_slots_publish(struct gompi_slots *t, uint64_t w, uint64_t plan) {
	struct gompi_slot_head *h = gompi_slot_head(t, t->me, t->seq);
	gompi_store(&h->what, w);
	gompi_store(&h->plan, plan);
	gompi_store_release(&h->number, t->seq); // pairs with the acquire of who awaits
	gompi_prefetch_to_write(gompi_slot_head(t, t->me, t->seq + 1));
}

// Waits for member i's slot of the operation under way. MPI_ERR_PROC_ABORTED, MPI_ERR_INTERN.
static inline int gompi_slots_await(struct gompi_slots *t, int i) {
	// acquire: pairs with the release of who publishes
	if (gompi_load_acquire(&gompi_slot_head(t, i, t->seq)->number) == t->seq)
		return 0;
	return gompi_slots_await_long(t, i);
}

// The same where member i waits for nothing that this one does, so that it may be ahead: if its slot has come, the
// next one is fetched. Those behind it would often be fetched before they are filled.
static inline int gompi_slots_await_series(struct gompi_slots *t, int i) {
	// acquire: pairs with the release of who publishes
	if (gompi_load_acquire(&gompi_slot_head(t, i, t->seq)->number) != t->seq)
		return gompi_slots_await_long(t, i);
	__builtin_prefetch(gompi_slot_head(t, i, t->seq + 1));
	return 0;
}

// Returns true if member i's call belongs to one with w and plan; if not, that is noted in c.
static inline bool gompi_slots_same(struct gompi_slots *t, struct gompi_slots_call *c, int i, uint64_t w,
				    uint64_t plan) {
	struct gompi_slot_head *h = gompi_slot_head(t, i, t->seq);
	if (__builtin_expect(gompi_load(&h->what) == w && gompi_load(&h->plan) == plan, 1))
		return true;
	gompi_slots_note(t, c, i, w, plan);
	return false;
}

// Waits for all members' slots; whether they belong together is noted.
static inline int gompi_slots_await_all(struct gompi_slots *t, struct gompi_slots_call *c, uint64_t w, uint64_t plan) {
	for (int i = t->n - 1; i >= 0; i--) {
		if (i == t->me)
			continue;
		int rc = gompi_slots_await(t, i);
		if (rc)
			return rc;
		gompi_slots_same(t, c, i, w, plan);
	}
	t->settled = t->seq - 1;
	return 0;
}

// Ends the operation under way: what it read may be filled again.
static inline void gompi_slots_finish(struct gompi_slots *t) {
	struct gompi_slots_member *me = &t->member[t->me];
	gompi_store_release(&me->finished, t->seq); // pairs with the acquire in gompi_slots_room
	gompi_wake(&me->wait);
}

// The same for an operation that nobody waits in for that: of four in a row the others are told once, since those who
// fill slots look there, and the line would go to and fro each time. Who fills bodies then has as much room as it
// needs, and who waits for all operations before (pairs.c) waits for members who wait, too (wait_word), or finish at
// once. filled: others may wait for the slot.
static inline void gompi_slots_finish_series(struct gompi_slots *t, bool filled) {
	if (t->seq % GOMPI_SLOT_BODIES == 0)
		gompi_slots_finish(t);
	else if (filled)
		gompi_wake(&t->member[t->me].wait);
}

static inline bool gompi_slots_differ(const struct gompi_slots_call *c) { return c->differ.rank >= 0; }

static inline int gompi_slots_result(const struct gompi_slots_call *c) {
	return gompi_slots_differ(c) ? GOMPI_SLOTS_DIFFER : GOMPI_SLOTS_DONE;
}

// An operation in which all members compare what they are about to do. GOMPI_SLOTS_DIFFER: the call must not go on, and
// does so nowhere.
int gompi_slots_agree(struct gompi_slots *t, struct gompi_slots_call *c, uint64_t w, uint64_t plan);

// The first operation of a call in which all do as root says, which has filled its slot: how many bytes that is, or
// GOMPI_SLOTS_DIFFER: root is in another call, there is nothing to follow. The operation is under way.
int gompi_slots_follow(struct gompi_slots *t, struct gompi_slots_call *c, uint64_t *bytes);

// Where the data of calls of many operations is: in large bodies, if there is memory. All members call it alike.
enum gompi_slot_place gompi_slots_large(struct gompi_slots *t);

// The algorithms, see gompi_slots_run.
int gompi_slots_bcast(struct gompi_slots *t, struct gompi_slots_call *c);
int gompi_slots_gather(struct gompi_slots *t, struct gompi_slots_call *c);
int gompi_slots_scatter(struct gompi_slots *t, struct gompi_slots_call *c);
int gompi_slots_allgather(struct gompi_slots *t, struct gompi_slots_call *c);
int gompi_slots_alltoall(struct gompi_slots *t, struct gompi_slots_call *c);
int gompi_slots_reduce(struct gompi_slots *t, struct gompi_slots_call *c); // and allreduce, scan, exscan
int gompi_slots_reduce_scatter(struct gompi_slots *t, struct gompi_slots_call *c);
int gompi_slots_gatherv(struct gompi_slots *t, struct gompi_slots_call *c);
int gompi_slots_pairs(struct gompi_slots *t, struct gompi_slots_call *c); // what has blocks of many lengths

// One operation of a reduction: the others fill their slots with so many bytes, member 0 folds what all have into acc.
// Who has not the same w and plan is noted in c there. What a reduction returned goes to *failed.
int gompi_slots_bring(struct gompi_slots *t, struct gompi_slots_call *c, uint64_t w, uint64_t plan, uint64_t bytes,
		      char *acc, int *failed);

static inline uint64_t gompi_least(uint64_t a, uint64_t b) { return a < b ? a : b; }

#pragma GCC visibility pop
#endif
