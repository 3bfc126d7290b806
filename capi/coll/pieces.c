// The data format on the board: the layout of a member's data in heads and bodies, and the code that writes and reads
// it.
#include <stdlib.h>
#include <string.h>

#include "base/tuning.h"
#include "coll/protocol.h"
#include "coll/started.h"
#include "transport/cma.h"

// Bytes of one step of a reduction that reads operands directly. A step stays in the cache. A system call costs 2 us,
// copying one step 10 us.
enum { CHUNK = 128 << 10 };

static const struct gompi_part_of_call *part_of(const struct gompi_started *s) { return &s->part[s->now]; }

// Returns true if a member's data differs from reader to reader.
static bool is_personal(int kind) {
	return kind == GOMPI_ALLTOALL || kind == GOMPI_ALLTOALLV || kind == GOMPI_SCATTER || kind == GOMPI_SCATTERV ||
	       kind == GOMPI_REDUCE_SCATTER;
}

// Returns true if the reader does not know the length of the data.
static bool is_unknown(int kind) { return kind == GOMPI_GATHERV || kind == GOMPI_SCATTERV || kind == GOMPI_ALLTOALLV; }

static bool is_folded(int kind) {
	return kind == GOMPI_REDUCE || kind == GOMPI_ALLREDUCE || kind == GOMPI_SCAN || kind == GOMPI_EXSCAN ||
	       kind == GOMPI_REDUCE_SCATTER;
}

