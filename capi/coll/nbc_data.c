// The data format of nonblocking shared-memory collectives: the layout of a member's data in headers and bodies, and
// the code that writes and reads it.
#include <stdlib.h>
#include <string.h>

#include "base/tuning.h"
#include "coll/direct.h"
#include "coll/nbc_op.h"
#include "transport/cma.h"

static const struct gompi_nbc_phase *current_phase(const struct gompi_nbc_op *s) { return &s->phase[s->phase_index]; }

// Returns true if a member has different data for each reader.
static bool is_personalized(int kind) {
	return kind == GOMPI_ALLTOALL || kind == GOMPI_ALLTOALLV || kind == GOMPI_SCATTER || kind == GOMPI_SCATTERV ||
	       kind == GOMPI_REDUCE_SCATTER;
}

// Returns true if the reader does not know the length of the data.
static bool is_length_unknown(int kind) {
	return kind == GOMPI_GATHERV || kind == GOMPI_SCATTERV || kind == GOMPI_ALLTOALLV;
}

static bool is_reduced(int kind) {
	return kind == GOMPI_REDUCE || kind == GOMPI_ALLREDUCE || kind == GOMPI_SCAN || kind == GOMPI_EXSCAN ||
	       kind == GOMPI_REDUCE_SCATTER;
}

// Returns true if rank `to` reads data of rank `from`.
static bool has_flow(const struct gompi_nbc_op *s, int from, int to) {
	switch (current_phase(s)->kind) {
	case GOMPI_BCAST:
	case GOMPI_SCATTER:
	case GOMPI_SCATTERV:
		return from == s->root;
	case GOMPI_REDUCE:
	case GOMPI_GATHER:
	case GOMPI_GATHERV:
		return to == s->root;
	case GOMPI_SCAN:
	case GOMPI_EXSCAN:
		return from < to;
	}
	return true;
}

bool gompi_nbc_reads_from(const struct gompi_nbc_op *s, int i) { return i != s->nbc->me && has_flow(s, i, s->nbc->me); }

bool gompi_nbc_is_read_by(const struct gompi_nbc_op *s, int i) { return i != s->nbc->me && has_flow(s, s->nbc->me, i); }

static bool has_send_data(const struct gompi_nbc_op *s) {
	switch (current_phase(s)->kind) {
	case GOMPI_BCAST:
	case GOMPI_SCATTER:
	case GOMPI_SCATTERV:
		return s->nbc->me == s->root;
	}
	return true;
}

// The layout of a member's data in its header or bodies. A segment holds at most block_bytes bytes of each block: the
// parts of all blocks follow each other, each padded to block_bytes. There is no block for the member itself. If the
// readers do not know the lengths, a table of the lengths for all members comes first (lengths_at). If the table and
// all blocks fit into one segment, the blocks have no padding (is_tight).
struct data_layout {
	enum gompi_nbc_space space;
	bool is_tight;        // blocks follow each other without padding
	uint64_t block_bytes; // bytes for each block in a segment
	uint32_t segments;
};

static uint32_t segment_count(uint64_t longest, uint64_t share) {
	return longest <= share ? 1 : (uint32_t)((longest + share - 1) / share);
}

// Lays out blocks whose lengths all members know. The argument `longest` is the length of the longest block in bytes.
static struct data_layout layout_known(const struct gompi_nbc_op *s, uint64_t longest) {
	int kind = current_phase(s)->kind;
	uint64_t blocks = is_personalized(kind) && s->nbc->n > 1 ? (uint64_t)s->nbc->n - 1 : 1,
		 capacity = GOMPI_NBC_BODY_BYTES / blocks;
	if (blocks * longest <= GOMPI_NBC_INLINE_BYTES)
		return (struct data_layout){NBC_IN_HEADER, false, longest, 1};
	if (longest > capacity && longest <= GOMPI_NBC_ALL_BODIES_BYTES / blocks && s->phases == 1)
		return (struct data_layout){NBC_IN_ALL_BODIES, false, longest, 1};
	if (is_reduced(kind))
		capacity = capacity / s->reduction.size * s->reduction.size;
	if (longest <= capacity)
		capacity = longest;
	return (struct data_layout){NBC_IN_BODY, false, capacity, segment_count(longest, capacity)};
}

