// Large transfers that bypass the members' buffers: each member reads its data from the other members' memory with
// process_vm_readv. A direct transfer copies the data once instead of twice, and the cache lines of the data stay in
// the sender's cache. But it needs two additional operations (shm_coll.h) that move no data: one exchanges the
// addresses of the data, the other reports whether each member has read its data. For large data their cost is small.
#include "coll/direct.h"
#include "transport/cma.h"

// The data that gompi_shm_exchange_word publishes in a member's header (struct gompi_shm_header).
struct word {
	// In the first operation of gompi_shm_read_direct: the address of the member's data, NO_DATA if the member
	// contributes no data, or 0 if direct reads are impossible. In the second operation: 1 if the member has read
	// all its data, else 0. Reductions publish other values (reduce_direct.c).
	gompi_a64 value;
	gompi_a64 bytes; // bytes of each block
};

static struct word *peer_word_at(struct gompi_shm_coll *t, int i, uint64_t number) {
	return (struct word *)gompi_shm_header(t, i, number)->data;
}

enum { NO_DATA = 1 };

int gompi_shm_exchange_word(struct gompi_shm_coll *t, struct gompi_coll_call *c, uint64_t w, uint64_t format,
			    uint64_t word, bool *all_nonzero) {
	int rc = gompi_shm_begin(t, GOMPI_IN_HEADER);
	if (rc)
		return rc;
	struct word *local_word = peer_word_at(t, t->me, t->seq);
	gompi_store(&local_word->value, word);
	gompi_store(&local_word->bytes, c->bytes);
	gompi_shm_publish(t, w, format);
	rc = gompi_shm_await_all(t, c, w, format);
	if (rc)
		return rc;
	*all_nonzero = true;
	for (int i = 0; i < t->n; i++)
		*all_nonzero = *all_nonzero && gompi_load(&peer_word_at(t, i, t->seq)->value) != 0;
	gompi_shm_finish(t);
	return 0;
}

gompi_a64 *gompi_shm_word(struct gompi_shm_coll *t, int i, uint64_t number) {
	return &peer_word_at(t, i, number)->value;
}

uint64_t gompi_shm_peer_word(struct gompi_shm_coll *t, int i) { return gompi_load(gompi_shm_word(t, i, t->seq)); }

// Reads this member's data from the other members' memory. Returns false if a read has failed. Skips a block whose size
// differs from the size that its owner has published, and records a mismatch in c.
static bool read_blocks(struct gompi_shm_coll *t, struct gompi_coll_call *c, const struct gompi_direct_blocks *d,
			uint64_t format) {
	// If other members read from this member, they copy themselves and cannot help.
	bool (*move)(int, uint64_t, void *, uint64_t, bool) =
		d->local == NULL ? gompi_cma_move_assisted : gompi_cma_move;
	for (int k = 1; k < t->n; k++) {
		int i = (t->me + k) % t->n; // each member starts with a different peer, to spread the load
		if (d->from != GOMPI_FROM_ALL && d->from != i)
			continue;
		struct word *w = peer_word_at(t, i, t->seq);
		uint64_t bytes = d->sizes != NULL ? d->sizes[i] : d->bytes, peer_bytes = gompi_load(&w->bytes);
		if (bytes != peer_bytes) {
			if (!gompi_coll_mismatch(c))
				c->mismatch = (struct gompi_coll_mismatch){
					i, gompi_signature_word(c->kind, c->root, peer_bytes), format,
					gompi_signature_word(c->kind, c->root, bytes), format};
		} else if (!move(t->peers[i], gompi_load(&w->value) + d->offset, gompi_block(&d->to, i), bytes,
				 false)) {
			return false;
		}
	}
	return true;
}

int gompi_shm_read_direct(struct gompi_shm_coll *t, struct gompi_coll_call *c, const struct gompi_direct_blocks *d,
			  uint64_t w, uint64_t format, bool *done) {
	uint64_t address = d->local != NULL ? (uint64_t)(uintptr_t)d->local : NO_DATA;
	bool can_read = gompi_node.has_cma && !t->no_direct && d->is_readable;
	*done = false;
	int rc = gompi_shm_exchange_word(t, c, w, format, can_read ? address : 0, &can_read);
	if (rc)
		return rc;
	if (!d->is_compared && gompi_coll_mismatch(c))
		return GOMPI_COLL_MISMATCH;
	if (!can_read)
		return 0;
	rc = gompi_shm_exchange_word(t, c, w, format, read_blocks(t, c, d, format), done);
	// If a read failed, the system denies direct reads or the memory does not support them. All members set
	// no_direct alike and do not try again.
	t->no_direct = !*done;
	return rc;
}
