// Collectives in which only the sender and the receiver of a block know its length: MPI_Gatherv, MPI_Scatterv,
// MPI_Alltoallv, MPI_Alltoallw and neighborhood collectives. They take one operation of slots. A sender fills its slot
// with a table of its blocks and with the blocks that fit. For the others the table holds addresses, from which the
// receivers read directly. So each member chooses the path of its blocks independently of the other members.
//
// A member whose memory is read leaves the operation after all readers have finished. A receiver to which the system
// denies direct reads asks for the block in segments (struct gompi_slots_mail). The sender serves such requests while
// it waits.
#include "coll/protocol.h"

#include <stdlib.h>

#include "datatype/datatype.h"
#include "transport/cma.h"

// One member's state in an operation. The call does not change meanwhile.
struct pairs {
	struct gompi_slots *t;
	struct gompi_slots_call *c;
	uint64_t number;             // number of the operation
	int entries;                 // entries of the table
	enum gompi_slot_place place; // place of the slot: its head or one body, or
	bool bodies;                 // all bodies as one slot
	// This member's block for itself; NULL if it is in the slot or there is none.
	const struct gompi_pair_block *own;
	bool lent; // other members read memory of this one, which must not change until they have
	// Copies of blocks for direct reads, one after another; NULL if there are none. It separates the two flags:
	// otherwise the compiler merges their loads into one.
	char *packed;
	bool borrows; // this member has read memory that its owner keeps unchanged meanwhile
};

// An entry of a table: a block for one member.
struct pair_entry {
	uint64_t at;    // offset in the slot, or ELSEWHERE and the address
	uint64_t whose; // receiver in bits 41 and up, bytes of the block below
};

#define ELSEWHERE ((uint64_t)1 << 63)
#define BYTES_OF ((((uint64_t)1) << 41) - 1)

// The plan word of a head: the number of entries of the table, and these flags.
enum {
	IN_BODY = 1,         // the slot is one body
	IN_BODIES = 4,       // the slot is all bodies as one
	TABLE_ELSEWHERE = 2, // the slot holds only one entry, for the table itself
	ALONE = 8            // the slot holds one block for the root and no table; the plan has its bytes
};

// Entries of a table that fits into the slot.
enum { MOST_ENTRIES = GOMPI_SLOT_SMALL / 2 / sizeof(struct pair_entry) };

static inline bool along_edges(int kind) { return kind >= GOMPI_NEIGHBOR_ALLGATHER; }

// Returns true if a block has an entry. A member copies its block for itself directly, except along the edges of a
// topology, where it may have several.
static inline bool has_entry(const struct pairs *p, const struct gompi_pair_block *b) {
	return b->member >= 0 && (b->member != p->t->me || along_edges(p->c->kind));
}

static inline uint64_t block_bytes(const struct gompi_pair_block *b) { return (uint64_t)b->buf.size; }

static inline uint64_t padded(uint64_t bytes) { return (bytes + 7) & ~(uint64_t)7; }

static inline bool same_block(const struct gompi_pair_block *a, const struct gompi_pair_block *b) {
	return a->buf.at == b->buf.at && a->buf.size == b->buf.size && a->buf.type == b->buf.type && a->member >= 0;
}

enum { ALL_BODIES = GOMPI_SLOT_BODIES * GOMPI_SLOT_SMALL };

// Returns the slot of member i. pair_capacity returns the bytes of the slot.
static inline char *pair_slot(const struct pairs *p, int i, bool body, bool bodies) {
	if (bodies)
		return p->t->member[i].body[0];
	return gompi_slot_data(p->t, i, p->number, body ? GOMPI_IN_SMALL : GOMPI_IN_HEAD);
}

static inline uint64_t pair_capacity(bool body, bool bodies) {
	return bodies ? ALL_BODIES : body ? GOMPI_SLOT_SMALL : GOMPI_SLOT_INLINE;
}