// Returns the bytes that a table of n lengths takes in this space. A table that fits into the header is always there.
static uint64_t length_table_bytes(int n, enum gompi_nbc_space space) {
	const uint64_t bytes = (uint64_t)n * sizeof(uint64_t);
	return space == NBC_IN_HEADER || bytes > GOMPI_NBC_INLINE_BYTES ? bytes : 0;
}

// Lays out blocks with these n lengths, and the table of the lengths.
static struct data_layout layout_table(const uint64_t *length, int n) {
	const uint64_t table = length_table_bytes(n, NBC_IN_BODY),
		       in_header = length_table_bytes(n, NBC_IN_HEADER) - table;
	uint64_t all = table, longest = 0;
	for (int j = 0; j < n; j++) {
		all += length[j];
		longest = length[j] > longest ? length[j] : longest;
	}
	if (all <= GOMPI_NBC_ALL_BODIES_BYTES)
		return (struct data_layout){all + in_header <= GOMPI_NBC_INLINE_BYTES ? NBC_IN_HEADER
					    : all <= GOMPI_NBC_BODY_BYTES             ? NBC_IN_BODY
										      : NBC_IN_ALL_BODIES,
					    true, longest, 1};
	uint64_t share = (GOMPI_NBC_BODY_BYTES - table) / (uint64_t)(n - 1);
	return (struct data_layout){NBC_IN_BODY, false, share, segment_count(longest, share)};
}

// Returns the address of member i's data in the given space. Stores the size of the space in *capacity.
static char *space_address(const struct gompi_nbc_op *s, int i, enum gompi_nbc_space space, uint64_t *capacity) {
	*capacity = space == NBC_IN_HEADER ? GOMPI_NBC_INLINE_BYTES
		    : space == NBC_IN_BODY ? GOMPI_NBC_BODY_BYTES
					   : GOMPI_NBC_ALL_BODIES_BYTES;
	return space == NBC_IN_HEADER ? gompi_nbc_header(s->nbc, i, s->number)->inline_data
				      : gompi_nbc_body(s->nbc, i, s->number, space);
}

// Returns the address of member i's table of lengths.
static uint64_t *lengths_at(const struct gompi_nbc_op *s, int i, enum gompi_nbc_space space) {
	uint64_t capacity;
	return (void *)space_address(s, i, length_table_bytes(s->nbc->n, space) == 0 ? NBC_IN_HEADER : space,
				     &capacity);
}

// Returns this member's block for member j, which is empty if j is this member.
static struct gompi_span block_for(const struct gompi_nbc_op *s, int j) {
	return j != s->nbc->me ? current_phase(s)->ins[j] : (struct gompi_span){NULL, 0};
}

static uint64_t longest_block(const struct gompi_nbc_op *s) {
	const struct gompi_nbc_phase *p = current_phase(s);
	if (!is_personalized(p->kind))
		return p->in.bytes;
	uint64_t longest = 0;
	for (int j = 0; j < s->nbc->n; j++)
		longest = p->ins[j].bytes > longest ? p->ins[j].bytes : longest;
	return longest;
}

// Stores the length of this member's block for each member.
static void fill_lengths(const struct gompi_nbc_op *s, uint64_t length[GOMPI_NBC_MAX_RANKS]) {
	for (int j = 0; j < s->nbc->n; j++)
		length[j] = block_for(s, j).bytes;
}

static struct data_layout local_layout(const struct gompi_nbc_op *s) {
	int kind = current_phase(s)->kind;
	if (!is_length_unknown(kind) || !is_personalized(kind))
		return layout_known(s, longest_block(s));
	uint64_t length[GOMPI_NBC_MAX_RANKS];
	fill_lengths(s, length);
	return layout_table(length, s->nbc->n);
}

enum gompi_nbc_space gompi_nbc_space_of(const struct gompi_nbc_op *s) {
	return has_send_data(s) ? local_layout(s).space : NBC_IN_HEADER;
}

bool gompi_nbc_wakes_progress(const struct gompi_nbc_op *s) {
	return s->bytes >= GOMPI_WAKE_PROGRESS_BYTES &&
	       gompi_node_header()->core_count > gompi_node_header()->process_count;
}

uint32_t gompi_nbc_segments(const struct gompi_nbc_op *s) { return has_send_data(s) ? local_layout(s).segments : 1; }

