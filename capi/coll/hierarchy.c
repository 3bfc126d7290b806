#include "coll/hierarchy.h"

#include <stdlib.h>

#include "base/failure.h"
#include "base/go_callbacks.h"
#include "base/table.h"
#include "coll/protocol.h"
#include "comm/failures.h"
#include "errors/codes.h"
#include "fabric/fabric.h"
#include "message/messages.h"

// --- Sizes

// Limits in bytes. If a limit is exceeded, messages move the data. MAX_ROWS_BYTES limits the data of the members of all
// nodes together (rows_fit), and is the size of local_block. MAX_OPERANDS_BYTES limits the operands of all nodes
// together in a reduction. MAX_SEGMENTED_BYTES limits one member's data that is sent in segments. On a network with
// RDMA, data is never sent in segments.
enum { MAX_ROWS_BYTES = 2 * GOMPI_SHM_SMALL_BYTES, MAX_OPERANDS_BYTES = 48 << 10, MAX_SEGMENTED_BYTES = 8 << 20 };

// Returns true if each node has one member. A member's data is then copied directly from its memory into a network
// record, and from the record into the memory of the other members.
static bool one_rank_per_node(const struct gompi_hierarchy *s) { return s->max_ranks_per_node == 1; }

// Returns how many bytes of one node's data fit into a record. In the exchange (Bruck's algorithm) a record carries the
// data of up to half of the nodes.
static uint64_t record_capacity(const struct gompi_hierarchy *s) {
	return GOMPI_LEADERS_MAX_BYTES / (s->nodes < 4 ? 1 : (uint64_t)s->nodes / 2);
}

// The segments of a member's data. The first segment is sent together with the call's signature.
struct division {
	// With 0 segments, the members only compare their calls. The last segment may be shorter than segment_bytes.
	uint64_t segments, segment_bytes;
};

// Divides bytes into segments of at most max_bytes each, without splitting elements of elem bytes. Returns more than
// one segment only if can_split is true. Returns 0 segments if messages must move the data.
static struct division divide(uint64_t bytes, uint64_t elem, uint64_t max_bytes, bool can_split) {
	if (bytes <= max_bytes)
		return (struct division){1, bytes};
	max_bytes = max_bytes / elem * elem;
	if (!can_split || max_bytes == 0 || bytes > MAX_SEGMENTED_BYTES || gompi_fabric_has_rdma)
		return (struct division){0, 0};
	const uint64_t segments = (bytes + max_bytes - 1) / max_bytes;
	return (struct division){segments, ((bytes + segments - 1) / segments + elem - 1) / elem * elem};
}

static struct division divide_operand(const struct gompi_hierarchy *s, const struct gompi_coll_call *c) {
	const bool can_split =
		one_rank_per_node(s) && s->nodes == 2; // with more nodes, algorithms over messages send less data
	uint64_t max_bytes = can_split ? GOMPI_LEADERS_MAX_BYTES : MAX_OPERANDS_BYTES / (uint64_t)s->nodes;
	if (!one_rank_per_node(s))
		max_bytes = gompi_min_u64(max_bytes, GOMPI_SHM_SMALL_BYTES);
	return divide(c->bytes, c->reduction.size, max_bytes, can_split);
}

static struct division divide_bcast(const struct gompi_hierarchy *s, uint64_t bytes) {
	const bool can_split = one_rank_per_node(s) && s->nodes <= GOMPI_STREAM_MAX_MEMBERS;
	return divide(bytes, 1, one_rank_per_node(s) ? GOMPI_LEADERS_MAX_BYTES : GOMPI_SHM_SMALL_BYTES, can_split);
}

// --- Views

static struct gompi_free_list free_hierarchies = {sizeof(struct gompi_hierarchy),
						  offsetof(struct gompi_hierarchy, next), NULL};

static bool copy_ranks(int32_t **to, const int32_t *from, int n) {
	int32_t *list = realloc(*to, (size_t)n * sizeof *list);
	if (list == NULL)
		return false;
	*to = memcpy(list, from, (size_t)n * sizeof *list);
	return true;
}

struct gompi_hierarchy *gompi_hierarchy_open(const struct gompi_hierarchy *from, struct gompi_messages *m,
					     uint64_t context, const int32_t *leaders) {
	struct gompi_hierarchy *s = gompi_free_list_alloc(&free_hierarchies);
	if (s == NULL)
		return NULL;
	int32_t *node_of = s->node_of, *local = s->local_ranks; // arrays of the view's previous communicator
	*s = *from;
	bool copied =
		copy_ranks(&node_of, from->node_of, from->n) && copy_ranks(&local, from->local_ranks, from->local_size);
	s->node_of = node_of, s->local_ranks = local;
	if (copied && s->local_rank == 0) {
		s->local_block = one_rank_per_node(s) ? NULL : aligned_alloc(GOMPI_CACHE_LINE, MAX_ROWS_BYTES);
		s->leader_blocks = calloc((size_t)s->nodes, sizeof *s->leader_blocks);
		s->leaders = gompi_leaders_open(m, context, s->nodes, s->node, leaders);
		if (s->leader_blocks != NULL)
			s->leader_blocks[s->node] = s->local_block;
	}
	if (copied && (s->local_rank != 0 || ((one_rank_per_node(s) || s->local_block != NULL) &&
					      s->leader_blocks != NULL && s->leaders != NULL)))
		return s;
	gompi_hierarchy_close(s);
	return NULL;
}