// The state while a slot is filled with the blocks that fit, in their order.
struct filling {
	uint64_t used;   // bytes used in the slot
	uint64_t packed; // bytes of blocks that are packed for direct reads
	bool lent;
};

// Returns true if a block must be packed for direct reads: its data is not contiguous, or is about to be overwritten.
static inline bool to_be_packed(const struct gompi_slots_call *c, const struct gompi_pair_block *b) {
	return b->buf.type != NULL || c->in_place;
}

// Returns the position of the next block: an offset in the slot of room bytes, or ELSEWHERE and its address.
static inline uint64_t place_block(const struct pairs *p, const struct gompi_pair_block *b, uint64_t room,
				   struct filling *f) {
	if (f->used + block_bytes(b) <= room) {
		uint64_t at = f->used;
		f->used += padded(block_bytes(b));
		return at;
	}
	f->lent = true;
	if (!to_be_packed(p->c, b))
		return ELSEWHERE | (uint64_t)(uintptr_t)b->buf.at;
	uint64_t at = f->packed;
	f->packed += padded(block_bytes(b));
	return ELSEWHERE | ((uint64_t)(uintptr_t)p->packed + at);
}

// Computes the positions of all blocks. If table is not NULL, also writes the table and the blocks.
static inline __attribute__((always_inline)) struct filling fill_in(const struct pairs *p, uint64_t room,
								    struct pair_entry *table, char *slot) {
	const struct gompi_slots_call *c = p->c;
	uint64_t size = (uint64_t)p->entries * sizeof *table;
	bool elsewhere = p->entries > MOST_ENTRIES;
	struct filling f = {elsewhere ? sizeof *table : size, elsewhere ? size : 0, elsewhere};
	const struct gompi_pair_block *last = NULL; // previous block; equal blocks share one copy
	uint64_t at = 0;
	for (int i = 0, k = 0; i < c->sends; i++) {
		const struct gompi_pair_block *b = &c->to[i];
		if (!has_entry(p, b))
			continue;
		if (last == NULL || !same_block(last, b)) {
			at = place_block(p, b, room, &f);
			if (table == NULL) {
			} else if ((at & ELSEWHERE) == 0) {
				gompi_buffer_pack(&b->buf, slot + at, 0, b->buf.size);
			} else if (to_be_packed(c, b)) {
				gompi_buffer_pack(&b->buf, (char *)(uintptr_t)(at & ~ELSEWHERE), 0, b->buf.size);
			}
		}
		last = b;
		if (table != NULL)
			table[k++] = (struct pair_entry){at, (uint64_t)b->member << 41 | block_bytes(b)};
	}
	return f;
}

// Prepares p for a call. Changes nothing that other members see. Returns MPI_ERR_NO_MEM or 0.
static int pairs_ready(struct pairs *p, struct gompi_slots *t, struct gompi_slots_call *c) {
	*p = (struct pairs){.t = t, .c = c};
	uint64_t all = 0;
	for (int i = 0; i < c->sends; i++) {
		const struct gompi_pair_block *b = &c->to[i];
		if (has_entry(p, b)) {
			p->entries++;
			all += sizeof(struct pair_entry) + padded(block_bytes(b));
		} else if (b->member >= 0) {
			p->own = b;
		}
	}
	p->place = all <= GOMPI_SLOT_INLINE ? GOMPI_IN_HEAD : GOMPI_IN_SMALL;
	if (all <= GOMPI_SLOT_SMALL)
		return 0;
	p->bodies = true;
	if (all <= ALL_BODIES)
		return 0;
	uint64_t packed = fill_in(p, ALL_BODIES, NULL, NULL).packed;
	if (packed > 0 && (p->packed = malloc(packed)) == NULL)
		return MPI_ERR_NO_MEM;
	return 0;
}

