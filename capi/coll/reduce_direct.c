// Large reductions that read the operands directly from the other members' memory with process_vm_readv. Each member
// computes its own result, or one chunk of the result for all members.
#include <stdlib.h>

#include "coll/direct.h"
#include "transport/cma.h"

// The state of the direct reads of a blocking call.
struct direct_reads {
	struct gompi_shm_coll *t;
	struct gompi_coll_call *c;
	struct gompi_remote_operands operands; // read_failed in reduce_chunks: a read has failed at any member
	// If this member gets no result, these two buffers hold the chunks that it reduces in even and in odd steps.
	char *chunks[2];
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

// Runs a divided reduction: each member reduces one chunk of each step for all members, and the members that receive
// the result read all chunks. A chunk is in the result buffer of the member that reduced it, or in private memory if
// that member gets no result.
static int reduce_chunks(struct direct_reads *f, uint64_t w, uint64_t format, int *failed) {
	struct gompi_shm_coll *t = f->t;
	struct gompi_coll_call *c = f->c;
	const bool receives = c->kind == GOMPI_ALLREDUCE || c->root == t->me;
	const uint64_t size = c->reduction.size, n = (uint64_t)t->n,
		       chunk_capacity = GOMPI_DIRECT_READ_BYTES / size * size;
	int parity = 0;
	for (uint64_t from = 0, left; from < c->bytes; from += n * chunk_capacity, parity = !parity) {
		left = gompi_min_u64(c->bytes - from, n * chunk_capacity);
		const uint64_t chunk_bytes = (left / size + n - 1) / n * size,
			       chunk_start = gompi_min_u64((uint64_t)t->me * chunk_bytes, left);
		char *chunk = receives ? c->out + from + chunk_start : f->chunks[parity];
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
		for (int i = 0; receives && i < t->n && !f->operands.read_failed; i++) {
			uint64_t at = gompi_min_u64((uint64_t)i * chunk_bytes, left);
			if (i != t->me && at < left)
				read_peer(&f->operands, i, gompi_shm_peer_word(t, i), c->out + from + at,
					  gompi_min_u64(chunk_bytes, left - at));
		}
	}
	return 0;
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

// The first word that a member publishes: the address of its operand << ADDRESS_SHIFT, plus OVERWRITES_OPERAND if its
// result overwrites the operand; 0 if the member cannot read directly.
enum { OVERWRITES_OPERAND = 1, ADDRESS_SHIFT = 1 };

int gompi_shm_reduce_direct(struct gompi_shm_coll *t, struct gompi_coll_call *c, uint64_t w, uint64_t format,
			    const struct gompi_direct_reduction *d, int *failed, bool *done) {
	const size_t operands = (size_t)t->n * sizeof(uint64_t);
	char *memory = malloc(operands + 4 * GOMPI_DIRECT_READ_BYTES);
	char *buffers = memory + operands;
	uint64_t *address = (uint64_t *)(void *)memory;
	struct direct_reads f = {
		t,
		c,
		{t->peers, t->me, address, c->in, buffers, buffers + GOMPI_DIRECT_READ_BYTES, false, -1},
		{buffers + 2 * GOMPI_DIRECT_READ_BYTES, buffers + 3 * GOMPI_DIRECT_READ_BYTES}};
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
	// If results overwrite operands, the reduction cannot be repeated after a failed read. So check first that all
	// operands can be read.
	if (overwrites && (rc = gompi_shm_exchange_word(
				   t, c, w, format, is_range_readable(&f.operands, 0, c->bytes, t->n), &can_read)) != 0)
		goto out;
	if (can_read && is_split)
		rc = reduce_chunks(&f, w, format, failed);
	else if (can_read)
		gompi_reduce_remote(&f.operands, &c->reduction, d->offset, d->bytes, d->upto, d->to, failed);
	// No member may change its operand until all members have read it.
	bool was_proved = overwrites && can_read;
	if (rc == 0)
		rc = gompi_shm_exchange_word(t, c, w, format, can_read && !f.operands.read_failed, done);
	t->no_direct = !*done;
	if (rc == 0 && !*done && was_proved)
		rc = MPI_ERR_INTERN;
	if (!*done)
		*failed = 0;
out:
	free(memory);
	return rc;
}