uint64_t gompi_nbc_signature(const struct gompi_nbc_op *s, int peer) {
	const struct gompi_nbc_phase *p = current_phase(s);
	uint64_t bytes = s->bytes;
	if (is_length_unknown(p->kind))
		bytes = 0;
	else if (p->kind == GOMPI_ALLGATHER)
		bytes = peer == s->nbc->me ? p->in.bytes : p->outs[peer].bytes;
	return gompi_signature_word(s->kind, s->root, bytes);
}

uint64_t gompi_nbc_format(const struct gompi_nbc_op *s) {
	const struct gompi_nbc_phase *p = current_phase(s);
	if (p->kind == GOMPI_GATHERV)
		return gompi_format_word(p->in.bytes, 1);
	if (is_length_unknown(p->kind))
		return gompi_format_word(gompi_nbc_space_of(s), 1); // the space that holds the table of lengths
	return gompi_format_word(s->longest_bytes, s->reduction.size);
}

// Returns the length of segment k of a block of the given length, with at most `share` bytes in each segment.
static uint64_t segment_length_at(uint64_t bytes, uint32_t k, uint64_t share) {
	uint64_t from = (uint64_t)k * share;
	return bytes > from ? gompi_min_u64(bytes - from, share) : 0;
}

// Publishes the address of this member's data for direct reads.
static void write_address(struct gompi_nbc_op *s) {
	const struct gompi_nbc_phase *p = current_phase(s);
	struct gompi_nbc_header *h = gompi_nbc_header(s->nbc, s->nbc->me, s->number);
	int n = s->nbc->n;
	if (is_personalized(p->kind) && is_length_unknown(p->kind)) {
		uint64_t *table = (uint64_t *)gompi_nbc_body(s->nbc, s->nbc->me, s->number, NBC_IN_BODY);
		for (int j = 0; j < n; j++) {
			struct gompi_span b = block_for(s, j);
			table[2 * j] = (uint64_t)(uintptr_t)b.at;
			table[2 * j + 1] = b.bytes;
		}
		return;
	}
	uint64_t at = (uint64_t)(uintptr_t)(is_personalized(p->kind) ? p->ins[0].at : p->in.at);
	memcpy(h->inline_data, &at, sizeof at);
}

void gompi_nbc_write_segment(struct gompi_nbc_op *s, uint32_t k) {
	if (!has_send_data(s))
		return;
	if (k == NBC_DIRECT) {
		write_address(s);
		return;
	}
	const struct gompi_nbc_phase *p = current_phase(s);
	struct gompi_nbc *b = s->nbc;
	struct data_layout layout = local_layout(s);
	uint64_t capacity;
	char *to = space_address(s, b->me, layout.space, &capacity);
	uint64_t from = (uint64_t)k * layout.block_bytes;
	if (!is_personalized(p->kind)) {
		if (p->in.bytes > 0)
			gompi_copy_out_shared(to, p->in.at + from,
					      segment_length_at(p->in.bytes, k, layout.block_bytes));
		return;
	}
	if (is_length_unknown(p->kind)) {
		uint64_t length[GOMPI_NBC_MAX_RANKS];
		fill_lengths(s, length);
		memcpy(lengths_at(s, b->me, layout.space), length, (size_t)b->n * sizeof *length);
		to += length_table_bytes(b->n, layout.space);
	}
	for (int j = 0; j < b->n; j++) {
		if (j == b->me)
			continue;
		struct gompi_span block = block_for(s, j);
		uint64_t bytes = segment_length_at(block.bytes, k, layout.block_bytes);
		if (bytes > 0)
			gompi_copy_out_shared(to, block.at + from, bytes);
		to += layout.is_tight ? block.bytes : layout.block_bytes;
	}
}

// --- Reading

// Returns the destination of member i's data and the length that this member expects.
static struct gompi_span block_from(const struct gompi_nbc_op *s, int i) {
	const struct gompi_nbc_phase *p = current_phase(s);
	switch (p->kind) {
	case GOMPI_BCAST:
	case GOMPI_SCATTER:
	case GOMPI_SCATTERV:
		return p->out;
	case GOMPI_GATHER:
	case GOMPI_GATHERV:
	case GOMPI_ALLGATHER:
	case GOMPI_ALLTOALL:
	case GOMPI_ALLTOALLV:
		return p->outs[i];
	case GOMPI_REDUCE_SCATTER:
		return (struct gompi_span){p->out.at, p->ins[s->nbc->me].bytes};
	case GOMPI_BARRIER:
		return (struct gompi_span){NULL, 0};
	}
	return (struct gompi_span){p->out.at, p->in.bytes};
}

