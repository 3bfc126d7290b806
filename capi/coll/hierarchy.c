#include "coll/hierarchy.h"

#include <stdlib.h>

#include "base/table.h"
#include "base/up.h"
#include "coll/protocol.h"
#include "errors/codes.h"
#include "fabric/fabric.h"

// --- Sizes

// Limits in bytes: the rows in slots; the operands of all nodes together; data sent in segments if no device moves
// data.
enum { MOST_ROWS = 2 * GOMPI_SLOT_SMALL, MOST_OPERANDS = 48 << 10, MOST_PIECES = 8 << 20 };

// Returns true if each node has one member. Its data then goes directly from its memory into a record, and from there
// into the memory of the others.
static bool is_apart(const struct gompi_hierarchy *s) { return s->most_here == 1; }

// Returns the bytes that a record has for each node's data, together with the data of the nodes forwarded with it.
static uint64_t room_in_record(const struct gompi_hierarchy *s) {
	return GOMPI_LEADERS_MOST / (s->nodes < 4 ? 1 : (uint64_t)s->nodes / 2);
}

// The segments of a member's data. The first segment travels with the comparison of the calls.
struct division {
	uint64_t pieces, bytes; // number of segments and bytes of each; 0 segments: the members only compare
};

// Divides bytes into segments, each of at most the bytes in most, that split no element of elem bytes. More than one
// segment is allowed only if may is true.
static struct division divide(uint64_t bytes, uint64_t elem, uint64_t most, bool may) {
	if (bytes <= most)
		return (struct division){1, bytes};
	most = most / elem * elem;
	if (!may || most == 0 || bytes > MOST_PIECES || gompi_fabric_device)
		return (struct division){0, 0};
	const uint64_t pieces = (bytes + most - 1) / most;
	return (struct division){pieces, ((bytes + pieces - 1) / pieces + elem - 1) / elem * elem};
}

static struct division divide_operand(const struct gompi_hierarchy *s, const struct gompi_slots_call *c) {
	const bool two = is_apart(s) && s->nodes == 2; // with more nodes, less data travels if each reduces a part
	uint64_t most = two ? GOMPI_LEADERS_MOST : MOST_OPERANDS / (uint64_t)s->nodes;
	if (!is_apart(s))
		most = gompi_least(most, GOMPI_SLOT_SMALL);
	return divide(c->bytes, c->reduction.size, most, two);
}

static struct division divide_bcast(const struct gompi_hierarchy *s, uint64_t bytes) {
	const bool may = is_apart(s) && s->nodes <= GOMPI_LEADERS_FEW;
	return divide(bytes, 1, is_apart(s) ? GOMPI_LEADERS_MOST : GOMPI_SLOT_SMALL, may);
}

// --- Views

static struct gompi_spares spare_hierarchies = {sizeof(struct gompi_hierarchy), offsetof(struct gompi_hierarchy, next),
						NULL};

static bool copy_ranks(int32_t **to, const int32_t *from, int n) {
	int32_t *list = realloc(*to, (size_t)n * sizeof *list);
	if (list == NULL)
		return false;
	*to = memcpy(list, from, (size_t)n * sizeof *list);
	return true;
}

struct gompi_hierarchy *gompi_hierarchy_open(const struct gompi_hierarchy *from, uint64_t id, const int32_t *leaders) {
	struct gompi_hierarchy *s = gompi_spares_take(&spare_hierarchies);
	if (s == NULL)
		return NULL;
	int32_t *node_of = s->node_of, *local = s->local; // of the previous communicator of this view
	*s = *from;
	bool copied = copy_ranks(&node_of, from->node_of, from->n) && copy_ranks(&local, from->local, from->here);
	s->node_of = node_of, s->local = local;
	if (copied && s->place == 0) {
		s->own = is_apart(s) ? NULL : aligned_alloc(GOMPI_LINE, MOST_ROWS);
		s->got = calloc((size_t)s->nodes, sizeof *s->got);
		s->leaders = gompi_leaders_open(gompi_leaders_id(LEADERS_COMM, id), s->nodes, s->node, leaders);
		if (s->got != NULL)
			s->got[s->node] = s->own;
	}
	if (copied && (s->place != 0 || ((is_apart(s) || s->own != NULL) && s->got != NULL && s->leaders != NULL)))
		return s;
	gompi_hierarchy_close(s);
	return NULL;
}