// Fills and publishes the slot. The caller has begun the operation.
static void pairs_fill(struct pairs *p) {
	struct gompi_slots *t = p->t;
	struct gompi_slots_call *c = p->c;
	p->number = t->seq;
	bool body = p->place != GOMPI_IN_HEAD, elsewhere = p->entries > MOST_ENTRIES;
	char *slot = pair_slot(p, t->me, body, p->bodies);
	struct pair_entry *table = elsewhere ? (void *)p->packed : (void *)slot;
	p->lent = fill_in(p, pair_capacity(body, p->bodies), table, slot).lent || p->bodies;
	if (elsewhere)
		*(struct pair_entry *)slot = (struct pair_entry){ELSEWHERE | (uint64_t)(uintptr_t)table,
								 (uint64_t)p->entries * sizeof *table};
	uint64_t plan = (uint64_t)p->entries << 16 | (body ? IN_BODY : 0) | (p->bodies ? IN_BODIES : 0) |
			(elsewhere ? TABLE_ELSEWHERE : 0);
	gompi_slots_publish(t, gompi_what(c->kind, c->root, 0), plan);
}

// Begins the next operation. Waits until the slot is free. Returns MPI_ERR_PROC_ABORTED if a process has failed.
static int pairs_begin(struct pairs *p) {
	struct gompi_slots *t = p->t;
	if (!p->bodies)
		return gompi_slots_begin(t, p->place);
	t->seq++;
	return t->settled + 1 >= t->seq ? 0 : gompi_slots_room(t, 1);
}

// --- Reads of other members' memory

// Returns the address of block which of this member's table, or of the table if which is -1, for a direct read. Returns
// NULL if it is not read directly.
static const char *lent_block(const struct pairs *p, int64_t which, uint64_t *bytes) {
	struct gompi_slots *t = p->t;
	struct gompi_slot_head *h = gompi_slot_head(t, t->me, p->number);
	uint64_t plan = gompi_load(&h->plan);
	if ((plan & IN_BODY) == 0)
		return NULL;
	const struct pair_entry *table = (const void *)pair_slot(p, t->me, true, p->bodies);
	const struct pair_entry *e = table;
	if ((plan & TABLE_ELSEWHERE) != 0 && which >= 0)
		table = (const void *)p->packed;
	if (which >= 0) {
		if ((uint64_t)which >= plan >> 16)
			return NULL;
		e = &table[which];
	} else if ((plan & TABLE_ELSEWHERE) == 0) {
		return NULL;
	}
	*bytes = e->whose & BYTES_OF;
	return e->at & ELSEWHERE ? (const char *)(uintptr_t)(e->at & ~ELSEWHERE) : NULL;
}

// Serves a pending request of member i to this member, if there is one.
static void serve_mail(const struct pairs *p, int i) {
	struct gompi_slots_mail *m = &p->t->member[i].mail;
	// Acquire: pairs with the release in read_elsewhere, which stores the other words of the request before.
	if (gompi_load_acquire(&m->state) != GOMPI_MAIL_ASKED + (uint64_t)p->t->me)
		return;
	uint64_t size = 0, from = gompi_load(&m->from), bytes = gompi_load(&m->bytes);
	const char *block = lent_block(p, (int64_t)gompi_load(&m->block), &size);
	if (block == NULL || bytes > sizeof m->data || from > size || bytes > size - from)
		return; // not a valid request
	gompi_copy_out(m->data, block + from, bytes);
	gompi_store_release(&m->state, GOMPI_MAIL_HERE); // after the data; pairs with mail_there
	gompi_wake(&p->t->member[i].wait);
}

static void serve_all_mail(const struct pairs *p) {
	for (int i = 0; p->lent && i < p->t->n; i++)
		if (i != p->t->me)
			serve_mail(p, i);
}

static bool mail_there(void *arg) {
	const struct pairs *p = arg;
	serve_all_mail(p);
	return gompi_load_acquire(&p->t->member[p->t->me].mail.state) == GOMPI_MAIL_HERE;
}