// Returns the length of the longest block of member i, for collectives in which members know each other's lengths.
static uint64_t longest_peer_block(const struct gompi_nbc_op *s, int i) {
	int kind = current_phase(s)->kind;
	if (kind == GOMPI_SCATTER || kind == GOMPI_ALLTOALL)
		return s->bytes;
	return is_personalized(kind) ? longest_block(s) : block_from(s, i).bytes;
}

// A segment of another member's data for this member.
struct peer_segment {
	const char *at;
	uint64_t bytes, offset; // bytes of the segment, and its offset in the block
	uint64_t block_bytes;   // bytes of the block
	uint32_t segments;      // number of segments of the block
};

// Finds segment k of member i's data for this member.
static struct peer_segment find_segment(const struct gompi_nbc_op *s, int i, uint32_t k) {
	const struct gompi_nbc *b = s->nbc;
	struct gompi_nbc_header *h = gompi_nbc_header(b, i, s->number);
	int kind = current_phase(s)->kind;
	struct peer_segment r;
	struct data_layout layout;
	uint64_t skip = 0, capacity;
	const uint64_t block = (uint64_t)(b->me - (b->me > i)); // index of the block for this member
	if (is_length_unknown(kind) && is_personalized(kind)) {
		uint64_t length[GOMPI_NBC_MAX_RANKS];
		uint64_t sent_space = gompi_load(&h->format) >> 16;
		enum gompi_nbc_space space =
			sent_space > NBC_IN_ALL_BODIES ? NBC_IN_BODY : (enum gompi_nbc_space)sent_space;
		memcpy(length, lengths_at(s, i, space), (size_t)b->n * sizeof *length);
		layout = layout_table(length, b->n);
		layout.space = space;
		r.block_bytes = length[b->me];
		skip = length_table_bytes(b->n, space) + (layout.is_tight ? 0 : block * layout.block_bytes);
		for (int j = 0; layout.is_tight && j < b->me; j++)
			skip += length[j];
	} else {
		r.block_bytes = kind == GOMPI_GATHERV ? gompi_load(&h->format) >> 16 : block_from(s, i).bytes;
		layout = layout_known(s, kind == GOMPI_GATHERV ? r.block_bytes : longest_peer_block(s, i));
		if (is_personalized(kind))
			skip = block * layout.block_bytes;
	}
	r.segments = layout.segments;
	r.offset = (uint64_t)k * layout.block_bytes;
	r.bytes = segment_length_at(r.block_bytes, k, layout.block_bytes);
	const char *from = space_address(s, i, layout.space, &capacity);
	// Values that another process has written are checked before use.
	if (skip > capacity || r.bytes > capacity - skip)
		skip = 0, r.bytes = 0;
	r.at = from + skip;
	return r;
}

// Returns true if member i makes the same collective as this member. If not, records the mismatch.
static bool check_signature(struct gompi_nbc_op *s, int i) {
	struct gompi_nbc_header *h = gompi_nbc_header(s->nbc, i, s->number);
	uint64_t peer_signature = gompi_load(&h->signature), peer_format = gompi_load(&h->format);
	uint64_t local_signature = gompi_nbc_signature(s, i), local_format = gompi_nbc_format(s);
	bool same = is_length_unknown(current_phase(s)->kind)
			    ? peer_signature >> 32 == local_signature >> 32
			    : peer_signature == local_signature && peer_format == local_format;
	if (__builtin_expect(!same, 0) && s->mismatch.rank < 0)
		s->mismatch =
			(struct gompi_coll_mismatch){i, peer_signature, peer_format, local_signature, local_format};
	return same;
}

// Records an error: member i sends more or fewer bytes than this member expects.
static __attribute__((cold)) void note_length_error(struct gompi_nbc_op *s, int i, uint64_t sent_bytes,
						    uint64_t expected_bytes) {
	if (s->error.class == MPI_SUCCESS)
		gompi_set_error(&s->error, sent_bytes > expected_bytes ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT,
				"rank %d sent %llu bytes, but this process expects %llu", i,
				(unsigned long long)sent_bytes, (unsigned long long)expected_bytes);
}