void gompi_hierarchy_close(struct gompi_hierarchy *s) {
	gompi_leaders_close(s->leaders);
	free(s->local_block);
	free(s->leader_blocks);
	s->leaders = NULL, s->local_block = NULL, s->leader_blocks = NULL;
	gompi_free_list_put(&free_hierarchies, s);
}

// --- Results that leaders publish to the members of their nodes

// A leader publishes these values in the high byte of the signature word, in place of the kind of the collective, if
// the call failed or the members' calls differ. If calls differ, the leader's buffer holds two signatures that do not
// match. At least one of the two therefore differs from the reader's own signature. The reader reports this one as the
// mismatch.
enum { HIERARCHY_FAILED = 0xf0, HIERARCHY_MISMATCH = 0xf1 };

struct header_words {
	uint64_t signature, format;
};

static int set_mismatch(struct gompi_coll_call *c, const struct header_words *theirs, int rank, uint64_t w,
			uint64_t format) {
	c->mismatch = (struct gompi_coll_mismatch){rank, theirs->signature, theirs->format, w, format};
	return GOMPI_COLL_MISMATCH;
}

// Publishes a header and data to the members of this node. The argument `data` is NULL if no member needs data.
static int publish_to_node(struct gompi_shm_coll *t, uint64_t w, uint64_t format, const void *data, uint64_t bytes) {
	enum gompi_size_class p = gompi_size_class_of(bytes);
	int rc = gompi_shm_begin(t, p);
	if (rc)
		return rc;
	if (data != NULL)
		gompi_copy_between(gompi_shm_data(t, t->me, t->seq, p), data, bytes);
	gompi_shm_publish(t, w, format);
	gompi_shm_finish(t);
	return 0;
}

// Publishes the status of a call that has failed at this leader, or whose members' calls differ. Returns status, or an
// error class if the publication failed.
static int publish_leader_status(const struct gompi_hierarchy *s, struct gompi_coll_call *c, int status) {
	const struct gompi_coll_mismatch *d = &c->mismatch;
	const struct header_words two[2] = {{d->local_signature, d->local_format}, {d->peer_signature, d->peer_format}};
	const bool differs = status == GOMPI_COLL_MISMATCH;
	const int class = gompi_fault_class(status, s->object) == MPIX_ERR_REVOKED ? MPIX_ERR_REVOKED : status;
	int rc = publish_to_node(s->shm_coll, (uint64_t)(differs ? HIERARCHY_MISMATCH : HIERARCHY_FAILED) << 56,
				 differs ? (uint64_t)(uint32_t)s->me << 32 | (uint32_t)d->rank : (uint64_t) class, two,
				 sizeof two);
	return rc ? rc : status;
}

// Returns the error class of a call that failed with `class` at the leader. If the leader knows of a revocation, this
// member may not have been notified of it, so it revokes the communicator, too. Otherwise its call would raise
// MPIX_ERR_PROC_FAILED.
static int class_from_leader(const struct gompi_hierarchy *s, int class) {
	if (class != MPIX_ERR_REVOKED)
		return class;
	struct gompi_comm *c = gompi_comm_get((MPI_Comm)s->object);
	if (c != NULL)
		gompi_revoke(c);
	gompi_note_failed(GOMPI_REVOKED);
	return MPI_ERR_PROC_ABORTED;
}

// Reads the signature and the format of a header once, because another process may change them at any time.
static struct header_words read_header_words(const struct gompi_shm_header *h) {
	return (struct header_words){gompi_load(&h->signature), gompi_load(&h->format)};
}

