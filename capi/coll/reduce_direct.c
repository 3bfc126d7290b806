// Large reductions that read the operands directly from the other members' memory with process_vm_readv. Each member
// computes its own result, or one chunk of the result for all members.
#include <sched.h>
#include <stdlib.h>

#include "base/failure.h"
#include "coll/direct.h"
#include "transport/cma.h"

// The state of the direct reads of a blocking call.
struct direct_reads {
	struct gompi_shm_coll *t;
	struct gompi_coll_call *c;
	// read_failed: in allreduce_chunks, a read has failed at any member; in reduce_into_root, a read or a write
	struct gompi_remote_operands operands;
};

static bool read_peer(struct gompi_remote_operands *f, int i, uint64_t at, char *to, uint64_t bytes) {
	if (gompi_cma_move(f->peers[i], at, to, bytes, false))
		return true;
	f->read_failed = true;
	f->failed_rank = i;
	return false;
}

bool gompi_read_operand(struct gompi_remote_operands *f, int i, uint64_t from, char *to, uint64_t bytes) {
	return read_peer(f, i, f->address[i] + from, to, bytes);
}

uint64_t gompi_reduce_remote(struct gompi_remote_operands *f, const struct gompi_reduction *r, uint64_t from,
			     uint64_t bytes, int upto, char *to, int *failed) {
	const uint64_t step = GOMPI_DIRECT_READ_BYTES / r->size * r->size;
	uint64_t done = 0;
	for (uint64_t n; done < bytes && !*failed; done += n) {
		n = gompi_min_u64(bytes - done, step);
		const bool overwrites = f->local + from + done == to + done && f->me < upto - 1;
		char *acc = overwrites ? f->pending_result : to + done;
		for (int i = upto - 1; i >= 0 && !*failed; i--) {
			const char *in = i == f->me ? f->local + from + done : i == upto - 1 ? acc : f->segment;
			if (i != f->me && !gompi_read_operand(f, i, from + done, (char *)(uintptr_t)in, n))
				return done;
			if (i == upto - 1)
				gompi_copy_between(acc, in, n);
			else
				*failed = gompi_combine(r, in, acc, n);
		}
		gompi_copy_between(to + done, acc, n);
	}
	return done;
}

// Runs a divided allreduce: each member reduces one chunk of each step for all members into its result, and reads the
// other chunks from the results of the other members.
static int allreduce_chunks(struct direct_reads *f, uint64_t w, uint64_t format, int *failed) {
	struct gompi_shm_coll *t = f->t;
	struct gompi_coll_call *c = f->c;
	const uint64_t size = c->reduction.size, n = (uint64_t)t->n,
		       chunk_capacity = GOMPI_DIRECT_READ_BYTES / size * size;
	for (uint64_t from = 0, left; from < c->bytes; from += n * chunk_capacity) {
		left = gompi_min_u64(c->bytes - from, n * chunk_capacity);
		const uint64_t chunk_bytes = (left / size + n - 1) / n * size,
			       chunk_start = gompi_min_u64((uint64_t)t->me * chunk_bytes, left);
		char *chunk = c->out + from + chunk_start;
		if (!*failed && !f->operands.read_failed)
			gompi_reduce_remote(&f->operands, &c->reduction, from + chunk_start,
					    gompi_min_u64(chunk_bytes, left - chunk_start), t->n, chunk, failed);
		bool all_have;
		int rc = gompi_shm_exchange_word(t, c, w, format,
						 f->operands.read_failed ? 0 : (uint64_t)(uintptr_t)chunk, &all_have);
		if (rc)
			return rc;
		f->operands.read_failed = f->operands.read_failed || !all_have;
		// A member publishes the address of its chunk after it has read that range of this member's operand. So
		// the chunk may overwrite that range.
		for (int i = 0; i < t->n && !f->operands.read_failed; i++) {
			uint64_t at = gompi_min_u64((uint64_t)i * chunk_bytes, left);
			if (i != t->me && at < left)
				read_peer(&f->operands, i, gompi_shm_peer_word(t, i), c->out + from + at,
					  gompi_min_u64(chunk_bytes, left - at));
		}
	}
	return 0;
}

