// Collectives in which only the sender and the receiver of a block know its length: MPI_Gatherv, MPI_Scatterv,
// MPI_Alltoallv, MPI_Alltoallw and neighborhood collectives. Each call takes one shared-memory operation. A sender
// fills its buffer with a table of its blocks and with the blocks that fit. For each block that does not fit, the table
// holds its address, and the receiver reads the block directly from the sender's memory. So each sender decides for its
// own blocks, without asking other members.
//
// A member whose memory is read directly leaves the operation only after all readers have finished. If the system
// denies direct reads to a receiver, the receiver requests the block in segments (struct gompi_shm_mailbox). The sender
// serves these requests while it waits.
#include "coll/protocol.h"

#include <stdlib.h>

#include "datatype/datatype.h"
#include "transport/cma.h"

// One member's state in an operation.
struct pairs {
	struct gompi_shm_coll *t;
	struct gompi_coll_call *c;
	uint64_t number;                  // number of the operation
	int entries;                      // number of entries of this member's table
	enum gompi_size_class size_class; // location of this member's buffer: the header or one body
	bool uses_all_bodies;             // the buffer consists of all bodies of this member, not of one
	// This member's block for itself, which the member copies directly. NULL if that block is in the buffer
	// (neighborhood collectives), or if the member sends itself no block.
	const struct gompi_pair_block *local_block;
	// True if other members read this member's memory or all its bodies. The memory must stay unchanged until these
	// members have finished the operation.
	bool is_read_remotely;
	// Memory for direct reads: the table if it does not fit into the buffer, then the copies of blocks. NULL if
	// this memory is not needed. This field separates the flags before and after it. The compiler would load two
	// adjacent flags by one instruction, which stalls: store forwarding does not combine two separate stores.
	char *packed;
	// This member has read a sender's memory or all its bodies. That sender waits for this member.
	bool reads_remote;
};

// An entry of a table: a block for one member.
struct pair_entry {
	uint64_t position;       // offset in the buffer, or REMOTE_DATA | address of the block
	uint64_t receiver_bytes; // bits 41 and up: rank of the receiver; bits 0 to 40: bytes of the block
};

#define REMOTE_DATA ((uint64_t)1 << 63)
#define BYTES_MASK ((((uint64_t)1) << 41) - 1)

// The format word of a header: the number of table entries << 16, plus these flags.
enum {
	IN_BODY = 1,       // the buffer is one body
	IN_ALL_BODIES = 4, // the buffer is all bodies together
	TABLE_REMOTE = 2,  // instead of the table, the buffer has one entry with the table's address and bytes
	SINGLE_BLOCK = 8   // the buffer has one block for the root and no table; format word: bytes << 16, plus flags
};

// Maximum entries of a table in the buffer, and of a table in the header if the buffer is not the header. Without a
// table, one block of 2 or 8 KiB fits into a buffer.
enum {
	MAX_ENTRIES = GOMPI_SHM_SMALL_BYTES / 2 / sizeof(struct pair_entry),
	MAX_HEADER_ENTRIES = GOMPI_SHM_INLINE_BYTES / sizeof(struct pair_entry),
};

static inline bool is_neighborhood(int kind) { return kind >= GOMPI_NEIGHBOR_ALLGATHER; }

// Returns true if a block has a table entry. A member's block for itself has no entry, because the member copies the
// block directly. In a neighborhood collective this block has an entry, because a member may have several edges to
// itself.
static inline bool has_entry(const struct pairs *p, const struct gompi_pair_block *b) {
	return b->member >= 0 && (b->member != p->t->me || is_neighborhood(p->c->kind));
}

static inline uint64_t block_bytes(const struct gompi_pair_block *b) { return (uint64_t)b->buf.size; }

static inline uint64_t padded(uint64_t bytes) { return (bytes + 7) & ~(uint64_t)7; }

static inline bool same_block(const struct gompi_pair_block *a, const struct gompi_pair_block *b) {
	return a->buf.at == b->buf.at && a->buf.size == b->buf.size && a->buf.type == b->buf.type && a->member >= 0;
}