// A block, or a table, in the memory of member w at address.
struct elsewhere_block {
	int w;
	int64_t which;
	uint64_t address;
	bool by_mail;
};

// Reads bytes at offset from. Uses mail after a failed direct read.
static int read_elsewhere(const struct pairs *p, struct elsewhere_block *b, uint64_t from, char *to, uint64_t bytes) {
	struct gompi_slots *t = p->t;
	if (b->w == t->me) {
		gompi_copy_between(to, (const char *)(uintptr_t)(b->address + from), bytes);
		return 0;
	}
	if (!b->by_mail && gompi_cma_move(t->peers[b->w], b->address + from, to, bytes, false))
		return 0;
	b->by_mail = true;
	struct gompi_slots_mail *m = &t->member[t->me].mail;
	for (uint64_t done = 0; done < bytes;) {
		uint64_t piece = gompi_least(bytes - done, sizeof m->data);
		gompi_store(&m->block, (uint64_t)b->which);
		gompi_store(&m->from, from + done);
		gompi_store(&m->bytes, piece);
		// Pairs with the acquire in serve_mail.
		gompi_store_release(&m->state, GOMPI_MAIL_ASKED + (uint64_t)b->w);
		gompi_wake(&t->member[b->w].wait);
		int rc = gompi_slots_until(t, mail_there, (void *)(uintptr_t)p);
		gompi_store(&m->state, GOMPI_MAIL_IDLE);
		if (rc)
			return rc;
		gompi_copy_in(to + done, m->data, piece);
		done += piece;
	}
	return 0;
}

enum { READ_AT_ONCE = 16 << 10 };

// Reads a block into memory that is not contiguous.
static int read_elsewhere_typed(const struct pairs *p, struct elsewhere_block *from, const struct gompi_buffer *b) {
	char piece[READ_AT_ONCE];
	struct gompi_cursor cursor;
	gompi_cursor_init(&cursor, b->type, b->count, GOMPI_BYTES);
	for (uint64_t done = 0; done < (uint64_t)b->size;) {
		uint64_t n = gompi_least((uint64_t)b->size - done, sizeof piece);
		int rc = read_elsewhere(p, from, done, piece, n);
		if (rc)
			return rc;
		gompi_cursor_unpack(b->at, &cursor, piece, (int64_t)n);
		done += n;
	}
	return 0;
}

// --- Receiving blocks

static __attribute__((cold)) void note_length(const struct pairs *p, int member, uint64_t theirs, uint64_t ours) {
	struct gompi_slots_call *c = p->c;
	uint64_t w = gompi_what(c->kind, c->root, 0);
	if (!gompi_slots_differ(c))
		c->differ = (struct gompi_slots_differ){member, w, gompi_plan(theirs, 1), w, gompi_plan(ours, 1)};
}

// Returns how many of the receives before block i come from the same member: the number of its edge.
static int edge_number(const struct gompi_slots_call *c, int i) {
	int number = 0;
	for (int k = 0; k < i; k++)
		number += c->from[k].member == c->from[i].member;
	return number;
}

// Returns the index of the entry for block i in its sender's table, or -1 if there is none.
static int entry_for(const struct pairs *p, int i, const struct pair_entry *table, uint64_t entries) {
	const struct gompi_slots_call *c = p->c;
	int me = p->t->me, w = c->from[i].member;
	if (!along_edges(c->kind)) {
		int k = c->kind == GOMPI_GATHERV ? 0 : me - (me > w);
		return (uint64_t)k < entries && table[k].whose >> 41 == (uint64_t)me ? k : -1;
	}
	int skip = edge_number(c, i);
	for (uint64_t k = 0; k < entries; k++)
		if (table[k].whose >> 41 == (uint64_t)me && skip-- == 0)
			return (int)k;
	return -1;
}