void gompi_hierarchy_close(struct gompi_hierarchy *s) {
	gompi_leaders_close(s->leaders);
	free(s->own);
	free(s->got);
	s->leaders = NULL, s->own = NULL, s->got = NULL;
	gompi_spares_give(&spare_hierarchies, s);
}

// --- Results that leaders publish to the members of their nodes

// Published in the high byte of the what word, in place of the collective: the call failed, or the members' calls
// differ. In the latter case the slot's data holds two signatures that do not match, so at least one is not that of the
// reader.
enum { HIERARCHY_FAILED = 0xf0, HIERARCHY_DIFFERS = 0xf1 };

struct hierarchy_said {
	uint64_t what, plan;
};

static int hierarchy_differs(struct gompi_slots_call *c, const struct hierarchy_said *theirs, int rank, uint64_t w,
			     uint64_t plan) {
	c->differ = (struct gompi_slots_differ){rank, theirs->what, theirs->plan, w, plan};
	return GOMPI_SLOTS_DIFFER;
}

// Publishes the outcome of a call that failed or differs at its leader. Returns outcome.
static int tell_outcome(struct gompi_slots *t, struct gompi_slots_call *c, int me, int outcome) {
	int rc = gompi_slots_begin(t, GOMPI_IN_HEAD);
	if (rc)
		return rc;
	const struct gompi_slots_differ *d = &c->differ;
	struct hierarchy_said two[2] = {{d->ours, d->our_plan}, {d->theirs, d->their_plan}};
	memcpy(gompi_slot_data(t, t->me, t->seq, GOMPI_IN_HEAD), two, sizeof two);
	if (outcome == GOMPI_SLOTS_DIFFER)
		gompi_slots_publish(t, (uint64_t)HIERARCHY_DIFFERS << 56,
				    (uint64_t)(uint32_t)me << 32 | (uint32_t)d->rank);
	else
		gompi_slots_publish(t, (uint64_t)HIERARCHY_FAILED << 56, (uint64_t)outcome);
	gompi_slots_finish(t);
	return outcome;
}

// Reads the words of a head once, because another process may change them at any time.
static struct hierarchy_said read_said(const struct gompi_slot_head *h) {
	return (struct hierarchy_said){gompi_load(&h->what), gompi_load(&h->plan)};
}

// Returns what a member's leader has published instead of a result: an error class or GOMPI_SLOTS_DIFFER. Returns 0 if
// it has published a result. said holds the words of its head h. The operation is still open.
static int hear_outcome(const struct gompi_hierarchy *s, struct gompi_slots_call *c, const struct gompi_slot_head *h,
			const struct hierarchy_said *said, uint64_t w, uint64_t plan) {
	if (said->what == (uint64_t)HIERARCHY_FAILED << 56)
		return gompi_error_class_of_peer(said->plan);
	if (said->what != (uint64_t)HIERARCHY_DIFFERS << 56)
		return 0;
	struct hierarchy_said two[2];
	memcpy(two, h->data, sizeof two);
	const bool second = two[0].what == w && two[0].plan == plan;
	const uint32_t rank = (uint32_t)(second ? said->plan : said->plan >> 32);
	if (rank >= (uint32_t)s->n)
		return MPI_ERR_INTERN; // not a value that a leader publishes
	return hierarchy_differs(c, &two[second], (int)rank, w, plan);
}

// --- The collectives

static int hierarchy_barrier(struct gompi_hierarchy *s, const struct gompi_waiting *what) {
	int rc = 0;
	if (s->barrier != NULL)
		rc = gompi_barrier_gather(s->barrier, s->here, s->place, &s->barriers, what);
	if (rc == 0 && s->leaders != NULL)
		rc = gompi_leaders_barrier(s->leaders, what);
	if (rc == 0 && s->barrier != NULL)
		rc = gompi_barrier_release(s->barrier, s->here, s->place, s->barriers, what);
	return rc;
}

// A call as its leader runs it.
struct leading {
	struct gompi_hierarchy *s;
	struct gompi_slots_call *c;
	uint64_t w, plan;
	struct division by;
	uint64_t piece;                     // first segment of the call that blocks describes
	struct gompi_leaders_blocks blocks; // put is NULL if the data comes from s->own
	int failed;                         // error of a reduction
};