enum { ALL_BODIES_BYTES = GOMPI_SHM_BODIES * GOMPI_SHM_SMALL_BYTES };

// Returns the buffer of member i: all bodies if the flag `bodies` is set, else one body if the flag `body` is set, else
// the header. pair_capacity returns the bytes of the buffer.
static inline char *pair_buffer(const struct pairs *p, int i, bool body, bool bodies) {
	if (bodies)
		return p->t->member[i].body[0];
	return gompi_shm_data(p->t, i, p->number, body ? GOMPI_IN_SMALL : GOMPI_IN_HEADER);
}

// Returns true if a table with this many entries is in the header, beside a buffer that is not the header.
static inline bool is_table_in_header(bool body, uint64_t entries) { return body && entries <= MAX_HEADER_ENTRIES; }

// Returns the table of member i, which has this many entries and is not TABLE_REMOTE. The argument slot is the member's
// buffer.
static inline struct pair_entry *pair_table(const struct pairs *p, int i, bool body, uint64_t entries, char *slot) {
	return (void *)(is_table_in_header(body, entries) ? gompi_shm_header(p->t, i, p->number)->data : slot);
}

static inline uint64_t pair_capacity(bool body, bool bodies) {
	return bodies ? ALL_BODIES_BYTES : body ? GOMPI_SHM_SMALL_BYTES : GOMPI_SHM_INLINE_BYTES;
}

// State of layout_blocks, which assigns positions to blocks in their order.
struct fill_state {
	uint64_t used;   // bytes used in the buffer
	uint64_t packed; // bytes of blocks that are packed for direct reads
	bool is_read_remotely;
};

// Returns true if a block must be packed for direct reads: its data is not contiguous, or is about to be overwritten.
static inline bool must_pack(const struct gompi_coll_call *c, const struct gompi_pair_block *b) {
	return b->buf.type != NULL || c->in_place;
}

// Assigns a position to the next block b and returns it: an offset in the buffer of capacity bytes or, if b does not
// fit, REMOTE_DATA | the address of b.
static inline uint64_t assign_position(const struct pairs *p, const struct gompi_pair_block *b, uint64_t capacity,
				       struct fill_state *f) {
	if (f->used + block_bytes(b) <= capacity) {
		uint64_t at = f->used;
		f->used += padded(block_bytes(b));
		return at;
	}
	f->is_read_remotely = true;
	if (!must_pack(p->c, b))
		return REMOTE_DATA | (uint64_t)(uintptr_t)b->buf.at;
	uint64_t at = f->packed;
	f->packed += padded(block_bytes(b));
	return REMOTE_DATA | ((uint64_t)(uintptr_t)p->packed + at);
}

// Returns the bytes that this member's table takes in its buffer.
static inline uint64_t table_bytes(const struct pairs *p, bool body) {
	return is_table_in_header(body, (uint64_t)p->entries) ? 0 : (uint64_t)p->entries * sizeof(struct pair_entry);
}

// Assigns positions to all blocks in a buffer that is the header or, if `body` is true, is not. If table is not NULL,
// also writes the table and the blocks.
static inline __attribute__((always_inline)) struct fill_state layout_blocks(const struct pairs *p, bool body,
									     struct pair_entry *table, char *slot) {
	const struct gompi_coll_call *c = p->c;
	uint64_t size = (uint64_t)p->entries * sizeof *table;
	bool table_remote = p->entries > MAX_ENTRIES;
	const uint64_t capacity = pair_capacity(body, p->uses_all_bodies);
	struct fill_state f = {table_remote ? sizeof *table : table_bytes(p, body), table_remote ? size : 0,
			       table_remote};
	const struct gompi_pair_block *last = NULL; // previous block; equal successive blocks share one copy
	uint64_t at = 0;
	for (int i = 0, k = 0; i < c->send_count; i++) {
		const struct gompi_pair_block *b = &c->to[i];
		if (!has_entry(p, b))
			continue;
		if (last == NULL || !same_block(last, b)) {
			at = assign_position(p, b, capacity, &f);
			if (table == NULL) {
			} else if ((at & REMOTE_DATA) == 0) {
				gompi_buffer_pack_shared(&b->buf, slot + at, 0, b->buf.size);
			} else if (must_pack(c, b)) {
				gompi_buffer_pack(&b->buf, (char *)(uintptr_t)(at & ~REMOTE_DATA), 0, b->buf.size);
			}
		}
		last = b;
		if (table != NULL)
			table[k++] = (struct pair_entry){at, (uint64_t)b->member << 41 | block_bytes(b)};
	}
	return f;
}