// Returns the error class or GOMPI_COLL_MISMATCH that the leader of this node has published instead of a result, or 0
// if it has published a result. The parameter h is the leader's header, and `words` holds the values read from h. The
// caller has not finished the operation yet.
static int read_leader_status(const struct gompi_hierarchy *s, struct gompi_coll_call *c,
			      const struct gompi_shm_header *h, const struct header_words *words, uint64_t w,
			      uint64_t format) {
	if (words->signature == (uint64_t)HIERARCHY_FAILED << 56)
		return class_from_leader(s, gompi_error_class_of_peer(words->format));
	if (words->signature != (uint64_t)HIERARCHY_MISMATCH << 56)
		return 0;
	struct header_words two[2];
	memcpy(two, h->data, sizeof two);
	const bool second = two[0].signature == w && two[0].format == format;
	const uint32_t rank = (uint32_t)(second ? words->format : words->format >> 32);
	if (rank >= (uint32_t)s->n)
		return MPI_ERR_INTERN; // not a value that a leader publishes
	return set_mismatch(c, &two[second], (int)rank, w, format);
}

// --- The collectives

static int hierarchy_barrier(struct gompi_hierarchy *s, const struct gompi_wait_desc *waiting) {
	int rc = 0;
	if (s->barrier != NULL)
		rc = gompi_barrier_gather(s->barrier, s->local_size, s->local_rank, &s->barrier_count, waiting);
	if (rc == 0 && s->leaders != NULL)
		rc = gompi_leaders_barrier(s->leaders, waiting);
	if (rc == 0 && s->barrier != NULL)
		rc = gompi_barrier_release(s->barrier, s->local_size, s->local_rank, s->barrier_count, waiting);
	return rc;
}

// The state of one call at a node leader.
struct leader_call {
	struct gompi_hierarchy *view;
	struct gompi_coll_call *call;
	uint64_t signature, format;
	struct division division;
	uint64_t first_segment;             // number of the segment that blocks.fill receives as segment 0
	struct gompi_leaders_blocks blocks; // fill is NULL if the data comes from view->local_block
	int reduce_error;                   // error class of the reduction, or 0
};

// Ends a call on a node with several members, or at its only member. The leader publishes the result of the exchange,
// or its status rc, to the members of its node. The other members, which have contributed their data, wait for it. The
// argument `result` is NULL at a leader whose node gets no result. If this member receives data, calls `extract` with
// the result.
static int distribute_result(const struct leader_call *g, int rc, const char *result, uint64_t bytes, bool receives,
			     int (*extract)(const struct leader_call *g, const char *result, uint64_t bytes)) {
	const struct gompi_hierarchy *s = g->view;
	struct gompi_shm_coll *t = s->shm_coll;
	const int outcome = g->division.segments > 0 ? GOMPI_COLL_DONE : GOMPI_COLL_USE_MESSAGES;
	if (s->leaders != NULL) {
		if (rc && t != NULL)
			return publish_leader_status(s, g->call, rc);
		if (rc == 0 && t != NULL)
			rc = publish_to_node(t, g->signature, g->format, result, bytes);
		if (rc == 0 && receives)
			rc = extract(g, result, bytes);
		return rc ? rc : outcome;
	}
	if (rc)
		return rc;
	t->seq++;
	if (outcome == GOMPI_COLL_DONE && !receives) { // this member needs no result
		gompi_shm_finish(t);
		return outcome;
	}
	rc = gompi_shm_await(t, 0);
	if (rc)
		return rc;
	const struct gompi_shm_header *h = gompi_shm_header(t, 0, t->seq);
	const struct header_words words = read_header_words(h);
	rc = read_leader_status(s, g->call, h, &words, g->signature, g->format);
	if (rc == 0 && receives)
		rc = extract(g, gompi_shm_data(t, 0, t->seq, gompi_size_class_of(bytes)), bytes);
	gompi_shm_finish(t);
	return rc ? rc : outcome;
}

static void put_local_block(void *arg, int to, uint64_t segment, char *at) {
	struct leader_call *g = arg;
	gompi_copy_small(at, g->view->local_block, g->blocks.block_bytes);
}

// Exchanges this node's data, or its first segment, with the other leaders. If `to` is negative, all leaders receive
// the data, else only the leader of the node `to`. If a member of this node makes a different call (c->mismatch),
// reports that to the other leaders. Returns GOMPI_COLL_MISMATCH if the calls of any members differ.
static int exchange_blocks(struct leader_call *g, int to, const struct gompi_wait_desc *waiting) {
	struct gompi_hierarchy *s = g->view;
	struct gompi_coll_call *c = g->call;
	struct gompi_leaders_call words = {g->signature, g->format, s->me}, other;
	bool has_mismatch = gompi_coll_mismatch(c);
	if (has_mismatch) {
		c->mismatch.rank = s->local_ranks[c->mismatch.rank];
		other = (struct gompi_leaders_call){c->mismatch.peer_signature, c->mismatch.peer_format,
						    c->mismatch.rank};
	}
	g->blocks.arg = g;
	g->blocks.received = s->leader_blocks;
	if (g->blocks.fill == NULL)
		g->blocks.fill = put_local_block;
	if (to >= 0)
		g->blocks.flow = LEADERS_GATHER, g->blocks.root = to,
		g->blocks.wait_for_root = g->division.segments != 1;
	else if (c->kind == GOMPI_ALLTOALL && one_rank_per_node(s))
		g->blocks.flow = LEADERS_ALLTOALL;
	int rc = gompi_leaders_exchange(s->leaders, &words, has_mismatch ? &other : NULL, &g->blocks, waiting);
	if (rc != GOMPI_LEADERS_MISMATCH)
		return rc;
	if (has_mismatch)
		return GOMPI_COLL_MISMATCH;
	if ((uint32_t)words.rank >= (uint32_t)s->n)
		return MPI_ERR_INTERN; // not a value that a leader sends
	return set_mismatch(c, &(struct header_words){words.signature, words.format}, words.rank, g->signature,
			    g->format);
}