// The words of reduce_into_root: the root publishes the address of its result, and CLOSED when it leaves the call. The
// other members publish whether they write to the result.
enum { CLOSED = 0, NOT_WRITING = 1, WRITING = 2 };

// Writes bytes to the root's result. Returns false if the system refuses it, or if the root has left the call.
static bool write_to_root(const struct direct_reads *f, uint64_t from, char *data, uint64_t bytes) {
	struct gompi_shm_coll *t = f->t;
	const int root = f->c->root;
	gompi_a64 *word = gompi_shm_word(t, t->me, t->seq);
	// Pairs with close_result: this member sees CLOSED, or the root sees WRITING and waits.
	gompi_swap_seq_cst(word, WRITING);
	gompi_full_fence_after_rmw();
	const uint64_t result = gompi_shm_peer_word(t, root);
	bool written = result != CLOSED && gompi_cma_move(t->peers[root], result + from, data, bytes, true);
	gompi_store_release(word, NOT_WRITING);
	return written;
}

// Ends the other members' access to the root's result. The root calls it if a failure or a revocation ends its call.
// Blocks until no member writes. The words are those of the operation with this number.
static void close_result(struct gompi_shm_coll *t, uint64_t number) {
	gompi_swap_seq_cst(gompi_shm_word(t, t->me, number), CLOSED);
	gompi_full_fence_after_rmw();
	for (int i = 0; i < t->n; i++)
		while (i != t->me && gompi_load_acquire(gompi_shm_word(t, i, number)) == WRITING &&
		       !gompi_is_failed(t->peers[i]))
			sched_yield();
}

static bool never(void *none) {
	(void)none;
	return false;
}

// Runs a divided reduce: each member reduces one share of the operands and writes it to the root's result. The result
// may overwrite the root's operand, because only one member reads and writes each share of it.
static int reduce_into_root(struct direct_reads *f, uint64_t w, uint64_t format, int *failed) {
	struct gompi_shm_coll *t = f->t;
	struct gompi_coll_call *c = f->c;
	bool all_have;
	int rc = gompi_shm_exchange_word(t, c, w, format, t->me == c->root ? (uint64_t)(uintptr_t)c->out : NOT_WRITING,
					 &all_have);
	if (rc)
		return rc;
	// The share of the root is larger, so that each member moves the same number of bytes between processes: for
	// each byte of its share, the root moves n - 1 bytes, and another member n.
	const uint64_t size = c->reduction.size, n = (uint64_t)t->n,
		       share = c->bytes / size * (n - 1) / (n + (n - 1) * (n - 1)) * size,
		       root_share = c->bytes - (n - 1) * share, capacity = GOMPI_DIRECT_READ_BYTES / size * size;
	uint64_t from = (uint64_t)t->me * share + (t->me > c->root ? root_share - share : 0);
	const uint64_t end = from + (t->me == c->root ? root_share : share);
	for (uint64_t bytes; from < end && !*failed && !f->operands.read_failed; from += bytes) {
		bytes = gompi_min_u64(end - from, capacity);
		char *to = t->me == c->root ? c->out + from : f->operands.pending_result;
		gompi_reduce_remote(&f->operands, &c->reduction, from, bytes, t->n, to, failed);
		if (t->me != c->root && !*failed && !f->operands.read_failed)
			f->operands.read_failed = !write_to_root(f, from, to, bytes);
	}
	// The root leaves the call early only after a failure or a revocation, which also ends this wait.
	return gompi_shm_peer_word(t, c->root) == CLOSED ? gompi_shm_wait_until(t, never, NULL) : 0;
}

// Returns true if the first and the last byte of the range [begin, end) of the operands of ranks [0, upto) can be read.
static bool is_range_readable(struct gompi_remote_operands *f, uint64_t begin, uint64_t end, int upto) {
	char byte;
	for (int i = 0; i < upto && begin < end; i++)
		if (i != f->me &&
		    (!gompi_read_operand(f, i, begin, &byte, 1) || !gompi_read_operand(f, i, end - 1, &byte, 1)))
			return false;
	return true;
}