// Returns true if the receiver reads the only block of MPI_Gatherv or MPI_Scatterv directly, since the block does not
// fit into one body and a system call is fast. Otherwise the block goes through all bodies if it fits there. With
// system calls of 400 ns, MPI_Gatherv of 4 KiB takes 0.80 us instead of 1.23, and MPI_Scatterv 0.75 us instead of 1.25.
static bool reads_directly(const struct pairs *p) {
	enum { FAST_CALL_NS = 600 };
	return p->entries == 1 && (p->c->kind == GOMPI_GATHERV || p->c->kind == GOMPI_SCATTERV) && gompi_node.has_cma &&
	       !p->t->no_direct && gompi_cma_call_ns() <= FAST_CALL_NS;
}

// Prepares p for a call. Changes nothing that other members see. Returns MPI_ERR_NO_MEM or 0.
static int pairs_prepare(struct pairs *p, struct gompi_shm_coll *t, struct gompi_coll_call *c) {
	*p = (struct pairs){.t = t, .c = c};
	uint64_t data = 0;
	for (int i = 0; i < c->send_count; i++) {
		const struct gompi_pair_block *b = &c->to[i];
		if (has_entry(p, b)) {
			p->entries++;
			data += padded(block_bytes(b));
		} else if (b->member >= 0) {
			p->local_block = b;
		}
	}
	p->size_class = table_bytes(p, false) + data <= GOMPI_SHM_INLINE_BYTES ? GOMPI_IN_HEADER : GOMPI_IN_SMALL;
	const uint64_t all = table_bytes(p, true) + data;
	const bool table_fits = p->entries <= MAX_ENTRIES;
	if (p->size_class == GOMPI_IN_HEADER || (table_fits && all <= GOMPI_SHM_SMALL_BYTES))
		return 0;
	p->uses_all_bodies = !reads_directly(p);
	if (table_fits && p->uses_all_bodies && all <= ALL_BODIES_BYTES)
		return 0;
	uint64_t packed = layout_blocks(p, true, NULL, NULL).packed;
	if (packed > 0 && (p->packed = malloc(packed)) == NULL)
		return MPI_ERR_NO_MEM;
	return 0;
}

// Fills and publishes the buffer. The caller has begun the operation.
static void pairs_publish(struct pairs *p) {
	struct gompi_shm_coll *t = p->t;
	struct gompi_coll_call *c = p->c;
	p->number = t->seq;
	bool body = p->size_class != GOMPI_IN_HEADER, table_remote = p->entries > MAX_ENTRIES;
	char *slot = pair_buffer(p, t->me, body, p->uses_all_bodies);
	struct pair_entry *table =
		table_remote ? (void *)p->packed : pair_table(p, t->me, body, (uint64_t)p->entries, slot);
	p->is_read_remotely = layout_blocks(p, body, table, slot).is_read_remotely || p->uses_all_bodies;
	if (table_remote)
		*(struct pair_entry *)slot = (struct pair_entry){REMOTE_DATA | (uint64_t)(uintptr_t)table,
								 (uint64_t)p->entries * sizeof *table};
	uint64_t format = (uint64_t)p->entries << 16 | (body ? IN_BODY : 0) | (p->uses_all_bodies ? IN_ALL_BODIES : 0) |
			  (table_remote ? TABLE_REMOTE : 0);
	gompi_shm_publish(t, gompi_signature_word(c->kind, c->root, 0), format);
}