// Exchanges all segments like exchange_blocks. Calls the function `put` to write each segment that this node sends.
// Calls on_segment after each segment that this node receives.
static int exchange_segments(struct leader_call *g, int to, void (*put)(void *arg, int to, uint64_t segment, char *at),
			     void (*on_segment)(void *arg, uint64_t segment), const struct gompi_wait_desc *waiting) {
	struct gompi_hierarchy *s = g->view;
	g->blocks.fill = put;
	int rc = exchange_blocks(g, to, waiting);
	if (rc || g->division.segments == 0)
		return rc;
	const bool receives = to < 0 || to == s->node;
	if (receives)
		on_segment(g, 0);
	if (to < 0)
		return g->division.segments == 1 ? 0
						 : gompi_leaders_stream(s->leaders, &g->blocks, g->division.segments,
									on_segment, waiting);
	struct gompi_leaders_call words = {g->signature, g->format, s->me};
	for (uint64_t segment = 1; segment < g->division.segments; segment++) {
		g->first_segment = segment;
		g->blocks.wait_for_root = false;
		rc = gompi_leaders_exchange(s->leaders, &words, NULL, &g->blocks, waiting);
		if (rc)
			// a mismatch is an internal error here, because the leaders have already compared the calls
			return rc == GOMPI_LEADERS_MISMATCH ? MPI_ERR_INTERN : rc;
		if (receives)
			on_segment(g, segment);
	}
	return 0;
}

// --- Reductions

// Reduces the operands of all leaders in node order. The argument `operand` is this leader's operand. Stores the
// address of the result in *result. The result is in the buffer `into` if this node is the last node, else in the
// buffer that holds the last node's operand.
static int reduce_nodes(const struct gompi_hierarchy *s, const struct gompi_reduction *r, const char *operand,
			char *into, uint64_t bytes, const char **result) {
	char *acc = into;
	if (s->node < s->nodes - 1)
		acc = (char *)(uintptr_t)s->leader_blocks[s->nodes - 1];
	else
		gompi_copy_between(into, operand, bytes);
	*result = acc;
	for (int i = s->nodes - 2; i >= 0; i--) {
		int rc = gompi_combine(r, i == s->node ? operand : s->leader_blocks[i], acc, bytes);
		if (rc)
			return rc;
	}
	return 0;
}

// Reduces the operands of this node's members, exchanges this result with the other leaders, and reduces the results of
// all nodes. Stores the address of the final result in *result if this node gets it.
static int reduce_at_leader(struct leader_call *g, int to, uint64_t bytes, const char **result,
			    const struct gompi_wait_desc *waiting) {
	struct gompi_hierarchy *s = g->view;
	int failed = 0, rc = 0;
	if (s->shm_coll != NULL)
		rc = gompi_shm_reduce_to_leader(s->shm_coll, g->call, g->signature, g->format, bytes, s->local_block,
						&failed);
	else
		gompi_copy_out(s->local_block, g->call->in, bytes);
	if (rc)
		return rc;
	g->blocks.block_bytes = (uint32_t)bytes;
	rc = exchange_blocks(g, to, waiting);
	if (rc || failed)
		return rc ? rc : failed;
	*result = s->local_block;
	return to < 0 || to == s->node
		       ? reduce_nodes(s, &g->call->reduction, s->local_block, s->local_block, bytes, result)
		       : 0;
}

// Returns the length of a segment if the data has `all` bytes in total. The last segment may be shorter than the
// others.
static uint64_t segment_length(const struct leader_call *g, uint64_t all, uint64_t segment) {
	const uint64_t from = segment * g->division.segment_bytes;
	return from >= all ? 0 : gompi_min_u64(g->division.segment_bytes, all - from);
}

static void put_operand(void *arg, int to, uint64_t segment, char *at) {
	struct leader_call *g = arg;
	segment += g->first_segment;
	const uint64_t bytes = segment_length(g, g->call->bytes, segment);
	gompi_copy_out(at, g->call->in + segment * g->division.segment_bytes, bytes);
	memset(at + bytes, 0, g->division.segment_bytes - bytes);
}