// Reads a block from its sender's memory; which is its entry in the sender's table.
static __attribute__((noinline)) int take_away(struct pairs *p, const struct gompi_pair_block *b, int which,
					       uint64_t address) {
	struct elsewhere_block from = {b->member, which, address, !gompi_node.cma || p->t->no_direct};
	p->borrows = true;
	return b->buf.type == NULL ? read_elsewhere(p, &from, 0, b->buf.at, block_bytes(b))
				   : read_elsewhere_typed(p, &from, &b->buf);
}

// Receives block i like pairs_take, where the table too is in the sender's memory.
static __attribute__((noinline)) int take_from_table_elsewhere(struct pairs *p, int i, const struct pair_entry *at,
							       const char *slot, uint64_t entries);

// Receives block i as entry e of its sender's table says. slot is the sender's, of capacity bytes.
static inline int take_entry(struct pairs *p, int i, int which, const struct pair_entry *e, const char *slot,
			     uint64_t capacity) {
	const struct gompi_pair_block *b = &p->c->from[i];
	// Read once, because the sender may change its slot at any time.
	const uint64_t at = gompi_element_look(&e->at);
	const uint64_t bytes = gompi_element_look(&e->whose) & BYTES_OF;
	if (__builtin_expect(bytes != block_bytes(b), 0)) {
		note_length(p, b->member, bytes, block_bytes(b));
		return 0;
	}
	if (bytes == 0)
		return 0;
	if (__builtin_expect((at & ELSEWHERE) != 0, 0))
		return take_away(p, b, which, at & ~ELSEWHERE);
	if (at > capacity || bytes > capacity - at)
		return MPI_ERR_INTERN;
	gompi_buffer_unpack(&b->buf, 0, slot + at, (int64_t)bytes);
	return 0;
}

// Receives a block that is alone in its sender's slot.
static inline int take_alone(const struct pairs *p, const struct gompi_pair_block *b, uint64_t bytes, const char *slot,
			     uint64_t capacity) {
	if (__builtin_expect(bytes != block_bytes(b), 0))
		note_length(p, b->member, bytes, block_bytes(b));
	else if (bytes > capacity)
		return MPI_ERR_INTERN;
	else
		gompi_buffer_unpack(&b->buf, 0, slot, (int64_t)bytes);
	return 0;
}

// Receives block i, whose sender has published its slot. Notes a block of unexpected length in the call and does not
// copy it. Returns 0 or an error class: MPI_ERR_PROC_ABORTED, MPI_ERR_INTERN.
static int pairs_take(struct pairs *p, int i) {
	struct gompi_slots *t = p->t;
	struct gompi_slots_call *c = p->c;
	const struct gompi_pair_block *b = &c->from[i];
	if (b->member < 0)
		return 0;
	if (b->member == t->me && !along_edges(c->kind)) {
		if (p->own != NULL && p->own->buf.size != b->buf.size)
			note_length(p, t->me, block_bytes(p->own), block_bytes(b));
		else if (p->own != NULL)
			gompi_buffer_copy(&b->buf, &p->own->buf, b->buf.size);
		return 0;
	}
	struct gompi_slot_head *h = gompi_slot_head(t, b->member, p->number);
	uint64_t w = gompi_what(c->kind, c->root, 0), plan = gompi_load(&h->plan);
	if (__builtin_expect(gompi_load(&h->what) != w, 0)) {
		if (!gompi_slots_differ(c))
			c->differ = (struct gompi_slots_differ){b->member, gompi_load(&h->what), plan, w, plan};
		return 0;
	}
	bool body = (plan & IN_BODY) != 0, bodies = (plan & IN_BODIES) != 0;
	const char *slot = pair_slot(p, b->member, body, bodies);
	uint64_t capacity = pair_capacity(body, bodies);
	const struct pair_entry *table = (const void *)slot;
	uint64_t entries = plan >> 16;
	if ((plan & ALONE) != 0)
		return take_alone(p, b, plan >> 16, slot, capacity);
	p->borrows = p->borrows || bodies;
	if (__builtin_expect((plan & TABLE_ELSEWHERE) != 0, 0))
		return take_from_table_elsewhere(p, i, table, slot, entries);
	if (entries * sizeof *table > capacity)
		return MPI_ERR_INTERN;
	int k = entry_for(p, i, table, entries);
	if (k < 0) {
		if (b->buf.size > 0)
			note_length(p, b->member, 0, block_bytes(b));
		return 0;
	}
	return take_entry(p, i, k, &table[k], slot, capacity);
}