// Begins the next operation. Waits until the buffer is free. Returns MPI_ERR_PROC_ABORTED if a process has failed.
static int pairs_begin(struct pairs *p) {
	struct gompi_shm_coll *t = p->t;
	if (!p->uses_all_bodies)
		return gompi_shm_begin(t, p->size_class);
	t->seq++;
	return t->acked + 1 >= t->seq ? 0 : gompi_shm_await_free(t, 1);
}

// --- Reads of other members' memory

// Returns the address of the block that belongs to an entry of this member's table. If `entry` is -1, returns the
// address of the table itself. Stores the length in *bytes. Returns NULL if the block or table is in the buffer, or if
// there is no such entry.
static const char *lent_block(const struct pairs *p, int64_t entry, uint64_t *bytes) {
	struct gompi_shm_coll *t = p->t;
	struct gompi_shm_header *h = gompi_shm_header(t, t->me, p->number);
	uint64_t format = gompi_load(&h->format);
	if ((format & IN_BODY) == 0)
		return NULL;
	char *slot = pair_buffer(p, t->me, true, p->uses_all_bodies);
	const struct pair_entry *table = pair_table(p, t->me, true, format >> 16, slot), *e = table;
	if ((format & TABLE_REMOTE) != 0 && entry >= 0)
		table = (const void *)p->packed;
	if (entry >= 0) {
		if ((uint64_t)entry >= format >> 16)
			return NULL;
		e = &table[entry];
	} else if ((format & TABLE_REMOTE) == 0) {
		return NULL;
	}
	*bytes = e->receiver_bytes & BYTES_MASK;
	return e->position & REMOTE_DATA ? (const char *)(uintptr_t)(e->position & ~REMOTE_DATA) : NULL;
}

// Serves a pending request of member i to this member, if there is one.
static void serve_mailbox(const struct pairs *p, int i) {
	struct gompi_shm_mailbox *m = &p->t->member[i].mail;
	// Acquire: pairs with the release in read_remote, so that this member sees the other words of the request.
	if (gompi_load_acquire(&m->state) != GOMPI_MAILBOX_REQUESTED + (uint64_t)p->t->me)
		return;
	uint64_t size = 0, from = gompi_load(&m->offset), bytes = gompi_load(&m->bytes);
	const char *block = lent_block(p, (int64_t)gompi_load(&m->block), &size);
	if (block == NULL || bytes > sizeof m->data || from > size || bytes > size - from)
		return; // not a valid request
	gompi_copy_out_shared(m->data, block + from, bytes);
	gompi_store_release(&m->state, GOMPI_MAILBOX_FILLED); // after the data; pairs with is_mailbox_filled
	gompi_wake(&p->t->member[i].wait);
}

static void serve_mailboxes(const struct pairs *p) {
	for (int i = 0; p->is_read_remotely && i < p->t->n; i++)
		if (i != p->t->me)
			serve_mailbox(p, i);
}

static bool is_mailbox_filled(void *arg) {
	const struct pairs *p = arg;
	serve_mailboxes(p);
	return gompi_load_acquire(&p->t->member[p->t->me].mail.state) == GOMPI_MAILBOX_FILLED;
}

// A block or a table at an address in a member's memory. The field `entry` is the block's index in the member's table,
// or -1 for the table.
struct remote_block {
	int member;
	int64_t entry;
	uint64_t address;
	bool uses_mailbox;
};