static void put_own(void *arg, int to, uint64_t piece, char *at) {
	struct leading *g = arg;
	gompi_copy_few(at, g->s->own, g->blocks.bytes);
}

// Exchanges this node's data, or its first segment, with the other leaders. With to < 0 all leaders receive the data,
// else only the leader of node to. If a member of this node makes another call, which c notes, reports that to the
// leaders. Returns GOMPI_SLOTS_DIFFER if any calls differ.
static int lead(struct leading *g, int to, const struct gompi_waiting *what) {
	struct gompi_hierarchy *s = g->s;
	struct gompi_slots_call *c = g->c;
	struct gompi_leaders_words words = {g->w, g->plan, s->me}, other;
	bool differ = gompi_slots_differ(c);
	if (differ) {
		c->differ.rank = s->local[c->differ.rank];
		other = (struct gompi_leaders_words){c->differ.theirs, c->differ.their_plan, c->differ.rank};
	}
	g->blocks.arg = g;
	g->blocks.got = s->got;
	if (g->blocks.put == NULL)
		g->blocks.put = put_own;
	const struct gompi_leaders_words *differs = differ ? &other : NULL;
	int rc;
	if (to >= 0)
		rc = gompi_leaders_gather(s->leaders, to, &words, differs, &g->blocks, g->by.pieces != 1, what);
	else if (c->kind == GOMPI_ALLTOALL && is_apart(s))
		rc = gompi_leaders_alltoall(s->leaders, &words, differs, &g->blocks, what);
	else
		rc = gompi_leaders_allgather(s->leaders, &words, differs, &g->blocks, what);
	if (rc != GOMPI_LEADERS_DIFFER)
		return rc;
	if (differ)
		return GOMPI_SLOTS_DIFFER;
	if ((uint32_t)words.rank >= (uint32_t)s->n)
		return MPI_ERR_INTERN; // not a value that a leader sends
	return hierarchy_differs(c, &(struct hierarchy_said){words.what, words.plan}, words.rank, g->w, g->plan);
}

// Exchanges all segments like lead. Calls taken after each segment that this node receives.
static int lead_pieces(struct leading *g, int to, void (*put)(void *arg, int to, uint64_t piece, char *at),
		       void (*taken)(void *arg, uint64_t piece), const struct gompi_waiting *what) {
	struct gompi_hierarchy *s = g->s;
	g->blocks.put = put;
	int rc = lead(g, to, what);
	if (rc || g->by.pieces == 0)
		return rc;
	const bool gets = to < 0 || to == s->node;
	if (gets)
		taken(g, 0);
	if (to < 0)
		return g->by.pieces == 1 ? 0 : gompi_leaders_stream(s->leaders, &g->blocks, g->by.pieces, taken, what);
	struct gompi_leaders_words words = {g->w, g->plan, s->me};
	for (uint64_t piece = 1; piece < g->by.pieces; piece++) {
		g->piece = piece;
		rc = gompi_leaders_gather(s->leaders, to, &words, NULL, &g->blocks, false, what);
		if (rc)
			// the leaders have already compared the calls
			return rc == GOMPI_LEADERS_DIFFER ? MPI_ERR_INTERN : rc;
		if (gets)
			taken(g, piece);
	}
	return 0;
}

// --- Reductions

// Reduces the leaders' operands in the order of nodes; own is this leader's. Stores the address of the result in *sum.
// The result is in into if this node is the last one, else in the buffer of the last node's operand.
static int reduce_nodes(const struct gompi_hierarchy *s, const struct gompi_reduction *r, const char *own, char *into,
			uint64_t bytes, const char **sum) {
	char *acc = into;
	if (s->node < s->nodes - 1)
		acc = (char *)(uintptr_t)s->got[s->nodes - 1];
	else
		gompi_copy_between(into, own, bytes);
	*sum = acc;
	for (int i = s->nodes - 2; i >= 0; i--) {
		int rc = gompi_combine(r, i == s->node ? own : s->got[i], acc, bytes);
		if (rc)
			return rc;
	}
	return 0;
}