// Returns true if the system permits process_vm_writev. Writes only to this process, because the root may leave the
// call after a failure.
static bool is_write_permitted(struct gompi_remote_operands *f) {
	char byte = 0, copy;
	return gompi_cma_move(f->peers[f->me], (uint64_t)(uintptr_t)&copy, &byte, 1, true);
}

// The first word that a member publishes: the address of its operand << ADDRESS_SHIFT, plus OVERWRITES_OPERAND if its
// result overwrites the operand; 0 if the member cannot read directly.
enum { OVERWRITES_OPERAND = 1, ADDRESS_SHIFT = 1 };

int gompi_shm_reduce_direct(struct gompi_shm_coll *t, struct gompi_coll_call *c, uint64_t w, uint64_t format,
			    const struct gompi_direct_reduction *d, int *failed, bool *done) {
	const size_t operands = (size_t)t->n * sizeof(uint64_t);
	char *memory = malloc(operands + 2 * GOMPI_DIRECT_READ_BYTES);
	char *buffers = memory + operands;
	uint64_t *address = (uint64_t *)(void *)memory;
	struct direct_reads f = {
		t, c, {t->peers, t->me, address, c->in, buffers, buffers + GOMPI_DIRECT_READ_BYTES, false, -1}};
	bool can_read = gompi_node.has_cma && !t->no_direct && memory != NULL &&
			c->reduction.size <= GOMPI_DIRECT_READ_BYTES,
	     overwrites = false;
	*done = false;
	int rc = gompi_shm_exchange_word(
		t, c, w, format,
		can_read ? (uint64_t)(uintptr_t)c->in << ADDRESS_SHIFT | (d->in_place ? OVERWRITES_OPERAND : 0) : 0,
		&can_read);
	if (rc == 0 && gompi_coll_mismatch(c))
		rc = GOMPI_COLL_MISMATCH;
	for (int i = 0; rc == 0 && can_read && i < t->n; i++) {
		const uint64_t peer_word = gompi_shm_peer_word(t, i);
		address[i] = peer_word >> ADDRESS_SHIFT;
		overwrites = overwrites || (peer_word & OVERWRITES_OPERAND);
	}
	bool is_split = d->is_split || (overwrites && c->kind == GOMPI_ALLREDUCE);
	if (rc || !can_read || (overwrites && !is_split && c->kind != GOMPI_REDUCE))
		goto out;
	const bool writes_to_root = is_split && c->kind == GOMPI_REDUCE;
	// If results overwrite operands, the reduction cannot be repeated after a failed read or write. So check first
	// that all operands can be read, and that writes are permitted.
	if (overwrites) {
		bool is_accessible = is_range_readable(&f.operands, 0, c->bytes, t->n) &&
				     (!writes_to_root || is_write_permitted(&f.operands));
		if ((rc = gompi_shm_exchange_word(t, c, w, format, is_accessible, &can_read)) != 0)
			goto out;
	}
	const uint64_t number = t->seq + 1; // of the exchange in reduce_into_root
	if (can_read && is_split)
		rc = (writes_to_root ? reduce_into_root : allreduce_chunks)(&f, w, format, failed);
	else if (can_read)
		gompi_reduce_remote(&f.operands, &c->reduction, d->offset, d->bytes, d->upto, d->to, failed);
	// No member may change its operand until all members have read it.
	bool was_proved = overwrites && can_read;
	if (rc == 0)
		rc = gompi_shm_exchange_word(t, c, w, format, can_read && !f.operands.read_failed, done);
	if (rc != 0 && writes_to_root && t->me == c->root)
		close_result(t, number);
	t->no_direct = !*done;
	if (rc == 0 && !*done && was_proved)
		rc = MPI_ERR_INTERN;
	if (!*done)
		*failed = 0;
out:
	free(memory);
	return rc;
}
