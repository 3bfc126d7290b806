// Large reductions that read the operands directly from the other members' memory with process_vm_readv. Each member
// computes its own result, or one chunk of the result for all members.
#include <stdlib.h>

#include "coll/direct.h"
#include "transport/cma.h"

// Bytes of one direct read. The data is small enough to stay in the cache until it is reduced, and large enough to
// amortize the system call: the call costs 2 us, and the copy 10 us.
enum { DIRECT_READ_BYTES = 128 << 10 };

// The state of the direct reads of a call.
struct direct_reads {
	struct gompi_shm_coll *t;
	struct gompi_coll_call *c;
	uint64_t *operand; // [n]: addresses of the members' operands
	// Buffers of DIRECT_READ_BYTES bytes. The buffer `segment` holds data that was read. The buffer pending_result
	// holds a result that must not overwrite this member's operand yet. If this member gets no result, the two
	// buffers `chunks` hold the chunks that it reduces in even and in odd steps.
	char *segment, *pending_result, *chunks[2];
	bool read_failed; // a read has failed at this member or, in reduce_chunks, at any member
};

static bool read_peer(struct direct_reads *f, int i, uint64_t at, char *to, uint64_t bytes) {
	bool is_read = gompi_cma_move(f->t->peers[i], at, to, bytes, false);
	f->read_failed = f->read_failed || !is_read;
	return is_read;
}

// Reduces the range [from, from + bytes) of the operands of ranks [0, upto) into result, in rank order. Starts with the
// last operand and combines each further operand as the left one. Returns 0 or the error class of the reduction.
static int reduce_from_peers(struct direct_reads *f, uint64_t from, uint64_t bytes, int upto, char *result) {
	const struct gompi_reduction *r = &f->c->reduction;
	const uint64_t max_bytes = DIRECT_READ_BYTES / r->size * r->size;
	const int me = f->t->me;
	int failed = 0;
	for (uint64_t n; bytes > 0 && !failed; from += n, result += n, bytes -= n) {
		const char *operand = f->c->in + from;
		char *acc = operand == result && me < upto - 1 ? f->pending_result : result;
		n = gompi_min_u64(bytes, max_bytes);
		for (int i = upto - 1; i >= 0 && !failed; i--) {
			bool last = i == upto - 1;
			if (i == me && last)
				gompi_copy_between(acc, operand, n);
			else if (i == me)
				failed = gompi_combine(r, operand, acc, n);
			else if (read_peer(f, i, f->operand[i] + from, last ? acc : f->segment, n) && !last)
				failed = gompi_combine(r, f->segment, acc, n);
		}
		gompi_copy_between(result, acc, n);
	}
	return failed;
}

// Runs a divided reduction: each member reduces one chunk of each step for all members, and the members that receive
// the result read all chunks. A chunk is in the result buffer of the member that reduced it, or in private memory if
// that member gets no result.
static int reduce_chunks(struct direct_reads *f, uint64_t w, uint64_t format, int *failed) {
	struct gompi_shm_coll *t = f->t;
	struct gompi_coll_call *c = f->c;
	const bool receives = c->kind == GOMPI_ALLREDUCE || c->root == t->me;
	const uint64_t size = c->reduction.size, n = (uint64_t)t->n, chunk_capacity = DIRECT_READ_BYTES / size * size;
	int parity = 0;
	for (uint64_t from = 0, left; from < c->bytes; from += n * chunk_capacity, parity = !parity) {
		left = gompi_min_u64(c->bytes - from, n * chunk_capacity);
		const uint64_t chunk_bytes = (left / size + n - 1) / n * size,
			       chunk_start = gompi_min_u64((uint64_t)t->me * chunk_bytes, left);
		char *chunk = receives ? c->out + from + chunk_start : f->chunks[parity];
		if (!*failed)
			*failed = reduce_from_peers(f, from + chunk_start,
						    gompi_min_u64(chunk_bytes, left - chunk_start), t->n, chunk);
		bool all_have;
		int rc = gompi_shm_exchange_word(t, c, w, format, f->read_failed ? 0 : (uint64_t)(uintptr_t)chunk,
						 &all_have);
		if (rc)
			return rc;
		f->read_failed = f->read_failed || !all_have;
		// A member publishes the address of its chunk after it has read that range of this member's operand. So
		// the chunk may overwrite that range.
		for (int i = 0; receives && i < t->n && !f->read_failed; i++) {
			uint64_t at = gompi_min_u64((uint64_t)i * chunk_bytes, left);
			if (i != t->me && at < left)
				read_peer(f, i, gompi_shm_peer_word(t, i), c->out + from + at,
					  gompi_min_u64(chunk_bytes, left - at));
		}
	}
	return 0;
}

// Returns true if the first and the last byte of the range [begin, end) of the operands of ranks [0, upto) can be read.
static bool is_range_readable(struct direct_reads *f, uint64_t begin, uint64_t end, int upto) {
	char byte;
	for (int i = 0; i < upto && begin < end; i++)
		if (i != f->t->me && (!read_peer(f, i, f->operand[i] + begin, &byte, 1) ||
				      !read_peer(f, i, f->operand[i] + end - 1, &byte, 1)))
			return false;
	return true;
}

// The first word that a member publishes: the address of its operand << ADDRESS_SHIFT, plus OVERWRITES_OPERAND if its
// result overwrites the operand; 0 if the member cannot read directly.
enum { OVERWRITES_OPERAND = 1, ADDRESS_SHIFT = 1 };

int gompi_shm_reduce_direct(struct gompi_shm_coll *t, struct gompi_coll_call *c, uint64_t w, uint64_t format,
			    const struct gompi_direct_reduction *d, int *failed, bool *done) {
	const size_t operands = (size_t)t->n * sizeof(uint64_t);
	char *memory = malloc(operands + 4 * DIRECT_READ_BYTES);
	char *buffers = memory + operands;
	struct direct_reads f = {t,
				 c,
				 (uint64_t *)(void *)memory,
				 buffers,
				 buffers + DIRECT_READ_BYTES,
				 {buffers + 2 * DIRECT_READ_BYTES, buffers + 3 * DIRECT_READ_BYTES},
				 false};
	bool can_read = gompi_node.has_cma && !t->no_direct && memory != NULL && c->reduction.size <= DIRECT_READ_BYTES,
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
		f.operand[i] = peer_word >> ADDRESS_SHIFT;
		overwrites = overwrites || (peer_word & OVERWRITES_OPERAND);
	}
	bool is_split = d->is_split || (overwrites && c->kind == GOMPI_ALLREDUCE);
	if (rc || !can_read || (overwrites && !is_split && c->kind != GOMPI_REDUCE))
		goto out;
	// If results overwrite operands, the reduction cannot be repeated after a failed read. So check first that all
	// operands can be read.
	if (overwrites &&
	    (rc = gompi_shm_exchange_word(t, c, w, format, is_range_readable(&f, 0, c->bytes, t->n), &can_read)) != 0)
		goto out;
	if (can_read && is_split)
		rc = reduce_chunks(&f, w, format, failed);
	else if (can_read)
		*failed = reduce_from_peers(&f, d->offset, d->bytes, d->upto, d->to);
	// No member may change its operand until all members have read it.
	bool was_proved = overwrites && can_read;
	if (rc == 0)
		rc = gompi_shm_exchange_word(t, c, w, format, can_read && !f.read_failed, done);
	t->no_direct = !*done;
	if (rc == 0 && !*done && was_proved)
		rc = MPI_ERR_INTERN;
	if (!*done)
		*failed = 0;
out:
	free(memory);
	return rc;
}