// Reads the range [from, from + bytes) of b into the buffer `to`. Uses the mailbox after a failed direct read. Returns
// 0 or an error class.
static int read_remote(const struct pairs *p, struct remote_block *b, uint64_t from, char *to, uint64_t bytes) {
	struct gompi_shm_coll *t = p->t;
	if (b->member == t->me) {
		gompi_copy_between(to, (const char *)(uintptr_t)(b->address + from), bytes);
		return 0;
	}
	if (!b->uses_mailbox && gompi_cma_move(t->peers[b->member], b->address + from, to, bytes, false))
		return 0;
	b->uses_mailbox = true;
	struct gompi_shm_mailbox *m = &t->member[t->me].mail;
	for (uint64_t done = 0; done < bytes;) {
		uint64_t step = gompi_min_u64(bytes - done, sizeof m->data);
		gompi_store(&m->block, (uint64_t)b->entry);
		gompi_store(&m->offset, from + done);
		gompi_store(&m->bytes, step);
		// Pairs with the acquire in serve_mailbox.
		gompi_store_release(&m->state, GOMPI_MAILBOX_REQUESTED + (uint64_t)b->member);
		gompi_wake(&t->member[b->member].wait);
		int rc = gompi_shm_wait_until(t, is_mailbox_filled, (void *)(uintptr_t)p);
		gompi_store(&m->state, GOMPI_MAILBOX_IDLE);
		if (rc)
			return rc;
		gompi_copy_in(to + done, m->data, step);
		done += step;
	}
	return 0;
}

enum { READ_STEP_BYTES = 16 << 10 };

// Reads a block into b, whose memory is not contiguous.
static int read_remote_typed(const struct pairs *p, struct remote_block *from, const struct gompi_buffer *b) {
	char data[READ_STEP_BYTES];
	struct gompi_cursor cursor;
	gompi_cursor_init(&cursor, b->type, b->count, GOMPI_BYTES);
	for (uint64_t done = 0; done < (uint64_t)b->size;) {
		uint64_t n = gompi_min_u64((uint64_t)b->size - done, sizeof data);
		int rc = read_remote(p, from, done, data, n);
		if (rc)
			return rc;
		gompi_cursor_unpack(b->at, &cursor, data, (int64_t)n);
		done += n;
	}
	return 0;
}

// --- Receiving blocks

static __attribute__((cold)) void note_length_mismatch(const struct pairs *p, int member, uint64_t sent_bytes,
						       uint64_t expected_bytes) {
	struct gompi_coll_call *c = p->c;
	uint64_t w = gompi_signature_word(c->kind, c->root, 0);
	if (!gompi_coll_mismatch(c))
		c->mismatch = (struct gompi_coll_mismatch){member, w, gompi_format_word(sent_bytes, 1), w,
							   gompi_format_word(expected_bytes, 1)};
}

// Returns how many of the blocks before block i come from the same member as block i. This number identifies block i
// among several blocks (edges) from that member.
static int edge_index(const struct gompi_coll_call *c, int i) {
	int number = 0;
	for (int k = 0; k < i; k++)
		number += c->from[k].member == c->from[i].member;
	return number;
}

// Returns the index of the entry for block i in its sender's table, or -1 if the table has no such entry.
static int find_pair_entry(const struct pairs *p, int i, const struct pair_entry *table, uint64_t entries) {
	const struct gompi_coll_call *c = p->c;
	int me = p->t->me, w = c->from[i].member;
	if (!is_neighborhood(c->kind)) {
		int k = c->kind == GOMPI_GATHERV ? 0 : me - (me > w);
		return (uint64_t)k < entries && table[k].receiver_bytes >> 41 == (uint64_t)me ? k : -1;
	}
	int skip = edge_index(c, i);
	for (uint64_t k = 0; k < entries; k++)
		if (table[k].receiver_bytes >> 41 == (uint64_t)me && skip-- == 0)
			return (int)k;
	return -1;
}

// Reads a block from its sender's memory. The argument `entry` is the block's index in the sender's table.
static __attribute__((noinline)) int receive_lent(struct pairs *p, const struct gompi_pair_block *b, int entry,
						  uint64_t address) {
	struct remote_block from = {b->member, entry, address, !gompi_node.has_cma || p->t->no_direct};
	p->reads_remote = true;
	return b->buf.type == NULL ? read_remote(p, &from, 0, b->buf.at, block_bytes(b))
				   : read_remote_typed(p, &from, &b->buf);
}

// Receives block i like pairs_receive, if the sender's table is not in its buffer but in its memory (TABLE_REMOTE). The
// argument `at` points to the entry that holds the table's address and bytes.
static __attribute__((noinline)) int receive_by_remote_table(struct pairs *p, int i, const struct pair_entry *at,
							     const char *slot, uint64_t entries);