// Reduces the operands of this node's members and exchanges the result with the leaders. Stores the address of the
// result in *sum.
static int meet_to_reduce(struct leading *g, int to, uint64_t bytes, const char **sum,
			  const struct gompi_waiting *what) {
	struct gompi_hierarchy *s = g->s;
	int failed = 0, rc = 0;
	if (s->slots != NULL)
		rc = gompi_slots_bring(s->slots, g->c, g->w, g->plan, bytes, s->own, &failed);
	else
		gompi_copy_out(s->own, g->c->in, bytes);
	if (rc)
		return rc;
	g->blocks.bytes = (uint32_t)bytes;
	rc = lead(g, to, what);
	if (rc || failed)
		return rc ? rc : failed;
	*sum = s->own;
	return to < 0 || to == s->node ? reduce_nodes(s, &g->c->reduction, s->own, s->own, bytes, sum) : 0;
}

// Returns the bytes of a segment. The last one may be shorter.
static uint64_t piece_bytes(const struct leading *g, uint64_t all, uint64_t piece) {
	const uint64_t from = piece * g->by.bytes;
	return from >= all ? 0 : gompi_least(g->by.bytes, all - from);
}

static void put_operand(void *arg, int to, uint64_t piece, char *at) {
	struct leading *g = arg;
	piece += g->piece;
	const uint64_t bytes = piece_bytes(g, g->c->bytes, piece);
	gompi_copy_out(at, g->c->in + piece * g->by.bytes, bytes);
	memset(at + bytes, 0, g->by.bytes - bytes);
}

static void take_operands(void *arg, uint64_t piece) {
	struct leading *g = arg;
	const uint64_t from = piece * g->by.bytes, bytes = piece_bytes(g, g->c->bytes, piece);
	const char *sum;
	if (g->failed || bytes == 0)
		return;
	g->failed = reduce_nodes(g->s, &g->c->reduction, g->c->in + from, g->c->out + from, bytes, &sum);
	if (g->failed == 0)
		gompi_copy_between(g->c->out + from, sum, bytes);
}

static int hierarchy_reduce(struct gompi_hierarchy *s, struct gompi_slots_call *c, const struct gompi_waiting *what) {
	struct gompi_slots *t = s->slots;
	struct leading g = {.s = s, .c = c, .by = divide_operand(s, c)};
	g.w = gompi_what(c->kind, c->root, c->bytes), g.plan = gompi_plan(c->bytes, c->reduction.size);
	const bool little = g.by.pieces > 0;
	uint64_t bytes = little ? c->bytes : 0;
	int rc = 0, over = little ? GOMPI_SLOTS_DONE : GOMPI_SLOTS_MESSAGES;
	const int to = c->kind == GOMPI_REDUCE ? s->node_of[c->root] : -1;
	bool gets = little && (c->kind == GOMPI_ALLREDUCE || s->me == c->root);
	enum gompi_slot_place p = gompi_place_of(bytes);
	if (is_apart(s)) {
		g.blocks.bytes = (uint32_t)g.by.bytes;
		rc = lead_pieces(&g, to, put_operand, take_operands, what);
		return rc ? rc : g.failed ? g.failed : over;
	}
	if (s->leaders != NULL) {
		const char *sum = NULL;
		rc = meet_to_reduce(&g, to, bytes, &sum, what);
		if (rc && t != NULL)
			return tell_outcome(t, c, s->me, rc);
		if (rc)
			return rc;
		if (t != NULL) {
			rc = gompi_slots_begin(t, p);
			if (rc)
				return rc;
			if (to < 0 || to == s->node)
				gompi_copy_few(gompi_slot_data(t, 0, t->seq, p), sum, bytes);
			gompi_slots_publish(t, g.w, g.plan);
			gompi_slots_finish(t);
		}
		if (gets)
			gompi_copy_in(c->out, sum, bytes);
		return over;
	}
	rc = gompi_slots_bring(t, c, g.w, g.plan, bytes, NULL, NULL);
	if (rc)
		return rc;
	t->seq++;
	if (little && !gets) { // other members may wait for a result
		gompi_slots_finish(t);
		return over;
	}
	rc = gompi_slots_await(t, 0);
	if (rc)
		return rc;
	const struct gompi_slot_head *h = gompi_slot_head(t, 0, t->seq);
	const struct hierarchy_said said = read_said(h);
	rc = hear_outcome(s, c, h, &said, g.w, g.plan);
	if (rc == 0 && gets)
		gompi_copy_in(c->out, gompi_slot_data(t, 0, t->seq, p), bytes);
	gompi_slots_finish(t);
	return rc ? rc : over;
}