static int take_from_table_elsewhere(struct pairs *p, int i, const struct pair_entry *at, const char *slot,
				     uint64_t entries) {
	const struct gompi_pair_block *b = &p->c->from[i];
	struct elsewhere_block from = {b->member, -1, at->at & ~ELSEWHERE, !gompi_node.cma || p->t->no_direct};
	struct pair_entry *table = malloc(entries * sizeof *table);
	p->borrows = true;
	if (table == NULL)
		return MPI_ERR_NO_MEM;
	int rc = read_elsewhere(p, &from, 0, (char *)table, entries * sizeof *table);
	int k = rc ? -1 : entry_for(p, i, table, entries);
	if (k >= 0)
		rc = take_entry(p, i, k, &table[k], slot, ALL_BODIES);
	else if (rc == 0 && b->buf.size > 0)
		note_length(p, b->member, 0, block_bytes(b));
	free(table);
	return rc;
}

// --- End of the operation

// Returns true if member i receives data from this one.
static bool gets_block(const struct pairs *p, int i) {
	const struct gompi_slots_call *c = p->c;
	if (c->kind == GOMPI_GATHERV)
		return i == c->root;
	if (!along_edges(c->kind))
		return true;
	for (int k = 0; k < c->sends; k++)
		if (c->to[k].member == i)
			return true;
	return false;
}

// Returns true if all readers of this member's memory have finished. Serves their requests.
static bool pairs_left(void *arg) {
	struct pairs *p = arg;
	struct gompi_slots *t = p->t;
	bool all = true;
	for (int i = 0; p->lent && i < t->n; i++) {
		// Acquire: pairs with gompi_slots_finish, so that all reads are over before the memory changes.
		if (i == t->me || gompi_load_acquire(&t->member[i].finished) >= p->number || !gets_block(p, i))
			continue;
		serve_mail(p, i);
		all = false;
	}
	return all;
}

static __attribute__((noinline)) int wait_for_readers(struct pairs *p) {
	struct gompi_slots *t = p->t;
	for (int i = 0; p->borrows && i < p->c->receives; i++) {
		int member = p->c->from[i].member;
		if (member >= 0 && member != t->me)
			gompi_wake(&t->member[member].wait);
	}
	int rc = p->lent ? gompi_slots_until(t, pairs_left, p) : 0;
	free(p->packed);
	return rc;
}

// Finishes the operation after all blocks have been received. Waits until all readers have finished, and frees memory.
static int pairs_leave(struct pairs *p) {
	gompi_slots_finish(p->t);
	return __builtin_expect(p->lent || p->borrows || p->packed != NULL, 0) ? wait_for_readers(p) : 0;
}

// Runs MPI_Gatherv at a member whose block fits into its slot. It waits for no other member.
static int gatherv_few(struct gompi_slots *t, struct gompi_slots_call *c) {
	const struct gompi_pair_block *b = c->to;
	enum gompi_slot_place place = gompi_place_of(block_bytes(b));
	int rc = gompi_slots_begin(t, place);
	if (rc)
		return rc;
	gompi_buffer_pack(&b->buf, gompi_slot_data(t, t->me, t->seq, place), 0, b->buf.size);
	gompi_slots_publish(t, gompi_what(GOMPI_GATHERV, c->root, 0),
			    block_bytes(b) << 16 | (place == GOMPI_IN_SMALL ? IN_BODY : 0) | ALONE);
	gompi_slots_finish(t);
	return GOMPI_SLOTS_DONE;
}