// Receives block i. e is the block's entry in the sender's table, and `entry` is the index of e. The sender's buffer
// `slot` has `capacity` bytes.
static inline int receive_entry(struct pairs *p, int i, int entry, const struct pair_entry *e, const char *slot,
				uint64_t capacity) {
	const struct gompi_pair_block *b = &p->c->from[i];
	// Read once, because the sender may change its buffer at any time.
	const uint64_t at = gompi_element_load_relaxed(&e->position);
	const uint64_t bytes = gompi_element_load_relaxed(&e->receiver_bytes) & BYTES_MASK;
	if (__builtin_expect(bytes != block_bytes(b), 0)) {
		note_length_mismatch(p, b->member, bytes, block_bytes(b));
		return 0;
	}
	if (bytes == 0)
		return 0;
	if (__builtin_expect((at & REMOTE_DATA) != 0, 0))
		return receive_lent(p, b, entry, at & ~REMOTE_DATA);
	if (at > capacity || bytes > capacity - at)
		return MPI_ERR_INTERN;
	gompi_buffer_unpack(&b->buf, 0, slot + at, (int64_t)bytes);
	return 0;
}

// Receives a block from a buffer without a table (SINGLE_BLOCK).
static inline int receive_single(const struct pairs *p, const struct gompi_pair_block *b, uint64_t bytes,
				 const char *slot, uint64_t capacity) {
	if (__builtin_expect(bytes != block_bytes(b), 0))
		note_length_mismatch(p, b->member, bytes, block_bytes(b));
	else if (bytes > capacity)
		return MPI_ERR_INTERN;
	else
		gompi_buffer_unpack(&b->buf, 0, slot, (int64_t)bytes);
	return 0;
}

// Receives block i, whose sender has published its buffer. If the block has an unexpected length, records a mismatch in
// the call and does not copy the block. Returns 0 or an error class: MPI_ERR_PROC_ABORTED, MPI_ERR_NO_MEM or
// MPI_ERR_INTERN.
static int pairs_receive(struct pairs *p, int i) {
	struct gompi_shm_coll *t = p->t;
	struct gompi_coll_call *c = p->c;
	const struct gompi_pair_block *b = &c->from[i];
	if (b->member < 0)
		return 0;
	if (b->member == t->me && !is_neighborhood(c->kind)) {
		if (p->local_block != NULL && p->local_block->buf.size != b->buf.size)
			note_length_mismatch(p, t->me, block_bytes(p->local_block), block_bytes(b));
		else if (p->local_block != NULL)
			gompi_buffer_copy(&b->buf, &p->local_block->buf, b->buf.size);
		return 0;
	}
	struct gompi_shm_header *h = gompi_shm_header(t, b->member, p->number);
	uint64_t w = gompi_signature_word(c->kind, c->root, 0), format = gompi_load(&h->format);
	if (__builtin_expect(gompi_load(&h->signature) != w, 0)) {
		if (!gompi_coll_mismatch(c))
			c->mismatch =
				(struct gompi_coll_mismatch){b->member, gompi_load(&h->signature), format, w, format};
		return 0;
	}
	bool body = (format & IN_BODY) != 0, bodies = (format & IN_ALL_BODIES) != 0;
	char *slot = pair_buffer(p, b->member, body, bodies);
	uint64_t capacity = pair_capacity(body, bodies);
	uint64_t entries = format >> 16;
	const struct pair_entry *table = pair_table(p, b->member, body, entries, slot);
	if ((format & SINGLE_BLOCK) != 0)
		return receive_single(p, b, format >> 16, slot, capacity);
	p->reads_remote = p->reads_remote || bodies;
	if (__builtin_expect((format & TABLE_REMOTE) != 0, 0))
		return receive_by_remote_table(p, i, table, slot, entries);
	if (!is_table_in_header(body, entries) && entries * sizeof *table > capacity)
		return MPI_ERR_INTERN;
	int k = find_pair_entry(p, i, table, entries);
	if (k < 0) {
		if (b->buf.size > 0)
			note_length_mismatch(p, b->member, 0, block_bytes(b));
		return 0;
	}
	return receive_entry(p, i, k, &table[k], slot, capacity);
}