// --- Collectives in which each member needs data of all others: all members receive all rows and extract their data

// A member's row: the number of bytes of its data, and the data.
struct hierarchy_row {
	uint64_t bytes;
	char data[];
};

static uint64_t row_bytes(const struct gompi_slots_call *c, int i) { return c->sizes != NULL ? c->sizes[i] : c->bytes; }

// Returns the largest number of bytes that a member contributes.
static uint64_t longest_row(const struct gompi_hierarchy *s, const struct gompi_slots_call *c) {
	uint64_t longest = c->kind == GOMPI_ALLTOALL ? c->bytes * (uint64_t)s->n : c->bytes;
	for (int i = 0; c->kind == GOMPI_ALLGATHER && c->sizes != NULL && i < s->n; i++)
		longest = longest > c->sizes[i] ? longest : c->sizes[i];
	return longest;
}

// Writes a member's row, for nodes with several members.
static void write_row(const struct gompi_hierarchy *s, const struct gompi_slots_call *c, struct hierarchy_row *row,
		      uint64_t stride) {
	row->bytes = c->bytes;
	char *at = row->data;
	for (int i = 0; i < (c->kind == GOMPI_ALLTOALL ? s->n : 1); i++, at += c->bytes)
		gompi_copy_out(at, c->kind == GOMPI_ALLTOALL ? gompi_block(&c->ins, i) : c->in, c->bytes);
	memset(at, 0, stride - (uint64_t)(at - (char *)row));
}

// Stores this member's part of one segment of rank's row, which is at data. If the rank contributes another number of
// bytes than expected (brings), notes the mismatch instead.
static void take_row(struct gompi_slots_call *c, int rank, uint64_t brings, const char *data, uint64_t from,
		     uint64_t most, uint64_t plan) {
	const uint64_t bytes = row_bytes(c, rank);
	struct hierarchy_said theirs = {gompi_what(c->kind, c->root, brings), plan};
	if (brings == bytes && from < bytes)
		gompi_copy_between(gompi_block(&c->outs, rank) + from, data, gompi_least(most, bytes - from));
	else if (brings != bytes && !gompi_slots_differ(c))
		hierarchy_differs(c, &theirs, rank, gompi_what(c->kind, c->root, bytes), plan);
}

static bool folds(const struct gompi_slots_call *c) { return c->kind == GOMPI_SCAN || c->kind == GOMPI_EXSCAN; }

// Reduces one more operand of a scan, from the last rank of the scan down to the first.
static int fold_operand(struct gompi_slots_call *c, bool first, const char *operand, uint64_t from, uint64_t bytes) {
	if (!first)
		return gompi_combine(&c->reduction, operand, c->out + from, bytes);
	gompi_copy_between(c->out + from, operand, bytes);
	return 0;
}

// Extracts this member's data from the rows of all ranks.
static int read_rows(const struct gompi_hierarchy *s, struct gompi_slots_call *c, const char *rows, uint64_t stride,
		     uint64_t plan) {
	const int last = c->kind == GOMPI_SCAN ? s->me : s->me - 1;
	int rc = 0;
	for (int i = last; folds(c) && i >= 0 && c->bytes > 0 && rc == 0; i--)
		rc = fold_operand(c, i == last, rows + (uint64_t)i * stride + sizeof(struct hierarchy_row), 0,
				  c->bytes);
	for (int i = 0; !folds(c) && i < s->n; i++) {
		const struct hierarchy_row *row = (const void *)(rows + (uint64_t)i * stride);
		const uint64_t before = c->kind == GOMPI_ALLTOALL ? (uint64_t)s->me * row_bytes(c, i) : 0;
		take_row(c, i, row->bytes, row->data + before, 0, UINT64_MAX, plan);
	}
	return rc ? rc : gompi_slots_result(c);
}

// --- Nodes with one member each: a row is sent from the member's memory, and stored directly at its destination

static void put_row(void *arg, int to, uint64_t piece, char *at) {
	struct leading *g = arg;
	const struct gompi_slots_call *c = g->c;
	struct hierarchy_row *row = (struct hierarchy_row *)at;
	piece += g->piece;
	const uint64_t bytes = piece_bytes(g, c->bytes, piece);
	const char *in = c->kind == GOMPI_ALLTOALL ? gompi_block(&c->ins, to) : c->in;
	row->bytes = c->bytes;
	if (bytes > 0)
		gompi_copy_out(row->data, in + piece * g->by.bytes, bytes);
	memset(row->data + bytes, 0, g->blocks.bytes - sizeof *row - bytes);
}