static void reduce_received(void *arg, uint64_t segment) {
	struct leader_call *g = arg;
	const uint64_t from = segment * g->division.segment_bytes, bytes = segment_length(g, g->call->bytes, segment);
	const char *result;
	if (g->reduce_error || bytes == 0)
		return;
	g->reduce_error =
		reduce_nodes(g->view, &g->call->reduction, g->call->in + from, g->call->out + from, bytes, &result);
	if (g->reduce_error == 0)
		gompi_copy_between(g->call->out + from, result, bytes);
}

static int copy_result(const struct leader_call *g, const char *result, uint64_t bytes) {
	gompi_copy_in(g->call->out, result, bytes);
	return 0;
}

static int hierarchy_reduce(struct gompi_hierarchy *s, struct gompi_coll_call *c,
			    const struct gompi_wait_desc *waiting) {
	struct gompi_shm_coll *t = s->shm_coll;
	struct leader_call g = {.view = s, .call = c, .division = divide_operand(s, c)};
	g.signature = gompi_signature_word(c->kind, c->root, c->bytes),
	g.format = gompi_format_word(c->bytes, c->reduction.size);
	const bool fits = g.division.segments > 0;
	uint64_t bytes = fits ? c->bytes : 0;
	int rc;
	const int to = c->kind == GOMPI_REDUCE ? s->node_of[c->root] : -1;
	bool receives = fits && (c->kind == GOMPI_ALLREDUCE || s->me == c->root);
	if (one_rank_per_node(s)) {
		g.blocks.block_bytes = (uint32_t)g.division.segment_bytes;
		rc = exchange_segments(&g, to, put_operand, reduce_received, waiting);
		return rc ? rc : g.reduce_error ? g.reduce_error : fits ? GOMPI_COLL_DONE : GOMPI_COLL_USE_MESSAGES;
	}
	const char *result = NULL;
	if (s->leaders != NULL)
		rc = reduce_at_leader(&g, to, bytes, &result, waiting);
	else
		rc = gompi_shm_reduce_to_leader(t, c, g.signature, g.format, bytes, NULL, NULL);
	return distribute_result(&g, rc, result, bytes, receives, copy_result);
}

// --- MPI_Gather, MPI_Allgather, MPI_Alltoall, MPI_Scan and MPI_Exscan: each member contributes a row

// A row: the number of bytes that a member contributes, followed by these bytes.
struct hierarchy_row {
	uint64_t bytes;
	char data[];
};

static uint64_t row_bytes(const struct gompi_coll_call *c, int i) { return c->sizes != NULL ? c->sizes[i] : c->bytes; }

// Returns the largest number of bytes that a member contributes.
static uint64_t longest_row(const struct gompi_hierarchy *s, const struct gompi_coll_call *c) {
	uint64_t longest = c->kind == GOMPI_ALLTOALL ? c->bytes * (uint64_t)s->n : c->bytes;
	for (int i = 0; c->kind == GOMPI_ALLGATHER && c->sizes != NULL && i < s->n; i++)
		longest = longest > c->sizes[i] ? longest : c->sizes[i];
	return longest;
}

// Writes this member's row, padded to `stride` bytes. Used on nodes with several members.
static void write_row(const struct gompi_hierarchy *s, const struct gompi_coll_call *c, struct hierarchy_row *row,
		      uint64_t stride) {
	row->bytes = c->bytes;
	char *at = row->data;
	for (int i = 0; i < (c->kind == GOMPI_ALLTOALL ? s->n : 1); i++, at += c->bytes)
		gompi_copy_out(at, c->kind == GOMPI_ALLTOALL ? gompi_block(&c->ins, i) : c->in, c->bytes);
	memset(at, 0, stride - (uint64_t)(at - (char *)row));
}

// Stores one segment of the row of `rank` in this member's receive buffer. The segment begins at offset `from` of the
// row and is at the address `data`. If the length of the row (sent_bytes) is not the length that this member expects,
// records a mismatch instead.
static void store_row(struct gompi_coll_call *c, int rank, uint64_t sent_bytes, const char *data, uint64_t from,
		      uint64_t max_bytes, uint64_t format) {
	const uint64_t bytes = row_bytes(c, rank);
	struct header_words theirs = {gompi_signature_word(c->kind, c->root, sent_bytes), format};
	if (sent_bytes == bytes && from < bytes)
		gompi_copy_between(gompi_block(&c->outs, rank) + from, data, gompi_min_u64(max_bytes, bytes - from));
	else if (sent_bytes != bytes && !gompi_coll_mismatch(c))
		set_mismatch(c, &theirs, rank, gompi_signature_word(c->kind, c->root, bytes), format);
}