// Copies segment k of member i's data. Returns the number of segments.
static uint32_t copy_segment(struct gompi_nbc_op *s, int i, uint32_t k) {
	struct gompi_span to = block_from(s, i);
	struct peer_segment from = find_segment(s, i, k);
	if (__builtin_expect(from.block_bytes != to.bytes, 0))
		note_length_error(s, i, from.block_bytes, to.bytes);
	if (to.at != NULL && from.offset < to.bytes)
		gompi_copy_in(to.at + from.offset, from.at, gompi_min_u64(from.bytes, to.bytes - from.offset));
	return from.segments;
}

// Returns the range in member i's memory that holds its data for this member.
static struct gompi_span peer_address(const struct gompi_nbc_op *s, int i) {
	const struct gompi_nbc *b = s->nbc;
	const struct gompi_nbc_header *h = gompi_nbc_header(b, i, s->number);
	const struct gompi_nbc_phase *p = current_phase(s);
	uint64_t at;
	struct gompi_span r = {NULL, block_from(s, i).bytes};
	memcpy(&at, h->inline_data, sizeof at);
	if (is_length_unknown(p->kind) && is_personalized(p->kind)) {
		const uint64_t *table = (const uint64_t *)gompi_nbc_body(b, i, s->number, NBC_IN_BODY);
		at = table[2 * b->me];
		r.bytes = table[2 * b->me + 1];
	} else if (p->kind == GOMPI_GATHERV) {
		r.bytes = gompi_load((gompi_a64 *)&h->format) >> 16;
	} else if (p->kind == GOMPI_REDUCE_SCATTER) {
		for (int j = 0; j < b->me; j++)
			at += p->ins[j].bytes;
	} else if (is_personalized(p->kind)) {
		at += (uint64_t)b->me * s->bytes;
	}
	r.at = (char *)(uintptr_t)at;
	return r;
}

// Copies all data of member i from its memory. Returns true on success.
static bool copy_direct(struct gompi_nbc_op *s, int i) {
	struct gompi_span to = block_from(s, i), from = peer_address(s, i);
	// Pairs with the fully ordered store to segments_written in write_segments. Without it, this member could read
	// the address word after the owner has overwritten it with data, and still see NBC_DIRECT.
	gompi_full_fence();
	if (gompi_load(&gompi_nbc_header(s->nbc, i, s->number)->segments_written) != NBC_DIRECT)
		return false; // another member has refused direct reads, so the data comes in segments
	uint64_t bytes = gompi_min_u64(from.bytes, to.bytes);
	// If member i reads this member's data, it is busy with its own copy and cannot help.
	bool (*move)(int, uint64_t, void *, uint64_t, bool) =
		gompi_nbc_is_read_by(s, i) ? gompi_cma_move : gompi_cma_move_assisted;
	if (to.at != NULL && bytes > 0 && !move(s->nbc->peers[i], (uint64_t)(uintptr_t)from.at, to.at, bytes, false))
		return false;
	if (__builtin_expect(from.bytes != to.bytes, 0))
		note_length_error(s, i, from.bytes, to.bytes);
	return true;
}

// --- Reductions, which start with the last operand and combine each further operand as the left one

// Returns the number n of operands that this member reduces. They are the operands of ranks 0 to n - 1.
static int operand_ranks(const struct gompi_nbc_op *s) {
	switch (current_phase(s)->kind) {
	case GOMPI_REDUCE:
		return s->nbc->me == s->root ? s->nbc->n : 0;
	case GOMPI_SCAN:
		return s->nbc->me + 1;
	case GOMPI_EXSCAN:
		return s->nbc->me;
	}
	return s->nbc->n;
}

// Returns this member's own operand.
static struct gompi_span local_operand(const struct gompi_nbc_op *s) {
	const struct gompi_nbc_phase *p = current_phase(s);
	return is_personalized(p->kind) ? p->ins[s->nbc->me] : p->in;
}

// Segment k of the operands. The field `local` points to this member's segment.
struct segment_operands {
	const struct gompi_nbc_op *s;
	uint32_t k;
	const char *local;
};