static void take_rows(void *arg, uint64_t piece) {
	struct leading *g = arg;
	struct gompi_hierarchy *s = g->s;
	struct gompi_slots_call *c = g->c;
	const uint64_t from = piece * g->by.bytes;
	const int last = !folds(c) ? s->n - 1 : c->kind == GOMPI_SCAN ? s->me : s->me - 1;
	for (int i = last; i >= 0 && g->failed == 0; i--) {
		const struct hierarchy_row *row = (const void *)s->got[i];
		const char *in = i != s->me ? row->data : c->kind == GOMPI_ALLTOALL ? gompi_block(&c->ins, i) : c->in;
		if (i == s->me && in != NULL)
			in += from;
		const uint64_t bytes = piece_bytes(g, c->bytes, piece);
		if (!folds(c))
			take_row(c, i, i == s->me ? c->bytes : row->bytes, in, from, g->by.bytes, g->plan);
		else if (bytes > 0)
			g->failed = fold_operand(c, i == last, in, from, bytes);
	}
}

// --- Nodes with several members: all members receive all rows and extract their data

// Runs a leader's part. Fills few with the rows of all members in rank order, if a member of this node needs them.
static int meet_for_rows(struct leading *g, int to, uint64_t stride, char few[GOMPI_SLOT_SMALL],
			 const struct gompi_waiting *what) {
	struct gompi_hierarchy *s = g->s;
	struct gompi_slots *t = s->slots;
	uint64_t node_bytes = (uint64_t)s->most_here * stride;
	memset(s->own, 0, node_bytes);
	if (stride > 0)
		write_row(s, g->c, (struct hierarchy_row *)s->own, stride);
	if (t != NULL) {
		enum gompi_slot_place p = gompi_place_of(stride);
		int rc = gompi_slots_begin(t, p);
		if (rc)
			return rc;
		gompi_slots_publish(t, g->w, g->plan);
		rc = gompi_slots_await_all(t, g->c, g->w, g->plan);
		if (rc)
			return rc;
		for (int i = 1; i < t->n && !gompi_slots_differ(g->c); i++)
			gompi_copy_few(s->own + (uint64_t)i * stride, gompi_slot_data(t, i, t->seq, p), stride);
		gompi_slots_finish(t);
	}
	g->blocks.bytes = (uint32_t)node_bytes;
	int rc = lead(g, to, what);
	if (rc || stride == 0 || (to >= 0 && to != s->node))
		return rc;
	uint8_t next[GOMPI_SLOT_SMALL / sizeof(struct hierarchy_row)] = {0}; // of each node; every member has a row
	for (int i = 0; i < s->n; i++) {
		int node = s->node_of[i];
		gompi_copy_few(few + (uint64_t)i * stride, s->got[node] + next[node] * stride, stride);
		next[node]++;
	}
	return 0;
}

// Returns true if the rows of all members fit into a slot, and the buffers of all nodes into MOST_ROWS bytes. Each
// node's buffer has space for the largest number of members on any node.
static bool rows_are_few(const struct gompi_hierarchy *s, uint64_t stride) {
	return stride <= GOMPI_SLOT_SMALL && (uint64_t)s->n * stride <= GOMPI_SLOT_SMALL &&
	       (uint64_t)s->nodes * (uint64_t)s->most_here * stride <= MOST_ROWS;
}

static uint64_t row_stride(uint64_t bytes) { return (sizeof(struct hierarchy_row) + bytes + 7) / 8 * 8; }

static int rows_apart(struct leading *g, int to, uint64_t longest, const struct gompi_waiting *what) {
	const struct gompi_hierarchy *s = g->s;
	const bool reduces = folds(g->c);
	const uint64_t most = (room_in_record(s) & ~(uint64_t)7) - sizeof(struct hierarchy_row);
	const uint64_t block = g->c->kind == GOMPI_ALLTOALL ? g->c->bytes : longest;
	if (room_in_record(s) >= row_stride(0))
		g->by = divide(block, reduces ? g->c->reduction.size : 1, most,
			       s->nodes <= (reduces ? 2 : GOMPI_LEADERS_FEW));
	g->blocks.bytes = g->by.pieces == 0 ? 0 : (uint32_t)row_stride(g->by.bytes);
	int rc = lead_pieces(g, to, put_row, take_rows, what);
	if (rc || g->by.pieces == 0)
		return rc ? rc : GOMPI_SLOTS_MESSAGES;
	return g->failed ? g->failed : gompi_slots_result(g->c);
}