static bool is_scan(const struct gompi_coll_call *c) { return c->kind == GOMPI_SCAN || c->kind == GOMPI_EXSCAN; }

// Reduces one more operand of a scan into the result. The caller passes the operands from the last rank of the scan
// down to the first.
static int scan_operand(struct gompi_coll_call *c, bool first, const char *operand, uint64_t from, uint64_t bytes) {
	if (!first)
		return gompi_combine(&c->reduction, operand, c->out + from, bytes);
	gompi_copy_between(c->out + from, operand, bytes);
	return 0;
}

// Extracts this member's data from the rows of all ranks.
static int extract_from_rows(const struct leader_call *g, const char *rows, uint64_t bytes) {
	const struct gompi_hierarchy *s = g->view;
	struct gompi_coll_call *c = g->call;
	const uint64_t stride = bytes / (uint64_t)s->n;
	const int last = c->kind == GOMPI_SCAN ? s->me : s->me - 1;
	int rc = 0;
	for (int i = last; is_scan(c) && i >= 0 && c->bytes > 0 && rc == 0; i--)
		rc = scan_operand(c, i == last, rows + (uint64_t)i * stride + sizeof(struct hierarchy_row), 0,
				  c->bytes);
	for (int i = 0; !is_scan(c) && i < s->n; i++) {
		const struct hierarchy_row *row = (const void *)(rows + (uint64_t)i * stride);
		const uint64_t before = c->kind == GOMPI_ALLTOALL ? (uint64_t)s->me * row_bytes(c, i) : 0;
		store_row(c, i, row->bytes, row->data + before, 0, UINT64_MAX, g->format);
	}
	return rc ? rc : gompi_shm_result(c);
}

// --- Nodes with one member each: a row is sent from the member's memory, and stored directly at its destination

static void put_row(void *arg, int to, uint64_t segment, char *at) {
	struct leader_call *g = arg;
	const struct gompi_coll_call *c = g->call;
	struct hierarchy_row *row = (struct hierarchy_row *)at;
	segment += g->first_segment;
	const uint64_t bytes = segment_length(g, c->bytes, segment);
	const char *in = c->kind == GOMPI_ALLTOALL ? gompi_block(&c->ins, to) : c->in;
	row->bytes = c->bytes;
	if (bytes > 0)
		gompi_copy_out(row->data, in + segment * g->division.segment_bytes, bytes);
	memset(row->data + bytes, 0, g->blocks.block_bytes - sizeof *row - bytes);
}

static void store_rows(void *arg, uint64_t segment) {
	struct leader_call *g = arg;
	struct gompi_hierarchy *s = g->view;
	struct gompi_coll_call *c = g->call;
	const uint64_t from = segment * g->division.segment_bytes;
	const int last = !is_scan(c) ? s->n - 1 : c->kind == GOMPI_SCAN ? s->me : s->me - 1;
	for (int i = last; i >= 0 && g->reduce_error == 0; i--) {
		const struct hierarchy_row *row = (const void *)s->leader_blocks[i];
		const char *in = i != s->me ? row->data : c->kind == GOMPI_ALLTOALL ? gompi_block(&c->ins, i) : c->in;
		if (i == s->me && in != NULL)
			in += from;
		const uint64_t bytes = segment_length(g, c->bytes, segment);
		if (!is_scan(c))
			store_row(c, i, i == s->me ? c->bytes : row->bytes, in, from, g->division.segment_bytes,
				  g->format);
		else if (bytes > 0)
			g->reduce_error = scan_operand(c, i == last, in, from, bytes);
	}
}

// --- Nodes with several members: all members receive all rows and extract their data

// Runs the leader's part of hierarchy_rows. Fills the array `rows` with the rows of all members in rank order, if a
// member of this node needs them.
static int exchange_rows(struct leader_call *g, int to, uint64_t stride, char rows[GOMPI_SHM_SMALL_BYTES],
			 const struct gompi_wait_desc *waiting) {
	struct gompi_hierarchy *s = g->view;
	struct gompi_shm_coll *t = s->shm_coll;
	uint64_t node_bytes = (uint64_t)s->max_ranks_per_node * stride;
	memset(s->local_block, 0, node_bytes);
	if (stride > 0)
		write_row(s, g->call, (struct hierarchy_row *)s->local_block, stride);
	if (t != NULL) {
		enum gompi_size_class p = gompi_size_class_of(stride);
		int rc = gompi_shm_begin(t, p);
		if (rc)
			return rc;
		gompi_shm_publish(t, g->signature, g->format);
		rc = gompi_shm_await_all(t, g->call, g->signature, g->format);
		if (rc)
			return rc;
		for (int i = 1; i < t->n && !gompi_coll_mismatch(g->call); i++)
			gompi_copy_small(s->local_block + (uint64_t)i * stride, gompi_shm_data(t, i, t->seq, p),
					 stride);
		gompi_shm_finish(t);
	}
	g->blocks.block_bytes = (uint32_t)node_bytes;
	int rc = exchange_blocks(g, to, waiting);
	if (rc || stride == 0 || (to >= 0 && to != s->node))
		return rc;
	// For each node, the index of its next row in the node's block. The array has one element for each row that
	// fits into a buffer, and there are at most as many nodes as rows.
	uint8_t next[GOMPI_SHM_SMALL_BYTES / sizeof(struct hierarchy_row)] = {0};
	for (int i = 0; i < s->n; i++) {
		int node = s->node_of[i];
		gompi_copy_small(rows + (uint64_t)i * stride, s->leader_blocks[node] + next[node] * stride, stride);
		next[node]++;
	}
	return 0;
}

