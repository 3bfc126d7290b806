// Building blocks of every collective over slots. For the files of this directory that implement the algorithms.
//
// An operation in which a member reads the slots of all members needs no check of their finished words. A member fills
// its slot of operation k only after it has finished operation k - 1, so all members have finished k - 1.
#ifndef GOMPI_PROTOCOL_H
#define GOMPI_PROTOCOL_H

#include <string.h>

#include "coll/slots.h"
#include "datatype/memory.h"

#pragma GCC visibility push(hidden)

// The location of an operation's data.
enum gompi_slot_place { GOMPI_IN_HEAD, GOMPI_IN_SMALL, GOMPI_IN_LARGE };

static inline uint64_t gompi_capacity(enum gompi_slot_place p) {
	return p == GOMPI_IN_HEAD ? GOMPI_SLOT_INLINE : p == GOMPI_IN_SMALL ? GOMPI_SLOT_SMALL : GOMPI_SLOT_LARGE;
}

// Returns the smallest place that holds a member's bytes. Data that does not fit into the control block takes more than
// one operation.
static inline enum gompi_slot_place gompi_place_of(uint64_t bytes) {
	return bytes <= GOMPI_SLOT_INLINE ? GOMPI_IN_HEAD : bytes <= GOMPI_SLOT_SMALL ? GOMPI_IN_SMALL : GOMPI_IN_LARGE;
}

// Encodes the collective, its root and its byte count (low 32 bits) in one word.
static inline uint64_t gompi_what(int kind, int root, uint64_t bytes) {
	return (uint64_t)kind << 56 | (uint64_t)(root & 0xffffff) << 32 | (uint32_t)bytes;
}

// Encodes bytes, which are below 2^47, and the size of an element that no operation splits.
static inline uint64_t gompi_plan(uint64_t bytes, uint64_t elem) { return bytes << 16 | (elem & 0xffff); }

static inline struct gompi_slot_head *gompi_slot_head(struct gompi_slots *t, int i, uint64_t number) {
	return &t->member[i].head[number % GOMPI_SLOT_HEADS];
}

// Returns the data of member i in an operation.
static inline char *gompi_slot_data(struct gompi_slots *t, int i, uint64_t number, enum gompi_slot_place p) {
	if (p == GOMPI_IN_HEAD)
		return gompi_slot_head(t, i, number)->data;
	unsigned b = number % GOMPI_SLOT_BODIES;
	return p == GOMPI_IN_SMALL ? t->member[i].body[b] : t->more[i].body[b];
}

// --- Slow paths of the functions below
int gompi_slots_room(struct gompi_slots *t, uint64_t depth);
int gompi_slots_await_long(struct gompi_slots *t, int i);
// Waits until done(arg) is true. The member that makes it true wakes this member's wait word.
int gompi_slots_until(struct gompi_slots *t, bool (*done)(void *), void *arg);
void gompi_slots_note(struct gompi_slots *t, struct gompi_slots_call *c, int i, uint64_t w, uint64_t plan);

// Begins the next operation, in which this member fills its slot. Waits until the slot is free. Returns
// MPI_ERR_PROC_ABORTED if a process has failed.
static inline int gompi_slots_begin(struct gompi_slots *t, enum gompi_slot_place p) {
	uint64_t depth = p == GOMPI_IN_HEAD ? GOMPI_SLOT_HEADS : GOMPI_SLOT_BODIES;
	if (__builtin_expect(++t->seq <= t->settled + depth, 1))
		return 0;
	return gompi_slots_room(t, depth);
}

// Publishes the slot. Uses plain stores: they drain from the store buffer while this member already polls the other
// slots, and a full barrier would wait for that. The barrier for sleepers follows before a long wait and when the
// operation finishes.
static inline void gompi_slots_publish(struct gompi_slots *t, uint64_t w, uint64_t plan) {
	struct gompi_slot_head *h = gompi_slot_head(t, t->me, t->seq);
	gompi_store(&h->what, w);
	gompi_store(&h->plan, plan);
	gompi_store_release(&h->number, t->seq); // after the data; pairs with gompi_slots_await
	gompi_prefetch_to_write(gompi_slot_head(t, t->me, t->seq + 1));
}

// Waits for member i's slot of the current operation. Returns MPI_ERR_PROC_ABORTED or MPI_ERR_INTERN on failure.
static inline int gompi_slots_await(struct gompi_slots *t, int i) {
	// Acquire: pairs with the release in gompi_slots_publish.
	if (gompi_load_acquire(&gompi_slot_head(t, i, t->seq)->number) == t->seq)
		return 0;
	return gompi_slots_await_long(t, i);
}