static int hierarchy_rows(struct gompi_hierarchy *s, struct gompi_slots_call *c, const struct gompi_waiting *what) {
	struct gompi_slots *t = s->slots;
	uint64_t longest = longest_row(s, c);
	struct leading g = {.s = s, .c = c};
	g.w = gompi_what(c->kind, c->root, 0), g.plan = gompi_plan(longest, folds(c) ? c->reduction.size : 1);
	const int to = c->kind == GOMPI_GATHER ? s->node_of[c->root] : -1;
	if (is_apart(s))
		return rows_apart(&g, to, longest, what);
	uint64_t stride = row_stride(longest);
	bool little = longest <= GOMPI_SLOT_SMALL && rows_are_few(s, stride);
	g.by.pieces = little;
	bool gets = little && (c->kind != GOMPI_GATHER || s->me == c->root);
	if (!little)
		stride = 0; // the members only compare their calls
	_Alignas(GOMPI_LINE) char here[GOMPI_SLOT_SMALL];
	const char *rows = here;
	uint64_t all = (uint64_t)s->n * stride;
	enum gompi_slot_place p = gompi_place_of(all), mine = gompi_place_of(stride);
	int rc;
	if (s->leaders != NULL) {
		rc = meet_for_rows(&g, to, stride, here, what);
		if (rc)
			return t != NULL ? tell_outcome(t, c, s->me, rc) : rc;
		if (t != NULL) {
			rc = gompi_slots_begin(t, p);
			if (rc)
				return rc;
			if (to < 0 || to == s->node)
				gompi_copy_few(gompi_slot_data(t, 0, t->seq, p), rows, all);
			gompi_slots_publish(t, g.w, g.plan);
			gompi_slots_finish(t);
		}
	} else {
		rc = gompi_slots_begin(t, mine);
		if (rc)
			return rc;
		if (stride > 0)
			write_row(s, c, (struct hierarchy_row *)gompi_slot_data(t, t->me, t->seq, mine), stride);
		gompi_slots_publish(t, g.w, g.plan);
		gompi_slots_finish(t);
		t->seq++;
		if (little && !gets) { // other members may wait for the rows
			gompi_slots_finish(t);
			return GOMPI_SLOTS_DONE;
		}
		rc = gompi_slots_await(t, 0);
		if (rc)
			return rc;
		const struct gompi_slot_head *h = gompi_slot_head(t, 0, t->seq);
		const struct hierarchy_said said = read_said(h);
		rc = hear_outcome(s, c, h, &said, g.w, g.plan);
		rows = gompi_slot_data(t, 0, t->seq, p);
	}
	if (rc == 0 && gets)
		rc = read_rows(s, c, rows, stride, g.plan);
	if (s->leaders == NULL)
		gompi_slots_finish(t);
	return rc ? rc : little ? GOMPI_SLOTS_DONE : GOMPI_SLOTS_MESSAGES;
}