// Returns true if the rows of all members fit into a buffer, and the blocks of all nodes into MAX_ROWS_BYTES bytes.
// Each node's block has space for the largest number of members on any node.
static bool rows_fit(const struct gompi_hierarchy *s, uint64_t stride) {
	return stride <= GOMPI_SHM_SMALL_BYTES && (uint64_t)s->n * stride <= GOMPI_SHM_SMALL_BYTES &&
	       (uint64_t)s->nodes * (uint64_t)s->max_ranks_per_node * stride <= MAX_ROWS_BYTES;
}

static uint64_t row_stride(uint64_t bytes) { return (sizeof(struct hierarchy_row) + bytes + 7) / 8 * 8; }

static int rows_between_leaders(struct leader_call *g, int to, uint64_t longest,
				const struct gompi_wait_desc *waiting) {
	const struct gompi_hierarchy *s = g->view;
	const bool scans = is_scan(g->call);
	const uint64_t max_bytes = (record_capacity(s) & ~(uint64_t)7) - sizeof(struct hierarchy_row);
	const uint64_t block = g->call->kind == GOMPI_ALLTOALL ? g->call->bytes : longest;
	if (record_capacity(s) >= row_stride(0))
		g->division = divide(block, scans ? g->call->reduction.size : 1, max_bytes,
				     s->nodes <= (scans ? 2 : GOMPI_STREAM_MAX_MEMBERS));
	g->blocks.block_bytes = g->division.segments == 0 ? 0 : (uint32_t)row_stride(g->division.segment_bytes);
	int rc = exchange_segments(g, to, put_row, store_rows, waiting);
	if (rc || g->division.segments == 0)
		return rc ? rc : GOMPI_COLL_USE_MESSAGES;
	return g->reduce_error ? g->reduce_error : gompi_shm_result(g->call);
}

static int hierarchy_rows(struct gompi_hierarchy *s, struct gompi_coll_call *c, const struct gompi_wait_desc *waiting) {
	struct gompi_shm_coll *t = s->shm_coll;
	uint64_t longest = longest_row(s, c);
	struct leader_call g = {.view = s, .call = c};
	g.signature = gompi_signature_word(c->kind, c->root, 0),
	g.format = gompi_format_word(longest, is_scan(c) ? c->reduction.size : 1);
	const int to = c->kind == GOMPI_GATHER ? s->node_of[c->root] : -1;
	if (one_rank_per_node(s))
		return rows_between_leaders(&g, to, longest, waiting);
	uint64_t stride = row_stride(longest);
	bool fits = longest <= GOMPI_SHM_SMALL_BYTES && rows_fit(s, stride);
	g.division.segments = fits;
	bool receives = fits && (c->kind != GOMPI_GATHER || s->me == c->root);
	if (!fits)
		stride = 0; // the members only compare their calls
	_Alignas(GOMPI_CACHE_LINE) char rows[GOMPI_SHM_SMALL_BYTES];
	enum gompi_size_class row_class = gompi_size_class_of(stride);
	int rc;
	if (s->leaders != NULL) {
		rc = exchange_rows(&g, to, stride, rows, waiting);
	} else if ((rc = gompi_shm_begin(t, row_class)) == 0) {
		if (stride > 0)
			write_row(s, c, (struct hierarchy_row *)gompi_shm_data(t, t->me, t->seq, row_class), stride);
		gompi_shm_publish(t, g.signature, g.format);
		gompi_shm_finish(t);
	}
	return distribute_result(&g, rc, to < 0 || to == s->node ? rows : NULL, (uint64_t)s->n * stride, receives,
				 extract_from_rows);
}

