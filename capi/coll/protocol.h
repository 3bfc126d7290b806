// Building blocks of the shared-memory collectives, for the files of this directory that implement the algorithms.
//
// A member fills its buffer of operation k only after it has finished operation k - 1. So a member that has seen the
// filled buffers of all members in operation k knows that all have finished operation k - 1, without a check of their
// finished words.
#ifndef GOMPI_PROTOCOL_H
#define GOMPI_PROTOCOL_H

#include "base/minmax.h"
#include <string.h>

#include "coll/shm_coll.h"
#include "datatype/memory.h"

#pragma GCC visibility push(hidden)

// Location of an operation's data: the header, a small body or a large body.
enum gompi_size_class { GOMPI_IN_HEADER, GOMPI_IN_SMALL, GOMPI_IN_LARGE };

static inline uint64_t gompi_size_class_bytes(enum gompi_size_class p) {
	return p == GOMPI_IN_HEADER  ? GOMPI_SHM_INLINE_BYTES
	       : p == GOMPI_IN_SMALL ? GOMPI_SHM_SMALL_BYTES
				     : GOMPI_SHM_LARGE_BYTES;
}

// Returns the smallest size class for this many bytes of one member. For GOMPI_IN_LARGE, the data may take more than
// one operation.
static inline enum gompi_size_class gompi_size_class_of(uint64_t bytes) {
	return bytes <= GOMPI_SHM_INLINE_BYTES  ? GOMPI_IN_HEADER
	       : bytes <= GOMPI_SHM_SMALL_BYTES ? GOMPI_IN_SMALL
						: GOMPI_IN_LARGE;
}

// Encodes the collective, its root and the low 32 bits of its byte count in one word.
static inline uint64_t gompi_signature_word(int kind, int root, uint64_t bytes) {
	return (uint64_t)kind << 56 | (uint64_t)(root & 0xffffff) << 32 | (uint32_t)bytes;
}

// Encodes a byte count below 2^47 and the low 16 bits of the element size. No operation splits an element.
static inline uint64_t gompi_format_word(uint64_t bytes, uint64_t elem) { return bytes << 16 | (elem & 0xffff); }

static inline struct gompi_shm_header *gompi_shm_header(struct gompi_shm_coll *t, int i, uint64_t number) {
	return &t->member[i].header[number % GOMPI_SHM_HEADERS];
}

// Returns the address of member i's data in the operation with this number.
static inline char *gompi_shm_data(struct gompi_shm_coll *t, int i, uint64_t number, enum gompi_size_class p) {
	if (p == GOMPI_IN_HEADER)
		return gompi_shm_header(t, i, number)->data;
	unsigned b = number % GOMPI_SHM_BODIES;
	return p == GOMPI_IN_SMALL ? t->member[i].body[b] : t->large[i].body[b];
}

// --- Slow paths of the functions below
int gompi_shm_await_free(struct gompi_shm_coll *t, uint64_t depth);
int gompi_shm_await_slow(struct gompi_shm_coll *t, int i);
// Blocks until done(arg) returns true. The member that makes the condition true wakes the sleepers of this member's
// wait word.
int gompi_shm_wait_until(struct gompi_shm_coll *t, bool (*done)(void *), void *arg);
void gompi_shm_note_mismatch(struct gompi_shm_coll *t, struct gompi_coll_call *c, int i, uint64_t w, uint64_t format);

// Begins the next operation, in which this member fills its buffer. Waits until the buffer is free, that is, until all
// members have finished the operation that used it last. Returns MPI_ERR_PROC_ABORTED if a process has failed.
static inline int gompi_shm_begin(struct gompi_shm_coll *t, enum gompi_size_class p) {
	uint64_t depth = p == GOMPI_IN_HEADER ? GOMPI_SHM_HEADERS : GOMPI_SHM_BODIES;
	if (__builtin_expect(++t->seq <= t->acked + depth, 1))
		return 0;
	return gompi_shm_await_free(t, depth);
}

// Publishes this member's buffer with signature w and format. Uses no full memory barrier, so this member can poll the
// other buffers while its stores still leave the CPU's store buffer. The check for sleepers needs a barrier, so this
// member executes the barrier and the check (gompi_wake) only before a long wait and when the operation finishes.
static inline void gompi_shm_publish(struct gompi_shm_coll *t, uint64_t w, uint64_t format) {
	struct gompi_shm_header *h = gompi_shm_header(t, t->me, t->seq);
	gompi_store(&h->signature, w);
	gompi_store(&h->format, format);
	gompi_store_release(&h->number, t->seq); // after the data; pairs with gompi_shm_await
	gompi_prefetch_write(gompi_shm_header(t, t->me, t->seq + 1));
}

// Waits for member i's buffer of the current operation. Returns MPI_ERR_PROC_ABORTED or MPI_ERR_INTERN on failure.
static inline int gompi_shm_await(struct gompi_shm_coll *t, int i) {
	// Acquire: pairs with the release in gompi_shm_publish.
	if (gompi_load_acquire(&gompi_shm_header(t, i, t->seq)->number) == t->seq)
		return 0;
	return gompi_shm_await_slow(t, i);
}

// Waits for member i's buffer like gompi_shm_await, in collectives in which member i does not wait for this member and
// may be several operations ahead. If the buffer is already filled, prefetches the header of the next operation.
// Prefetches no later headers, because they are often not filled yet.
static inline int gompi_shm_await_prefetch(struct gompi_shm_coll *t, int i) {
	// Acquire: pairs with the release in gompi_shm_publish.
	if (gompi_load_acquire(&gompi_shm_header(t, i, t->seq)->number) != t->seq)
		return gompi_shm_await_slow(t, i);
	__builtin_prefetch(gompi_shm_header(t, i, t->seq + 1));
	return 0;
}