// Returns the index of a rank among the members of this node.
static int place_of_rank(const struct gompi_hierarchy *s, int rank) {
	int low = 0, high = s->here - 1;
	while (low < high) {
		int middle = (low + high) / 2;
		if (s->local[middle] < rank)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// Publishes the root's words and data to the members of this node.
static int pass_on(struct gompi_slots *t, const struct gompi_leaders_words *words, const void *data, uint32_t bytes) {
	enum gompi_slot_place p = gompi_place_of(bytes);
	int rc = gompi_slots_begin(t, p);
	if (rc)
		return rc;
	gompi_copy_between(gompi_slot_data(t, t->me, t->seq, p), data, bytes);
	gompi_slots_publish(t, words->what, words->plan);
	gompi_slots_finish(t);
	return 0;
}

// Forwards all segments of a broadcast except the first. takes: bytes of this member's buffer, or 0 if the root's data
// does not match it.
static int bcast_pieces(struct gompi_hierarchy *s, struct gompi_slots_call *c, const struct division *by,
			uint64_t takes, const struct gompi_waiting *what) {
	for (uint64_t piece = 1; piece < by->pieces; piece++) {
		const uint64_t from = piece * by->bytes;
		const bool root = s->me == c->root;
		struct gompi_leaders_words words = {0};
		const void *data = c->out + from;
		uint32_t bytes = root && from < c->bytes ? (uint32_t)gompi_least(by->bytes, c->bytes - from) : 0;
		int rc = gompi_leaders_bcast(s->leaders, s->node_of[c->root], &words, &data, &bytes, what);
		if (rc)
			return rc;
		if (!root && from < takes && bytes == gompi_least(by->bytes, takes - from))
			gompi_copy_in(c->out + from, data, bytes);
	}
	return 0;
}

static int hierarchy_bcast(struct gompi_hierarchy *s, struct gompi_slots_call *c, const struct gompi_waiting *what) {
	struct gompi_slots *t = s->slots;
	uint64_t w = gompi_what(GOMPI_BCAST, c->root, c->bytes), plan = gompi_plan(c->bytes, 1);
	struct gompi_leaders_words words = {w, plan, s->me};
	const void *data = c->out;
	struct division by = divide_bcast(s, c->bytes); // of the root's data
	uint32_t bytes = (uint32_t)by.bytes;
	bool root = s->me == c->root, from_here = s->node_of[c->root] == s->node, hears = t != NULL && !root;
	int rc = 0, from = from_here ? place_of_rank(s, c->root) : 0;
	if (!from_here && s->leaders != NULL)
		hears = false;
	if (root && t != NULL)
		rc = pass_on(t, &words, data, bytes);
	if (hears) {
		t->seq++;
		rc = gompi_slots_await(t, from);
		if (rc)
			return rc;
		const struct gompi_slot_head *h = gompi_slot_head(t, from, t->seq);
		const struct hierarchy_said said = read_said(h);
		rc = hear_outcome(s, c, h, &said, w, plan);
		words = (struct gompi_leaders_words){said.what, said.plan, c->root};
		by = divide_bcast(s, said.plan >> 16);
		bytes = rc == 0 ? (uint32_t)by.bytes : 0;
		data = gompi_slot_data(t, from, t->seq, gompi_place_of(bytes));
	}
	if (rc == 0 && s->leaders != NULL) {
		rc = gompi_leaders_bcast(s->leaders, s->node_of[c->root], &words, &data, &bytes, what);
		by = divide_bcast(s, words.plan >> 16);
		if (rc == 0 && (bytes != by.bytes || words.what >> 56 >= HIERARCHY_FAILED))
			rc = MPI_ERR_INTERN; // not a value that a leader sends
		if (!from_here && t != NULL)
			rc = rc ? tell_outcome(t, c, s->me, rc) : pass_on(t, &words, data, bytes);
	}
	// From here on every member knows the root's words and first segment.
	uint64_t size = words.plan >> 16;
	bool same = words.what == w && words.plan == plan;
	if (rc == 0 && same && !root)
		gompi_copy_in(c->out, data, bytes);
	if (rc == 0 && by.pieces > 1)
		rc = bcast_pieces(s, c, &by, same ? size : 0, what);
	if (hears)
		gompi_slots_finish(t);
	if (rc)
		return rc;
	if (!same)
		rc = hierarchy_differs(c, &(struct hierarchy_said){words.what, words.plan}, c->root, w, plan);
	if (words.what >> 32 != w >> 32 || by.pieces > 0)
		return rc;
	c->bytes = size;
	return GOMPI_SLOTS_MESSAGES;
}

int gompi_hierarchy_run(struct gompi_hierarchy *s, struct gompi_slots_call *c) {
	c->differ.rank = -1;
	const char *name = c->name != NULL ? c->name : ""; // NULL in the library's own calls
	struct gompi_waiting what = {.call = name, .peer = -1, .object = s->object};
	if (s->slots != NULL)
		s->slots->call = name;
	switch (c->kind) {
	case GOMPI_BCAST:
		return hierarchy_bcast(s, c, &what);
	case GOMPI_REDUCE:
	case GOMPI_ALLREDUCE:
		return hierarchy_reduce(s, c, &what);
	case GOMPI_BARRIER:
		return hierarchy_barrier(s, &what);
	}
	return hierarchy_rows(s, c, &what);
}
