// Large transfers without slots: each member reads its data from the other members' memory with process_vm_readv. This
// takes one copy instead of two, and two operations, whose cost is small in comparison. The cache lines of the data
// stay with the sender.
#include "coll/direct.h"
#include "transport/cma.h"

// The word that a member publishes in its head, in an operation of gompi_slots_say.
struct word {
	// First operation: address of the data, NOTHING if there is none to read, or 0 if direct reads are impossible.
	// Second operation: whether the member has read everything.
	gompi_a64 is;
	gompi_a64 bytes; // of each block
};

static struct word *said(struct gompi_slots *t, int i, uint64_t number) {
	return (struct word *)gompi_slot_head(t, i, number)->data;
}

enum { NOTHING = 1 };

int gompi_slots_say(struct gompi_slots *t, struct gompi_slots_call *c, uint64_t w, uint64_t plan, uint64_t word,
		    bool *each) {
	int rc = gompi_slots_begin(t, GOMPI_IN_HEAD);
	if (rc)
		return rc;
	struct word *mine = said(t, t->me, t->seq);
	gompi_store(&mine->is, word);
	gompi_store(&mine->bytes, c->bytes);
	gompi_slots_publish(t, w, plan);
	rc = gompi_slots_await_all(t, c, w, plan);
	if (rc)
		return rc;
	*each = true;
	for (int i = 0; i < t->n; i++)
		*each = *each && gompi_load(&said(t, i, t->seq)->is) != 0;
	gompi_slots_finish(t);
	return 0;
}

uint64_t gompi_slots_said(struct gompi_slots *t, int i) { return gompi_load(&said(t, i, t->seq)->is); }

// Returns true if this member has read all its data. Where blocks have individual sizes, this member may expect a wrong
// size; that is noted in c.
static bool read_blocks(struct gompi_slots *t, struct gompi_slots_call *c, const struct gompi_direct_blocks *d,
			uint64_t plan) {
	for (int k = 1; k < t->n; k++) {
		int i = (t->me + k) % t->n; // each member starts with another one, to spread the load
		if (d->from != GOMPI_FROM_ALL && d->from != i)
			continue;
		struct word *w = said(t, i, t->seq);
		uint64_t bytes = d->sizes != NULL ? d->sizes[i] : d->bytes, theirs = gompi_load(&w->bytes);
		if (bytes != theirs) {
			if (!gompi_slots_differ(c))
				c->differ = (struct gompi_slots_differ){i, gompi_what(c->kind, c->root, theirs), plan,
									gompi_what(c->kind, c->root, bytes), plan};
		} else if (!gompi_cma_move(t->peers[i], gompi_load(&w->is) + d->skip, gompi_block(&d->to, i), bytes,
					   false)) {
			return false;
		}
	}
	return true;
}

int gompi_slots_direct(struct gompi_slots *t, struct gompi_slots_call *c, const struct gompi_direct_blocks *d,
		       uint64_t w, uint64_t plan, bool *done) {
	uint64_t mine = d->mine != NULL ? (uint64_t)(uintptr_t)d->mine : NOTHING;
	bool able = gompi_node.cma && !t->no_direct && d->able;
	*done = false;
	int rc = gompi_slots_say(t, c, w, plan, able ? mine : 0, &able);
	if (rc)
		return rc;
	if (!d->follows && gompi_slots_differ(c))
		return GOMPI_SLOTS_DIFFER;
	if (!able)
		return 0;
	rc = gompi_slots_say(t, c, w, plan, read_blocks(t, c, d, plan), done);
	// The system denies such reads, or the memory does not support them. All members agree on this, permanently.
	t->no_direct = !*done;
	return rc;
}