static int receive_by_remote_table(struct pairs *p, int i, const struct pair_entry *at, const char *slot,
				   uint64_t entries) {
	const struct gompi_pair_block *b = &p->c->from[i];
	struct remote_block from = {b->member, -1, at->position & ~REMOTE_DATA, !gompi_node.has_cma || p->t->no_direct};
	struct pair_entry *table = malloc(entries * sizeof *table);
	p->reads_remote = true;
	if (table == NULL)
		return MPI_ERR_NO_MEM;
	int rc = read_remote(p, &from, 0, (char *)table, entries * sizeof *table);
	int k = rc ? -1 : find_pair_entry(p, i, table, entries);
	if (k >= 0)
		rc = receive_entry(p, i, k, &table[k], slot, ALL_BODIES_BYTES);
	else if (rc == 0 && b->buf.size > 0)
		note_length_mismatch(p, b->member, 0, block_bytes(b));
	free(table);
	return rc;
}

// --- End of the operation

// Returns true if member i receives data from this member.
static bool is_receiver(const struct pairs *p, int i) {
	const struct gompi_coll_call *c = p->c;
	if (c->kind == GOMPI_GATHERV)
		return i == c->root;
	if (!is_neighborhood(c->kind))
		return true;
	for (int k = 0; k < c->send_count; k++)
		if (c->to[k].member == i)
			return true;
	return false;
}

// Returns true if all readers of this member's memory have finished. Serves the mailbox requests of readers that have
// not finished.
static bool all_readers_finished(void *arg) {
	struct pairs *p = arg;
	struct gompi_shm_coll *t = p->t;
	bool all = true;
	for (int i = 0; p->is_read_remotely && i < t->n; i++) {
		// Acquire: pairs with gompi_shm_finish, so that all reads are over before the memory changes.
		if (i == t->me || gompi_load_acquire(&t->member[i].finished) >= p->number || !is_receiver(p, i))
			continue;
		serve_mailbox(p, i);
		all = false;
	}
	return all;
}

static __attribute__((noinline)) int wait_for_readers(struct pairs *p) {
	struct gompi_shm_coll *t = p->t;
	for (int i = 0; p->reads_remote && i < p->c->recv_count; i++) {
		int member = p->c->from[i].member;
		if (member >= 0 && member != t->me)
			gompi_wake(&t->member[member].wait);
	}
	int rc = p->is_read_remotely ? gompi_shm_wait_until(t, all_readers_finished, p) : 0;
	free(p->packed);
	return rc;
}

// Finishes the operation after all blocks have been received. Waits until all readers of this member's memory have
// finished, and frees p->packed.
static int pairs_finish(struct pairs *p) {
	gompi_shm_finish(p->t);
	return __builtin_expect(p->is_read_remotely || p->reads_remote || p->packed != NULL, 0) ? wait_for_readers(p)
												: 0;
}

// Runs MPI_Gatherv at a member that is not the root and whose block fits into its buffer. Waits only if the buffer is
// still in use.
static int gatherv_small(struct gompi_shm_coll *t, struct gompi_coll_call *c) {
	const struct gompi_pair_block *b = c->to;
	enum gompi_size_class size_class = gompi_size_class_of(block_bytes(b));
	int rc = gompi_shm_begin(t, size_class);
	if (rc)
		return rc;
	gompi_buffer_pack_shared(&b->buf, gompi_shm_data(t, t->me, t->seq, size_class), 0, b->buf.size);
	gompi_shm_publish(t, gompi_signature_word(GOMPI_GATHERV, c->root, 0),
			  block_bytes(b) << 16 | (size_class == GOMPI_IN_SMALL ? IN_BODY : 0) | SINGLE_BLOCK);
	gompi_shm_finish(t);
	return GOMPI_COLL_DONE;
}