// Returns true if member to reads data of member from.
static bool goes(const struct gompi_started *s, int from, int to) {
	switch (part_of(s)->kind) {
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

bool gompi_reads(const struct gompi_started *s, int i) { return i != s->board->me && goes(s, i, s->board->me); }

bool gompi_is_read_by(const struct gompi_started *s, int i) { return i != s->board->me && goes(s, s->board->me, i); }

static bool gives_anything(const struct gompi_started *s) {
	switch (part_of(s)->kind) {
	case GOMPI_BCAST:
	case GOMPI_SCATTER:
	case GOMPI_SCATTERV:
		return s->board->me == s->root;
	}
	return true;
}

// The layout of a member's data in the head or bodies: its blocks side by side, each with at most share bytes in a
// segment. Where the readers do not know the lengths, a table of the lengths of all blocks precedes them. If everything
// fits at once, the blocks follow each other without padding (tight).
struct plan_of_pieces {
	enum gompi_board_space space;
	bool tight;     // blocks follow each other without padding
	uint64_t share; // bytes for each block in a segment
	uint32_t pieces;
};

static uint32_t pieces_of(uint64_t longest, uint64_t share) {
	return longest <= share ? 1 : (uint32_t)((longest + share - 1) / share);
}

// Plans blocks whose lengths all members know; longest is the bytes of the longest block.
static struct plan_of_pieces plan_known(const struct gompi_started *s, uint64_t longest) {
	int kind = part_of(s)->kind;
	uint64_t blocks = is_personal(kind) ? (uint64_t)s->board->n : 1, cap = GOMPI_BOARD_BODY / blocks;
	if (blocks * longest <= GOMPI_BOARD_FEW)
		return (struct plan_of_pieces){BOARD_IN_HEAD, false, longest, 1};
	if (longest > cap && longest <= GOMPI_BOARD_WHOLE / blocks && s->parts == 1)
		return (struct plan_of_pieces){BOARD_IN_ALL, false, longest, 1};
	if (is_folded(kind))
		cap = cap / s->reduction.size * s->reduction.size;
	if (longest <= cap)
		cap = longest;
	return (struct plan_of_pieces){BOARD_IN_BODY, false, cap, pieces_of(longest, cap)};
}

// Plans blocks behind a table of their n lengths.
static struct plan_of_pieces plan_table(const uint64_t *length, int n) {
	uint64_t table = (uint64_t)n * sizeof *length, all = table, longest = 0;
	for (int j = 0; j < n; j++) {
		all += length[j];
		longest = length[j] > longest ? length[j] : longest;
	}
	if (all <= GOMPI_BOARD_WHOLE)
		return (struct plan_of_pieces){all <= GOMPI_BOARD_FEW    ? BOARD_IN_HEAD
					       : all <= GOMPI_BOARD_BODY ? BOARD_IN_BODY
									 : BOARD_IN_ALL,
					       true, longest, 1};
	uint64_t share = (GOMPI_BOARD_BODY - table) / (uint64_t)n;
	return (struct plan_of_pieces){BOARD_IN_BODY, false, share, pieces_of(longest, share)};
}

// Returns the address of member i's data and stores the bytes that are available there.
static char *space_of(const struct gompi_started *s, int i, enum gompi_board_space space, uint64_t *room) {
	*room = space == BOARD_IN_HEAD   ? GOMPI_BOARD_FEW
		: space == BOARD_IN_BODY ? GOMPI_BOARD_BODY
					 : GOMPI_BOARD_WHOLE;
	return space == BOARD_IN_HEAD ? gompi_board_head(s->board, i, s->number)->few
				      : gompi_board_body(s->board, i, s->number, space);
}

// Returns the block of this member for member j.
static struct gompi_piece block_for(const struct gompi_started *s, int j) {
	return j != s->board->me ? part_of(s)->ins[j] : (struct gompi_piece){NULL, 0};
}

static uint64_t longest_of(const struct gompi_started *s) {
	const struct gompi_part_of_call *p = part_of(s);
	if (!is_personal(p->kind))
		return p->in.bytes;
	uint64_t longest = 0;
	for (int j = 0; j < s->board->n; j++)
		longest = p->ins[j].bytes > longest ? p->ins[j].bytes : longest;
	return longest;
}

// Stores the lengths of this member's blocks.
static void lengths_of(const struct gompi_started *s, uint64_t length[GOMPI_BOARD_MOST]) {
	for (int j = 0; j < s->board->n; j++)
		length[j] = block_for(s, j).bytes;
}

static struct plan_of_pieces own_plan(const struct gompi_started *s) {
	int kind = part_of(s)->kind;
	if (!is_unknown(kind) || !is_personal(kind))
		return plan_known(s, longest_of(s));
	uint64_t length[GOMPI_BOARD_MOST];
	lengths_of(s, length);
	return plan_table(length, s->board->n);
}

enum gompi_board_space gompi_takes_space(const struct gompi_started *s) {
	return gives_anything(s) ? own_plan(s).space : BOARD_IN_HEAD;
}

bool gompi_is_much(const struct gompi_started *s) {
	return s->bytes >= GOMPI_MUCH && gompi_header()->cores > gompi_header()->processes;
}

uint32_t gompi_pieces(const struct gompi_started *s) { return gives_anything(s) ? own_plan(s).pieces : 1; }

uint64_t gompi_part_what(const struct gompi_started *s, int of) {
	const struct gompi_part_of_call *p = part_of(s);
	uint64_t bytes = s->bytes;
	if (is_unknown(p->kind))
		bytes = 0;
	else if (p->kind == GOMPI_ALLGATHER)
		bytes = of == s->board->me ? p->in.bytes : p->outs[of].bytes;
	return gompi_what(s->kind, s->root, bytes);
}

uint64_t gompi_part_plan(const struct gompi_started *s) {
	const struct gompi_part_of_call *p = part_of(s);
	if (p->kind == GOMPI_GATHERV)
		return gompi_plan(p->in.bytes, 1);
	if (is_unknown(p->kind))
		return gompi_plan(gompi_takes_space(s), 1); // the place of the table
	return gompi_plan(s->plan, s->reduction.size);
}

// Returns the length of segment k of a block of the given length, with at most share bytes in each segment.
static uint64_t left_at(uint64_t bytes, uint32_t k, uint64_t share) {
	uint64_t from = (uint64_t)k * share;
	return bytes > from ? gompi_least(bytes - from, share) : 0;
}

// Publishes the address of this member's data for direct reads.
static void write_place(struct gompi_started *s) {
	const struct gompi_part_of_call *p = part_of(s);
	struct gompi_board_head *h = gompi_board_head(s->board, s->board->me, s->number);
	int n = s->board->n;
	if (is_personal(p->kind) && is_unknown(p->kind)) {
		uint64_t *table = (uint64_t *)gompi_board_body(s->board, s->board->me, s->number, BOARD_IN_BODY);
		for (int j = 0; j < n; j++) {
			struct gompi_piece b = block_for(s, j);
			table[2 * j] = (uint64_t)(uintptr_t)b.at;
			table[2 * j + 1] = b.bytes;
		}
		return;
	}
	uint64_t at = (uint64_t)(uintptr_t)(is_personal(p->kind) ? p->ins[0].at : p->in.at);
	memcpy(h->few, &at, sizeof at);
}

void gompi_write_piece(struct gompi_started *s, uint32_t k) {
	if (!gives_anything(s))
		return;
	if (k == BOARD_DIRECT) {
		write_place(s);
		return;
	}
	const struct gompi_part_of_call *p = part_of(s);
	struct gompi_board *b = s->board;
	struct plan_of_pieces plan = own_plan(s);
	uint64_t room;
	char *to = space_of(s, b->me, plan.space, &room);
	uint64_t from = (uint64_t)k * plan.share;
	if (!is_personal(p->kind)) {
		if (p->in.bytes > 0)
			gompi_copy_out(to, p->in.at + from, left_at(p->in.bytes, k, plan.share));
		return;
	}
	if (is_unknown(p->kind)) {
		uint64_t length[GOMPI_BOARD_MOST];
		lengths_of(s, length);
		memcpy(to, length, (size_t)b->n * sizeof *length);
		to += (size_t)b->n * sizeof *length;
	}
	for (int j = 0; j < b->n; j++) {
		struct gompi_piece block = block_for(s, j);
		uint64_t bytes = left_at(block.bytes, k, plan.share);
		if (bytes > 0)
			gompi_copy_out(to, block.at + from, bytes);
		to += plan.tight ? block.bytes : plan.share;
	}
}

// Reading.

// Returns the expected length of member i's data and its destination.
static struct gompi_piece block_from(const struct gompi_started *s, int i) {
	const struct gompi_part_of_call *p = part_of(s);
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
		return (struct gompi_piece){p->out.at, p->ins[s->board->me].bytes};
	case GOMPI_BARRIER:
		return (struct gompi_piece){NULL, 0};
	}
	return (struct gompi_piece){p->out.at, p->in.bytes};
}

// Returns the longest block of member i, for collectives in which members know each other's lengths.
static uint64_t longest_known(const struct gompi_started *s, int i) {
	int kind = part_of(s)->kind;
	if (kind == GOMPI_SCATTER || kind == GOMPI_ALLTOALL)
		return s->bytes;
	return is_personal(kind) ? longest_of(s) : block_from(s, i).bytes;
}

// A segment of another member's data for this one.
struct piece_there {
	const char *at;
	uint64_t bytes, offset; // bytes of the segment, and its offset in the block
	uint64_t all;           // bytes of the block
	uint32_t pieces;        // number of segments of the block
};

// Finds segment k of member i's data for this member.
static struct piece_there piece_from(const struct gompi_started *s, int i, uint32_t k) {
	const struct gompi_board *b = s->board;
	struct gompi_board_head *h = gompi_board_head(b, i, s->number);
	int kind = part_of(s)->kind;
	struct piece_there r;
	struct plan_of_pieces plan;
	uint64_t skip = 0, room;
	if (is_unknown(kind) && is_personal(kind)) {
		uint64_t length[GOMPI_BOARD_MOST];
		uint64_t told = gompi_load(&h->plan) >> 16;
		enum gompi_board_space space = told > BOARD_IN_ALL ? BOARD_IN_BODY : (enum gompi_board_space)told;
		memcpy(length, space_of(s, i, space, &room), (size_t)b->n * sizeof *length);
		plan = plan_table(length, b->n);
		plan.space = space;
		r.all = length[b->me];
		skip = (uint64_t)b->n * sizeof *length;
		for (int j = 0; j < b->me; j++)
			skip += plan.tight ? length[j] : plan.share;
	} else {
		r.all = kind == GOMPI_GATHERV ? gompi_load(&h->plan) >> 16 : block_from(s, i).bytes;
		plan = plan_known(s, kind == GOMPI_GATHERV ? r.all : longest_known(s, i));
		if (is_personal(kind))
			skip = (uint64_t)b->me * plan.share;
	}
	r.pieces = plan.pieces;
	r.offset = (uint64_t)k * plan.share;
	r.bytes = left_at(r.all, k, plan.share);
	const char *from = space_of(s, i, plan.space, &room);
	// Values that another process has written are checked before use.
	if (skip > room || r.bytes > room - skip)
		skip = 0, r.bytes = 0;
	r.at = from + skip;
	return r;
}

// Returns true if member i makes the same collective. If not, notes the mismatch.
static bool is_same(struct gompi_started *s, int i) {
	struct gompi_board_head *h = gompi_board_head(s->board, i, s->number);
	uint64_t theirs = gompi_load(&h->what), their_plan = gompi_load(&h->plan);
	uint64_t ours = gompi_part_what(s, i), plan = gompi_part_plan(s);
	bool same = is_unknown(part_of(s)->kind) ? theirs >> 32 == ours >> 32 : theirs == ours && their_plan == plan;
	if (__builtin_expect(!same, 0) && s->differ.rank < 0)
		s->differ = (struct gompi_slots_differ){i, theirs, their_plan, ours, plan};
	return same;
}

// Notes that a member sends more or fewer bytes than this one expects.
static __attribute__((cold)) void note_other_length(struct gompi_started *s, int i, uint64_t theirs, uint64_t ours) {
	if (s->why.class == MPI_SUCCESS)
		gompi_error(&s->why, theirs > ours ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT,
			    "rank %d sent %llu bytes, but %llu were expected", i, (unsigned long long)theirs,
			    (unsigned long long)ours);
}

// Copies segment k of member i's data. Returns the number of segments.
static uint32_t copy_piece(struct gompi_started *s, int i, uint32_t k) {
	struct gompi_piece to = block_from(s, i);
	struct piece_there from = piece_from(s, i, k);
	if (__builtin_expect(from.all != to.bytes, 0))
		note_other_length(s, i, from.all, to.bytes);
	if (to.at != NULL && from.offset < to.bytes)
		gompi_copy_in(to.at + from.offset, from.at, gompi_least(from.bytes, to.bytes - from.offset));
	return from.pieces;
}

// Returns the address in member i's memory of its data for this member, and the length.
static struct gompi_piece place_at_member(const struct gompi_started *s, int i) {
	const struct gompi_board *b = s->board;
	const struct gompi_board_head *h = gompi_board_head(b, i, s->number);
	const struct gompi_part_of_call *p = part_of(s);
	uint64_t at;
	struct gompi_piece r = {NULL, block_from(s, i).bytes};
	memcpy(&at, h->few, sizeof at);
	if (is_unknown(p->kind) && is_personal(p->kind)) {
		const uint64_t *table = (const uint64_t *)gompi_board_body(b, i, s->number, BOARD_IN_BODY);
		at = table[2 * b->me];
		r.bytes = table[2 * b->me + 1];
	} else if (p->kind == GOMPI_GATHERV) {
		r.bytes = gompi_load((gompi_a64 *)&h->plan) >> 16;
	} else if (p->kind == GOMPI_REDUCE_SCATTER) {
		for (int j = 0; j < b->me; j++)
			at += p->ins[j].bytes;
	} else if (is_personal(p->kind)) {
		at += (uint64_t)b->me * s->bytes;
	}
	r.at = (char *)(uintptr_t)at;
	return r;
}

static bool read_memory(const struct gompi_started *s, int i, const char *at, char *to, uint64_t bytes) {
	return gompi_cma_move(s->board->peers[i], (uint64_t)(uintptr_t)at, to, bytes, false);
}

// Copies all data of member i from its memory. Returns true on success.
static bool copy_directly(struct gompi_started *s, int i) {
	struct gompi_piece to = block_from(s, i), from = place_at_member(s, i);
	// Pairs with the fully ordered store to wrote in write_pieces. Without it, this member could read the address
	// word after the owner has overwritten it with data, and still see BOARD_DIRECT.
	gompi_full_fence();
	if (gompi_load(&gompi_board_head(s->board, i, s->number)->wrote) != BOARD_DIRECT)
		return false; // another member has refused, and the data comes in segments
	uint64_t bytes = gompi_least(from.bytes, to.bytes);
	if (to.at != NULL && bytes > 0 && !read_memory(s, i, from.at, to.at, bytes))
		return false;
	if (__builtin_expect(from.bytes != to.bytes, 0))
		note_other_length(s, i, from.bytes, to.bytes);
	return true;
}

// Reductions. This member's result is the reduction of the operands of ranks [0, upto) in rank order. It is computed
// from the last rank down to the first, with each further operand on the left.
static int fold_upto(const struct gompi_started *s) {
	switch (part_of(s)->kind) {
	case GOMPI_REDUCE:
		return s->board->me == s->root ? s->board->n : 0;
	case GOMPI_SCAN:
		return s->board->me + 1;
	case GOMPI_EXSCAN:
		return s->board->me;
	}
	return s->board->n;
}

// Returns this member's own operand.
static struct gompi_piece own_block(const struct gompi_started *s) {
	const struct gompi_part_of_call *p = part_of(s);
	return is_personal(p->kind) ? p->ins[s->board->me] : p->in;
}

static void fold_one(struct gompi_started *s, bool first, const char *from, char *acc, uint64_t bytes) {
	if (first)
		gompi_copy_between(acc, from, bytes);
	else if (s->failed == 0)
		s->failed = gompi_combine(&s->reduction, from, acc, bytes);
}

// Reduces segment k of all operands. Returns the number of segments.
static uint32_t fold_pieces(struct gompi_started *s, uint32_t k) {
	char saved[GOMPI_BOARD_WHOLE];
	int upto = fold_upto(s), me = s->board->me;
	struct gompi_piece own = own_block(s), to = block_from(s, me);
	struct plan_of_pieces plan = plan_known(s, longest_known(s, me));
	uint64_t offset = (uint64_t)k * plan.share, bytes = left_at(to.bytes, k, plan.share);
	if (bytes == 0 || upto == 0)
		return plan.pieces;
	const char *mine = own.at + offset;
	if (own.at == to.at && me < upto - 1)
		mine = gompi_copy_out(saved, mine, bytes);
	for (int i = upto - 1; i >= 0; i--)
		fold_one(s, i == upto - 1, i == me ? mine : piece_from(s, i, k).at, to.at + offset, bytes);
	return plan.pieces;
}

// Reduces all operands directly from the members' memory. Returns true on success; else the operands are unchanged.
static bool fold_directly(struct gompi_started *s) {
	int upto = fold_upto(s), me = s->board->me;
	struct gompi_piece own = own_block(s), to = block_from(s, me);
	uint64_t step = CHUNK / s->reduction.size * s->reduction.size;
	char *spare = malloc(2 * CHUNK), *saved = spare + CHUNK;
	bool able = spare != NULL, over = own.at == to.at;
	// If the result overwrites an operand, the reduction cannot be repeated. So prove first that all operands can
	// be read.
	for (int i = 0; able && over && i < upto; i++)
		able = i == me || read_memory(s, i, place_at_member(s, i).at, spare, 1);
	for (uint64_t from = 0; able && from < to.bytes; from += step) {
		uint64_t bytes = gompi_least(to.bytes - from, step);
		const char *mine = own.at + from;
		if (over && me < upto - 1)
			mine = gompi_copy_out(saved, mine, bytes);
		for (int i = upto - 1; i >= 0; i--) {
			bool first = i == upto - 1;
			char *acc = to.at + from, *at = first ? acc : spare;
			if (i != me && !read_memory(s, i, place_at_member(s, i).at + from, at, bytes)) {
				if (!over && from == 0) {
					able = false;
					break;
				}
				gompi_error(&s->why, MPI_ERR_BUFFER, "cannot read %llu bytes of the buffer of rank %d",
					    (unsigned long long)to.bytes, i);
				from = to.bytes; // the other members still need this one
				break;
			}
			fold_one(s, first, i == me ? mine : at, acc, bytes);
		}
	}
	free(spare);
	return able;
}

// Records for the waiting thread that a head has not been published yet.
static void await_head(struct gompi_started *s, struct gompi_board_head *h) {
	gompi_store(&s->missing_number, s->number);
	gompi_store_release(&s->missing, h); // after its number; pairs with progress_started
}

// Returns true if the next segments of all members that this one reads are on the board. Stores whether some operands
// come in segments and whether some are to be read directly.
static bool is_all_there(struct gompi_started *s, bool *pieces, bool *directly) {
	const struct gompi_board *b = s->board;
	*pieces = *directly = false;
	for (int i = b->n - 1; i >= 0; i--) {
		if (!gompi_reads(s, i))
			continue;
		struct gompi_board_head *h = gompi_board_head(b, i, s->number);
		// Acquire: pairs with the release in publish_part.
		if (gompi_load_acquire(&h->number) != s->number) {
			await_head(s, h);
			return false;
		}
		uint32_t wrote = gompi_load_acquire(&h->wrote);
		if (wrote == BOARD_DIRECT)
			*directly = true;
		else if (wrote <= s->piece)
			return false;
		else
			*pieces = true;
		if (s->piece == 0)
			is_same(s, i);
	}
	return true;
}

static void refuse_directly(struct gompi_started *s) {
	struct gompi_board_head *h = gompi_board_head(s->board, s->board->me, s->number);
	if (gompi_load(&h->read) != 0)
		return;
	gompi_store_release(&h->read, BOARD_REFUSED);
	gompi_board_tell(s->board, gompi_is_much(s));
}

static void tell_read(struct gompi_started *s, uint32_t pieces) {
	// Release: pairs with the acquire in is_taken. The writer waits for it before it overwrites the segment or its
	// memory.
	gompi_store_release(&gompi_board_head(s->board, s->board->me, s->number)->read, pieces);
	if (s->awaited)
		gompi_board_tell(s->board, gompi_is_much(s));
}

static bool take_folded(struct gompi_started *s) {
	bool pieces, directly;
	if (!is_all_there(s, &pieces, &directly))
		return false;
	uint32_t most = s->piece + 1;
	if (s->differ.rank < 0 && directly) {
		if (pieces || !fold_directly(s)) {
			refuse_directly(s);
			return false;
		}
	} else if (s->differ.rank < 0 && block_from(s, s->board->me).bytes > 0) {
		most = fold_pieces(s, s->piece);
	}
	s->awaited = s->awaited || directly || most > 1;
	if (++s->piece < most)
		tell_read(s, s->piece);
	return s->piece >= most;
}

// Reads the data that member i has published so far. Returns true if nothing more will come. Sets *refused if this
// member cannot read directly.
static bool take_what_is_there(struct gompi_started *s, int i, bool *refused) {
	struct gompi_board_head *h = gompi_board_head(s->board, i, s->number);
	// Acquire: pairs with the release in publish_part.
	if (gompi_load_acquire(&h->number) != s->number) {
		await_head(s, h);
		return false;
	}
	uint32_t wrote = gompi_load_acquire(&h->wrote);
	if (s->taken[i] == 0 && !is_same(s, i)) {
		s->awaited = true;
		return true;
	}
	if (wrote == BOARD_DIRECT) {
		s->awaited = true;
		uint32_t read = gompi_load(&gompi_board_head(s->board, s->board->me, s->number)->read);
		if (read != BOARD_REFUSED && copy_directly(s, i))
			return true;
		*refused = true;
	} else {
		while (wrote > s->taken[i]) {
			uint32_t pieces = copy_piece(s, i, s->taken[i]);
			if (++s->taken[i] >= pieces)
				return true;
			s->awaited = true;
		}
	}
	return false;
}

static bool take_copied(struct gompi_started *s) {
	uint32_t least = BOARD_DONE;
	bool refused = false;
	for (int i = s->board->n - 1; i >= 0; i--) {
		if (!gompi_reads(s, i) || s->taken[i] == BOARD_DONE)
			continue;
		if (take_what_is_there(s, i, &refused))
			s->taken[i] = BOARD_DONE;
		else if (s->taken[i] < least)
			least = s->taken[i];
	}
	if (refused && least == 0)
		refuse_directly(s);
	else if (least > s->piece && least != BOARD_DONE)
		tell_read(s, least);
	s->piece = least;
	return least == BOARD_DONE;
}

bool gompi_take_pieces(struct gompi_started *s) {
	if (s->read)
		return true;
	gompi_store(&s->missing, NULL);
	if (!(is_folded(part_of(s)->kind) ? take_folded(s) : take_copied(s)))
		return false;
	s->read = true;
	tell_read(s, BOARD_DONE);
	return true;
}