static const char *operand_segment(const void *arg, int i) {
	const struct segment_operands *o = arg;
	return i == o->s->nbc->me ? o->local : find_segment(o->s, i, o->k).at;
}

// Reduces segment k of all operands into this member's result. Returns the number of segments.
static uint32_t reduce_segment(struct gompi_nbc_op *s, uint32_t k) {
	char overwritten[GOMPI_NBC_ALL_BODIES_BYTES];
	int upto = operand_ranks(s), me = s->nbc->me;
	struct gompi_span operand = local_operand(s), to = block_from(s, me);
	struct data_layout layout = layout_known(s, longest_peer_block(s, me));
	uint64_t offset = (uint64_t)k * layout.block_bytes, bytes = segment_length_at(to.bytes, k, layout.block_bytes);
	if (bytes == 0 || upto == 0 || s->reduce_error != 0)
		return layout.segments;
	struct segment_operands o = {s, k, operand.at + offset};
	if (operand.at == to.at && me < upto - 1)
		o.local = gompi_copy_out(overwritten, o.local, bytes);
	s->reduce_error = gompi_reduce_operands(&s->reduction, upto, to.at + offset, bytes, operand_segment, &o);
	return layout.segments;
}

// Reduces all operands directly from the members' memory. Returns false, with all operands unchanged, if an operand
// cannot be read. If a later read fails, sets s->error and returns true.
static bool reduce_from_memory(struct gompi_nbc_op *s) {
	uint64_t address[GOMPI_NBC_MAX_RANKS], done = 0;
	int upto = operand_ranks(s), me = s->nbc->me;
	struct gompi_span operand = local_operand(s), to = block_from(s, me);
	char *buffer = malloc(2 * GOMPI_DIRECT_READ_BYTES);
	struct gompi_remote_operands f = {
		s->nbc->peers, me, address, operand.at, buffer, buffer + GOMPI_DIRECT_READ_BYTES, buffer == NULL, -1};
	const bool in_place = operand.at == to.at;
	// If the result overwrites an operand, the reduction cannot be repeated after a failed read. So check first
	// that all operands can be read.
	for (int i = 0; i < upto && !f.read_failed; i++)
		if (i != me) {
			address[i] = (uint64_t)(uintptr_t)peer_address(s, i).at;
			if (in_place)
				gompi_read_operand(&f, i, 0, buffer, 1);
		}
	if (f.read_failed) {
		free(buffer);
		return false;
	}
	if (s->reduce_error == 0)
		done = gompi_reduce_remote(&f, &s->reduction, 0, to.bytes, upto, to.at, &s->reduce_error);
	free(buffer);
	if (!f.read_failed)
		return true;
	if (!in_place && done == 0)
		return false;
	// The other members still need this member, so the collective continues.
	gompi_set_error(&s->error, MPI_ERR_BUFFER,
			"cannot read the %llu bytes of the buffer of rank %d: the buffer is not valid memory",
			(unsigned long long)to.bytes, f.failed_rank);
	return true;
}

// Stores in `s` that this member waits for another member to publish header h. A waiting thread then polls h without
// the lock (progress_nbc_op).
static void note_missing_header(struct gompi_nbc_op *s, struct gompi_nbc_header *h) {
	gompi_store(&s->missing_number, s->number);
	gompi_store_release(&s->missing_header, h); // publishes missing_number; pairs with progress_nbc_op
}

// Returns true if all members from which this member reads have published their next segment, or the address of their
// data (NBC_DIRECT). Stores in *in_segments whether any operand comes in segments, and in *direct whether any must be
// read at its address.
static bool all_published(struct gompi_nbc_op *s, bool *in_segments, bool *direct) {
	const struct gompi_nbc *b = s->nbc;
	*in_segments = *direct = false;
	for (int i = b->n - 1; i >= 0; i--) {
		if (!gompi_nbc_reads_from(s, i))
			continue;
		struct gompi_nbc_header *h = gompi_nbc_header(b, i, s->number);
		// Acquire: pairs with the release in publish_phase.
		if (gompi_load_acquire(&h->number) != s->number) {
			note_missing_header(s, h);
			return false;
		}
		uint32_t wrote = gompi_load_acquire(&h->segments_written);
		if (wrote == NBC_DIRECT)
			*direct = true;
		else if (wrote <= s->segments_read)
			return false;
		else
			*in_segments = true;
		if (s->segments_read == 0)
			check_signature(s, i);
	}
	return true;
}