// Runs MPI_Gatherv at the root. Like gompi_slots_pairs, with fewer checks for blocks in slots.
static int gatherv_root(struct gompi_slots *t, struct gompi_slots_call *c) {
	uint64_t w = gompi_what(GOMPI_GATHERV, c->root, 0);
	struct pairs p = {.t = t, .c = c, .own = c->sends == 1 ? c->to : NULL};
	int rc = gompi_slots_begin(t, GOMPI_IN_HEAD), failed = 0, others = 0;
	if (rc)
		return rc;
	p.number = t->seq;
	gompi_slots_publish(t, w, 0);
	for (int i = 0; i < c->receives; i++) {
		const struct gompi_pair_block *b = &c->from[i];
		rc = 0;
		if (b->member >= 0 && b->member != t->me) {
			rc = gompi_slots_await_series(t, b->member);
			if (rc == MPI_ERR_PROC_ABORTED)
				return rc;
			others++;
			const struct gompi_slot_head *h = gompi_slot_head(t, b->member, p.number);
			if (block_bytes(b) <= GOMPI_SLOT_INLINE && gompi_load(&h->what) == w &&
			    gompi_load(&h->plan) == (block_bytes(b) << 16 | ALONE)) {
				gompi_buffer_unpack(&b->buf, 0, h->data, b->buf.size);
				continue;
			}
		}
		if (rc == 0)
			rc = pairs_take(&p, i);
		failed = failed ? failed : rc;
	}
	if (others == t->n - 1)
		t->settled = t->seq - 1;
	if (__builtin_expect(p.borrows || gompi_slots_differ(c), 0)) { // senders may wait for the finished word
		gompi_slots_finish(t);
		wait_for_readers(&p);
	} else {
		gompi_slots_finish_series(t, true);
	}
	return failed ? failed : gompi_slots_result(c);
}

int gompi_slots_gatherv(struct gompi_slots *t, struct gompi_slots_call *c) {
	if (t->me == c->root)
		return gatherv_root(t, c);
	if (c->sends == 1 && block_bytes(c->to) <= GOMPI_SLOT_SMALL)
		return gatherv_few(t, c);
	return gompi_slots_pairs(t, c);
}

int gompi_slots_pairs(struct gompi_slots *t, struct gompi_slots_call *c) {
	struct pairs p;
	int rc = pairs_ready(&p, t, c), failed = 0;
	if (rc)
		return rc;
	if (c->kind == GOMPI_SCATTERV && t->me != c->root) {
		p.number = ++t->seq; // no member reads this slot
	} else {
		rc = pairs_begin(&p);
		if (rc == 0)
			pairs_fill(&p);
	}
	int first = c->receives == t->n ? t->me : 0; // each member starts with another one, to spread the load
	for (int k = 0; k < c->receives && rc != MPI_ERR_PROC_ABORTED; k++) {
		int i = first + k < c->receives ? first + k : first + k - c->receives, member = c->from[i].member;
		if (member >= 0 && (member != t->me || along_edges(c->kind)))
			rc = c->kind == GOMPI_SCATTERV ? gompi_slots_await_series(t, member)
						       : gompi_slots_await(t, member);
		if (rc == 0)
			rc = pairs_take(&p, i);
		failed = failed ? failed : rc;
	}
	if (rc == MPI_ERR_PROC_ABORTED) {
		free(p.packed);
		return rc;
	}
	int others = 0; // slots read; if those of all members, they have finished earlier operations
	for (int i = 0; i < c->receives; i++)
		others += c->from[i].member >= 0 && c->from[i].member != t->me;
	if (others == t->n - 1 && !along_edges(c->kind))
		t->settled = t->seq - 1;
	rc = pairs_leave(&p);
	return rc ? rc : failed ? failed : gompi_slots_result(c);
}