// Runs MPI_Gatherv at the root. This variant of gompi_shm_pairwise has fewer checks for blocks in buffers.
static int gatherv_root(struct gompi_shm_coll *t, struct gompi_coll_call *c) {
	uint64_t w = gompi_signature_word(GOMPI_GATHERV, c->root, 0);
	struct pairs p = {.t = t, .c = c, .local_block = c->send_count == 1 ? c->to : NULL};
	int rc = gompi_shm_begin(t, GOMPI_IN_HEADER), failed = 0, members_read = 0;
	if (rc)
		return rc;
	p.number = t->seq;
	gompi_shm_publish(t, w, 0);
	for (int i = 0; i < c->recv_count; i++) {
		const struct gompi_pair_block *b = &c->from[i];
		rc = 0;
		if (b->member >= 0 && b->member != t->me) {
			rc = gompi_shm_await_prefetch(t, b->member);
			if (rc == MPI_ERR_PROC_ABORTED)
				return rc;
			members_read++;
			const struct gompi_shm_header *h = gompi_shm_header(t, b->member, p.number);
			if (block_bytes(b) <= GOMPI_SHM_INLINE_BYTES && gompi_load(&h->signature) == w &&
			    gompi_load(&h->format) == (block_bytes(b) << 16 | SINGLE_BLOCK)) {
				gompi_buffer_unpack(&b->buf, 0, h->data, b->buf.size);
				continue;
			}
		}
		if (rc == 0)
			rc = pairs_receive(&p, i);
		failed = failed ? failed : rc;
	}
	if (members_read == t->n - 1)
		t->acked = t->seq - 1;
	if (__builtin_expect(p.reads_remote || gompi_coll_mismatch(c), 0)) { // senders may wait for this member
		gompi_shm_finish(t);
		wait_for_readers(&p);
	} else {
		gompi_shm_finish_lazy(t, true);
	}
	return failed ? failed : gompi_shm_result(c);
}

int gompi_shm_gatherv(struct gompi_shm_coll *t, struct gompi_coll_call *c) {
	if (t->me == c->root)
		return gatherv_root(t, c);
	if (c->send_count == 1 && block_bytes(c->to) <= GOMPI_SHM_SMALL_BYTES)
		return gatherv_small(t, c);
	return gompi_shm_pairwise(t, c);
}

int gompi_shm_pairwise(struct gompi_shm_coll *t, struct gompi_coll_call *c) {
	struct pairs p;
	int rc = pairs_prepare(&p, t, c), failed = 0;
	if (rc)
		return rc;
	if (c->kind == GOMPI_SCATTERV && t->me != c->root) {
		p.number = ++t->seq; // no member reads this member's buffer
	} else {
		rc = pairs_begin(&p);
		if (rc == 0)
			pairs_publish(&p);
	}
	int first = c->recv_count == t->n ? t->me : 0; // each member starts with a different peer, to spread the load
	for (int k = 0; k < c->recv_count && rc != MPI_ERR_PROC_ABORTED; k++) {
		int i = first + k < c->recv_count ? first + k : first + k - c->recv_count, member = c->from[i].member;
		if (member >= 0 && (member != t->me || is_neighborhood(c->kind)))
			rc = c->kind == GOMPI_SCATTERV ? gompi_shm_await_prefetch(t, member)
						       : gompi_shm_await(t, member);
		if (rc == 0)
			rc = pairs_receive(&p, i);
		failed = failed ? failed : rc;
	}
	if (rc == MPI_ERR_PROC_ABORTED) {
		free(p.packed);
		return rc;
	}
	// Number of members whose filled buffers this member has seen. If these are all other members, all members have
	// finished the previous operation.
	int members_read = 0;
	for (int i = 0; i < c->recv_count; i++)
		members_read += c->from[i].member >= 0 && c->from[i].member != t->me;
	if (members_read == t->n - 1 && !is_neighborhood(c->kind))
		t->acked = t->seq - 1;
	rc = pairs_finish(&p);
	return rc ? rc : failed ? failed : gompi_shm_result(c);
}