// Waits for member i's slot where member i does not wait for this member, so that it may be ahead. If the slot has
// arrived, prefetches the next one. Later slots would often be fetched before they are filled.
static inline int gompi_slots_await_series(struct gompi_slots *t, int i) {
	// Acquire: pairs with the release in gompi_slots_publish.
	if (gompi_load_acquire(&gompi_slot_head(t, i, t->seq)->number) != t->seq)
		return gompi_slots_await_long(t, i);
	__builtin_prefetch(gompi_slot_head(t, i, t->seq + 1));
	return 0;
}

// Returns true if member i's call has the signature w and plan. If not, notes the difference in c.
static inline bool gompi_slots_same(struct gompi_slots *t, struct gompi_slots_call *c, int i, uint64_t w,
				    uint64_t plan) {
	struct gompi_slot_head *h = gompi_slot_head(t, i, t->seq);
	if (__builtin_expect(gompi_load(&h->what) == w && gompi_load(&h->plan) == plan, 1))
		return true;
	gompi_slots_note(t, c, i, w, plan);
	return false;
}

// Waits for the slots of all members and notes differing calls in c.
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

// Finishes the current operation: the slots that it read may be refilled.
static inline void gompi_slots_finish(struct gompi_slots *t) {
	struct gompi_slots_member *me = &t->member[t->me];
	gompi_store_release(&me->finished, t->seq); // after the reads of slots; pairs with gompi_slots_room
	gompi_wake(&me->wait);
}

// Finishes an operation in which no member waits for this member's finished word. Publishes finished only in every
// fourth operation (GOMPI_SLOT_BODIES): members that fill slots poll this word, and its cache line would bounce in each
// operation. A member that fills bodies still finds as many free as it needs. A member that waits for all earlier
// operations (pairs.c) waits only for two kinds of members. They wait too, and publish finished then (wait_word), or
// they finish at once.
//
// If filled is true, other members may wait for this member's slot and are woken.
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

// Runs an operation in which all members compare the call that they are about to make. Returns GOMPI_SLOTS_DIFFER if
// the calls differ: then no member continues the call.
int gompi_slots_agree(struct gompi_slots *t, struct gompi_slots_call *c, uint64_t w, uint64_t plan);

// Begins the first operation of a call at a member that follows the root, and waits for the root's slot. Stores the
// root's byte count in *bytes. Notes in c if the root's call has another length. Returns GOMPI_SLOTS_DIFFER if the root
// makes another call; the operation is finished then. Otherwise the operation stays open and the caller finishes it.
int gompi_slots_follow(struct gompi_slots *t, struct gompi_slots_call *c, uint64_t *bytes);

// Returns the place for data of calls with many operations: large bodies, or small ones if there is no memory for
// those. Collective: all members call it at the same point.
enum gompi_slot_place gompi_slots_large(struct gompi_slots *t);

// --- The algorithms; see gompi_slots_run
int gompi_slots_bcast(struct gompi_slots *t, struct gompi_slots_call *c);
int gompi_slots_gather(struct gompi_slots *t, struct gompi_slots_call *c);
int gompi_slots_scatter(struct gompi_slots *t, struct gompi_slots_call *c);
int gompi_slots_allgather(struct gompi_slots *t, struct gompi_slots_call *c);
int gompi_slots_alltoall(struct gompi_slots *t, struct gompi_slots_call *c);
int gompi_slots_reduce(struct gompi_slots *t, struct gompi_slots_call *c); // and allreduce, scan, exscan
int gompi_slots_reduce_scatter(struct gompi_slots *t, struct gompi_slots_call *c);
int gompi_slots_gatherv(struct gompi_slots *t, struct gompi_slots_call *c);
int gompi_slots_pairs(struct gompi_slots *t, struct gompi_slots_call *c); // blocks of individual lengths

// Runs one operation of a reduction. The other members fill their slots with operands of the given size. Member 0
// reduces all operands into acc and stores the result of the reduction function in *failed. It also notes in c members
// with another w or plan.
int gompi_slots_bring(struct gompi_slots *t, struct gompi_slots_call *c, uint64_t w, uint64_t plan, uint64_t bytes,
		      char *acc, int *failed);

static inline uint64_t gompi_least(uint64_t a, uint64_t b) { return a < b ? a : b; }

#pragma GCC visibility pop
#endif