// Returns the index of a rank among the members of this node.
static int local_rank_of(const struct gompi_hierarchy *s, int rank) {
	int low = 0, high = s->local_size - 1;
	while (low < high) {
		int middle = (low + high) / 2;
		if (s->local_ranks[middle] < rank)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// Broadcasts all segments except the first. recv_bytes is the size of this member's buffer, or 0 if the root's call
// does not match this member's call.
static int bcast_segments(struct gompi_hierarchy *s, struct gompi_coll_call *c, const struct division *by,
			  uint64_t recv_bytes, const struct gompi_wait_desc *waiting) {
	for (uint64_t segment = 1; segment < by->segments; segment++) {
		const uint64_t from = segment * by->segment_bytes;
		const bool root = s->me == c->root;
		struct gompi_leaders_call words = {0};
		const void *data = c->out + from;
		uint32_t bytes =
			root && from < c->bytes ? (uint32_t)gompi_min_u64(by->segment_bytes, c->bytes - from) : 0;
		int rc = gompi_leaders_bcast(s->leaders, s->node_of[c->root], &words, &data, &bytes, waiting);
		if (rc)
			return rc;
		if (!root && from < recv_bytes && bytes == gompi_min_u64(by->segment_bytes, recv_bytes - from))
			gompi_copy_in(c->out + from, data, bytes);
	}
	return 0;
}

static int hierarchy_bcast(struct gompi_hierarchy *s, struct gompi_coll_call *c,
			   const struct gompi_wait_desc *waiting) {
	struct gompi_shm_coll *t = s->shm_coll;
	uint64_t w = gompi_signature_word(GOMPI_BCAST, c->root, c->bytes), format = gompi_format_word(c->bytes, 1);
	struct gompi_leaders_call words = {w, format, s->me};
	const void *data = c->out;
	struct division by = divide_bcast(s, c->bytes); // division of the root's data; other members set it below
	uint32_t bytes = (uint32_t)by.segment_bytes;
	bool root = s->me == c->root, is_root_local = s->node_of[c->root] == s->node, reads_header = t != NULL && !root;
	int rc = 0, from = is_root_local ? local_rank_of(s, c->root) : 0;
	if (!is_root_local && s->leaders != NULL)
		reads_header = false;
	if (root && t != NULL)
		rc = publish_to_node(t, w, format, data, bytes);
	if (reads_header) {
		t->seq++;
		rc = gompi_shm_await(t, from);
		if (rc)
			return rc;
		const struct gompi_shm_header *h = gompi_shm_header(t, from, t->seq);
		const struct header_words header = read_header_words(h);
		rc = read_leader_status(s, c, h, &header, w, format);
		words = (struct gompi_leaders_call){header.signature, header.format, c->root};
		by = divide_bcast(s, header.format >> 16);
		bytes = rc == 0 ? (uint32_t)by.segment_bytes : 0;
		data = gompi_shm_data(t, from, t->seq, gompi_size_class_of(bytes));
	}
	if (rc == 0 && s->leaders != NULL) {
		rc = gompi_leaders_bcast(s->leaders, s->node_of[c->root], &words, &data, &bytes, waiting);
		by = divide_bcast(s, words.format >> 16);
		if (rc == 0 && (bytes != by.segment_bytes || words.signature >> 56 >= HIERARCHY_FAILED))
			rc = MPI_ERR_INTERN; // not a value that a leader sends
		if (!is_root_local && t != NULL)
			rc = rc ? publish_leader_status(s, c, rc)
				: publish_to_node(t, words.signature, words.format, data, bytes);
	}
	// From here on every member knows the root's words and first segment.
	uint64_t size = words.format >> 16;
	bool same = words.signature == w && words.format == format;
	if (rc == 0 && same && !root)
		gompi_copy_in(c->out, data, bytes);
	if (rc == 0 && by.segments > 1)
		rc = bcast_segments(s, c, &by, same ? size : 0, waiting);
	if (reads_header)
		gompi_shm_finish(t);
	if (rc)
		return rc;
	if (!same)
		rc = set_mismatch(c, &(struct header_words){words.signature, words.format}, c->root, w, format);
	if (words.signature >> 32 != w >> 32 || by.segments > 0)
		return rc;
	c->bytes = size;
	return GOMPI_COLL_USE_MESSAGES;
}

int gompi_hierarchy_run(struct gompi_hierarchy *s, struct gompi_coll_call *c) {
	c->mismatch.rank = -1;
	const char *name = c->name != NULL ? c->name : ""; // NULL in the library's own calls
	struct gompi_wait_desc waiting = {.call = name, .peer = -1, .object = s->object};
	if (s->shm_coll != NULL)
		s->shm_coll->call_name = name;
	switch (c->kind) {
	case GOMPI_BCAST:
		return hierarchy_bcast(s, c, &waiting);
	case GOMPI_REDUCE:
	case GOMPI_ALLREDUCE:
		return hierarchy_reduce(s, c, &waiting);
	case GOMPI_BARRIER:
		return hierarchy_barrier(s, &waiting);
	}
	return hierarchy_rows(s, c, &waiting);
}