// Reports to the other members that this member cannot read their memory directly.
static void report_direct_refused(struct gompi_nbc_op *s) {
	struct gompi_nbc_header *h = gompi_nbc_header(s->nbc, s->nbc->me, s->number);
	if (gompi_load(&h->segments_read) != 0)
		return;
	gompi_store_release(&h->segments_read, NBC_DIRECT_REFUSED);
	gompi_nbc_notify(s->nbc, gompi_nbc_wakes_progress(s));
}

static void publish_segments_read(struct gompi_nbc_op *s, uint32_t segments) {
	// Release: pairs with the acquire in is_read_by_all. The writer waits for this value before it overwrites the
	// segment or its data.
	gompi_store_release(&gompi_nbc_header(s->nbc, s->nbc->me, s->number)->segments_read, segments);
	if (s->is_awaited)
		gompi_nbc_notify(s->nbc, gompi_nbc_wakes_progress(s));
}

static bool read_operands(struct gompi_nbc_op *s) {
	bool in_segments, direct;
	if (!all_published(s, &in_segments, &direct))
		return false;
	uint32_t segments = s->segments_read + 1;
	if (s->mismatch.rank < 0 && direct) {
		if (in_segments || !reduce_from_memory(s)) {
			report_direct_refused(s);
			return false;
		}
	} else if (s->mismatch.rank < 0 && block_from(s, s->nbc->me).bytes > 0) {
		segments = reduce_segment(s, s->segments_read);
	}
	s->is_awaited = s->is_awaited || direct || segments > 1;
	if (++s->segments_read < segments)
		publish_segments_read(s, s->segments_read);
	return s->segments_read >= segments;
}

// Reads the data that member i has published so far. Returns true if no more data of member i follows. Sets *refused if
// this member cannot read member i's memory directly.
static bool read_available(struct gompi_nbc_op *s, int i, bool *refused) {
	struct gompi_nbc_header *h = gompi_nbc_header(s->nbc, i, s->number);
	// Acquire: pairs with the release in publish_phase.
	if (gompi_load_acquire(&h->number) != s->number) {
		note_missing_header(s, h);
		return false;
	}
	uint32_t wrote = gompi_load_acquire(&h->segments_written);
	if (s->peer_segments_read[i] == 0 && !check_signature(s, i)) {
		s->is_awaited = true;
		return true;
	}
	if (wrote == NBC_DIRECT) {
		s->is_awaited = true;
		uint32_t read = gompi_load(&gompi_nbc_header(s->nbc, s->nbc->me, s->number)->segments_read);
		if (read != NBC_DIRECT_REFUSED && copy_direct(s, i))
			return true;
		*refused = true;
	} else {
		while (wrote > s->peer_segments_read[i]) {
			uint32_t pieces = copy_segment(s, i, s->peer_segments_read[i]);
			if (++s->peer_segments_read[i] >= pieces)
				return true;
			s->is_awaited = true;
		}
	}
	return false;
}

static bool read_copied(struct gompi_nbc_op *s) {
	uint32_t min_read = NBC_READ_DONE;
	bool refused = false;
	for (int i = s->nbc->n - 1; i >= 0; i--) {
		if (!gompi_nbc_reads_from(s, i) || s->peer_segments_read[i] == NBC_READ_DONE)
			continue;
		if (read_available(s, i, &refused))
			s->peer_segments_read[i] = NBC_READ_DONE;
		else if (s->peer_segments_read[i] < min_read)
			min_read = s->peer_segments_read[i];
	}
	if (refused && min_read == 0)
		report_direct_refused(s);
	else if (min_read > s->segments_read && min_read != NBC_READ_DONE)
		publish_segments_read(s, min_read);
	s->segments_read = min_read;
	return min_read == NBC_READ_DONE;
}

bool gompi_nbc_read_segments(struct gompi_nbc_op *s) {
	if (s->read_done)
		return true;
	gompi_store(&s->missing_header, NULL);
	if (!(is_reduced(current_phase(s)->kind) ? read_operands(s) : read_copied(s)))
		return false;
	s->read_done = true;
	publish_segments_read(s, NBC_READ_DONE);
	return true;
}