// Returns true if member i's call has the signature w and this format. If not, records the mismatch in c.
static inline bool gompi_shm_check_signature(struct gompi_shm_coll *t, struct gompi_coll_call *c, int i, uint64_t w,
					     uint64_t format) {
	struct gompi_shm_header *h = gompi_shm_header(t, i, t->seq);
	if (__builtin_expect(gompi_load(&h->signature) == w && gompi_load(&h->format) == format, 1))
		return true;
	gompi_shm_note_mismatch(t, c, i, w, format);
	return false;
}

// Waits for the buffers of all members. Records a mismatch in c if a member's call differs.
static inline int gompi_shm_await_all(struct gompi_shm_coll *t, struct gompi_coll_call *c, uint64_t w,
				      uint64_t format) {
	for (int i = t->n - 1; i >= 0; i--) {
		if (i == t->me)
			continue;
		int rc = gompi_shm_await(t, i);
		if (rc)
			return rc;
		gompi_shm_check_signature(t, c, i, w, format);
	}
	t->acked = t->seq - 1;
	return 0;
}

// Finishes the current operation. The other members may then refill the buffers that this member has read.
static inline void gompi_shm_finish(struct gompi_shm_coll *t) {
	struct gompi_shm_member *me = &t->member[t->me];
	gompi_store_release(&me->finished, t->seq); // after the reads of buffers; pairs with gompi_shm_await_free
	gompi_wake(&me->wait);
}

// Finishes an operation in which no member waits for this member's finished word. Publishes the finished word only in
// every fourth operation (GOMPI_SHM_BODIES): members that fill buffers poll this word, and its cache line would bounce
// in each operation. A member that fills bodies still finds enough free bodies. pairs_begin even waits until all
// members have finished all earlier operations. Such a wait ends, because every other member publishes its finished
// word before it waits itself (wait_word), or finishes the operation at once.
//
// If filled is true, this member has filled its buffer, and the function wakes members that wait for it.
static inline void gompi_shm_finish_lazy(struct gompi_shm_coll *t, bool filled) {
	if (t->seq % GOMPI_SHM_BODIES == 0)
		gompi_shm_finish(t);
	else if (filled)
		gompi_wake(&t->member[t->me].wait);
}

static inline bool gompi_coll_mismatch(const struct gompi_coll_call *c) { return c->mismatch.rank >= 0; }

static inline int gompi_shm_result(const struct gompi_coll_call *c) {
	return gompi_coll_mismatch(c) ? GOMPI_COLL_MISMATCH : GOMPI_COLL_DONE;
}

// Runs an operation in which all members compare their calls before they move data. Returns GOMPI_COLL_MISMATCH if the
// calls differ; then no member continues its call.
int gompi_shm_compare_calls(struct gompi_shm_coll *t, struct gompi_coll_call *c, uint64_t w, uint64_t format);

// Begins the first operation of a broadcast or scatter at a member other than the root, and waits for the root's
// buffer. Stores the root's byte count in *bytes. Records a mismatch in c if the root's length differs. If the root
// makes a different call, finishes the operation and returns GOMPI_COLL_MISMATCH. Otherwise the caller must finish the
// operation.
int gompi_shm_read_root_header(struct gompi_shm_coll *t, struct gompi_coll_call *c, uint64_t *bytes);

// Allocates the large bodies if they do not exist yet. Returns the size class for calls with many operations:
// GOMPI_IN_LARGE, or GOMPI_IN_SMALL if the allocation failed. Collective: all members call it at the same point.
enum gompi_size_class gompi_shm_alloc_large(struct gompi_shm_coll *t);

// --- The algorithms; see gompi_shm_run
int gompi_shm_bcast(struct gompi_shm_coll *t, struct gompi_coll_call *c);
int gompi_shm_gather(struct gompi_shm_coll *t, struct gompi_coll_call *c);
int gompi_shm_scatter(struct gompi_shm_coll *t, struct gompi_coll_call *c);
int gompi_shm_allgather(struct gompi_shm_coll *t, struct gompi_coll_call *c);
int gompi_shm_alltoall(struct gompi_shm_coll *t, struct gompi_coll_call *c);
int gompi_shm_reduce(struct gompi_shm_coll *t, struct gompi_coll_call *c); // also runs allreduce, scan and exscan
int gompi_shm_reduce_scatter(struct gompi_shm_coll *t, struct gompi_coll_call *c);
int gompi_shm_gatherv(struct gompi_shm_coll *t, struct gompi_coll_call *c);
int gompi_shm_pairwise(struct gompi_shm_coll *t, struct gompi_coll_call *c); // blocks of individual lengths

// Runs one operation of a reduction whose result only member 0 gets. The other members fill their buffers with operands
// of this many bytes; they do not use acc and failed. Member 0 reduces all operands into acc and stores the error class
// of the reduction, or 0, in *failed. Member 0 records a mismatch in c if another member's signature or format differs.
int gompi_shm_reduce_to_leader(struct gompi_shm_coll *t, struct gompi_coll_call *c, uint64_t w, uint64_t format,
			       uint64_t bytes, char *acc, int *failed);

#pragma GCC visibility pop
#endif
