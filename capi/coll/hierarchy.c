#include "coll/hierarchy.h"

#include <stdlib.h>

#include "base/table.h"
#include "base/up.h"
#include "coll/protocol.h"

// --- Views

// So many bytes are little: what fits into a slot; or into what leaders give each other, where each member is one.
static uint64_t most_bytes(const struct gompi_hierarchy *s) {
	return s->most_here > 1 ? GOMPI_SLOT_SMALL : GOMPI_LEADERS_MOST;
}
static uint64_t most_reduced(const struct gompi_hierarchy *s) {
	return gompi_least(most_bytes(s), GOMPI_LEADERS_MOST / (uint64_t)s->nodes);
}
// With a place for each member that a node could have all rows may have twice as many.
static uint64_t most_rows(const struct gompi_hierarchy *s) {
	return gompi_least(2 * most_bytes(s), GOMPI_LEADERS_MOST);
}
static bool rows_are_few(const struct gompi_hierarchy *s, uint64_t stride) {
	return stride <= GOMPI_LEADERS_MOST && (uint64_t)s->n * stride <= most_bytes(s) &&
	       (uint64_t)s->nodes * (uint64_t)s->most_here * stride <= most_rows(s);
}

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
	int32_t *node_of = s->node_of, *local = s->local; // of the communicator that had the view before
	*s = *from;
	bool copied = copy_ranks(&node_of, from->node_of, from->n) && copy_ranks(&local, from->local, from->here);
	s->node_of = node_of, s->local = local;
	if (copied && s->place == 0) {
		uint64_t reduced = most_reduced(s) * (uint64_t)s->nodes, rows = most_rows(s);
		uint64_t room = ((reduced > rows ? reduced : rows) + GOMPI_LINE) / GOMPI_LINE * GOMPI_LINE;
		s->all = aligned_alloc(GOMPI_LINE, room);
		s->leaders = gompi_leaders_open(gompi_leaders_id(LEADERS_COMM, id), s->nodes, s->node, leaders);
	}
	if (copied && (s->place != 0 || (s->all != NULL && s->leaders != NULL)))
		return s;
	gompi_hierarchy_close(s);
	return NULL;
}

void gompi_hierarchy_close(struct gompi_hierarchy *s) {
	gompi_leaders_close(s->leaders);
	free(s->all);
	s->leaders = NULL, s->all = NULL;
	gompi_spares_give(&spare_hierarchies, s);
}

// --- What leaders tell the members of their nodes

// That a call has failed, or that members differ, instead of which collective and how many bytes. In the latter case
// two that do not go together follow in the slot's data, so that one of them is not what a member has.
enum { HIERARCHY_FAILED = 0xf0, HIERARCHY_DIFFERS = 0xf1 };

struct hierarchy_said {
	uint64_t what, plan;
};

static int hierarchy_differs(struct gompi_slots_call *c, const struct hierarchy_said *theirs, int rank, uint64_t w,
			     uint64_t plan) {
	c->differ = (struct gompi_slots_differ){rank, theirs->what, theirs->plan, w, plan};
	return GOMPI_SLOTS_DIFFER;
}

// Publishes that a call is over with rc at its leader.
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

// What a member's leader has told instead of a result, if it has; the operation is under way.
static int hear_outcome(struct gompi_slots *t, struct gompi_slots_call *c, const struct gompi_slot_head *h, uint64_t w,
			uint64_t plan) {
	uint64_t what = gompi_load(&h->what), how = gompi_load(&h->plan);
	if (what == (uint64_t)HIERARCHY_FAILED << 56)
		return (int)how;
	if (what != (uint64_t)HIERARCHY_DIFFERS << 56)
		return 0;
	struct hierarchy_said two[2];
	memcpy(two, h->data, sizeof two);
	int second = two[0].what == w && two[0].plan == plan;
	return hierarchy_differs(c, &two[second], second ? (int)(uint32_t)how : (int)(how >> 32), w, plan);
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

// Has all leaders get the bytes that each has in s->all. A member of this node that differs is noted in c.
static int hierarchy_gather(struct gompi_hierarchy *s, struct gompi_slots_call *c, uint64_t w, uint64_t plan,
			    uint64_t bytes, const struct gompi_waiting *what) {
	struct gompi_leaders_words words = {w, plan, s->me}, other;
	bool differ = gompi_slots_differ(c);
	if (differ) {
		c->differ.rank = s->local[c->differ.rank];
		other = (struct gompi_leaders_words){c->differ.theirs, c->differ.their_plan, c->differ.rank};
	}
	int rc = gompi_leaders_allgather(s->leaders, &words, differ ? &other : NULL, s->all, (uint32_t)bytes, what);
	if (rc != GOMPI_LEADERS_DIFFER)
		return rc;
	if (differ)
		return GOMPI_SLOTS_DIFFER;
	if ((uint32_t)words.rank >= (uint32_t)s->n)
		return MPI_ERR_INTERN; // nobody sends that
	return hierarchy_differs(c, &(struct hierarchy_said){words.what, words.plan}, words.rank, w, plan);
}

// Reduces what the members of this node bring and what the other leaders have; the result is at *sum, in all.
static int meet_to_reduce(struct gompi_hierarchy *s, struct gompi_slots_call *c, uint64_t w, uint64_t plan,
			  uint64_t bytes, const char **sum, const struct gompi_waiting *what) {
	const struct gompi_reduction *r = &c->reduction;
	char *all = s->all, *own = all + (uint64_t)s->node * bytes;
	int failed = 0, rc;
	if (s->slots != NULL) {
		rc = gompi_slots_bring(s->slots, c, w, plan, bytes, own, &failed);
		if (rc)
			return rc;
	} else {
		gompi_copy_out(own, c->in, bytes);
	}
	rc = hierarchy_gather(s, c, w, plan, bytes, what);
	if (rc || failed)
		return rc ? rc : failed;
	char *acc = all + (uint64_t)(s->nodes - 1) * bytes;
	*sum = acc;
	for (int i = s->nodes - 2; i >= 0 && bytes > 0; i--) {
		rc = gompi_combine(r, all + (uint64_t)i * bytes, acc, bytes);
		if (rc)
			return rc;
	}
	return 0;
}

static int hierarchy_reduce(struct gompi_hierarchy *s, struct gompi_slots_call *c, const struct gompi_waiting *what) {
	struct gompi_slots *t = s->slots;
	uint64_t w = gompi_what(c->kind, c->root, c->bytes), plan = gompi_plan(c->bytes, c->reduction.size);
	bool little = c->bytes <= most_reduced(s);
	uint64_t bytes = little ? c->bytes : 0;
	int rc = 0, over = little ? GOMPI_SLOTS_DONE : GOMPI_SLOTS_MESSAGES;
	bool gets = little && (c->kind == GOMPI_ALLREDUCE || s->me == c->root);
	enum gompi_slot_place p = gompi_place_of(bytes);
	if (s->leaders != NULL) {
		const char *sum = NULL;
		rc = meet_to_reduce(s, c, w, plan, bytes, &sum, what);
		if (rc && t != NULL)
			return tell_outcome(t, c, s->me, rc);
		if (rc)
			return rc;
		if (t != NULL) {
			rc = gompi_slots_begin(t, p);
			if (rc)
				return rc;
			if (c->kind == GOMPI_ALLREDUCE || s->node_of[c->root] == s->node)
				gompi_copy_few(gompi_slot_data(t, 0, t->seq, p), sum, bytes);
			gompi_slots_publish(t, w, plan);
			gompi_slots_finish(t);
		}
		if (gets)
			gompi_copy_in(c->out, sum, bytes);
		return over;
	}
	rc = gompi_slots_bring(t, c, w, plan, bytes, NULL, NULL);
	if (rc)
		return rc;
	t->seq++;
	if (little && !gets) { // others may wait for a result
		gompi_slots_finish(t);
		return over;
	}
	rc = gompi_slots_await(t, 0);
	if (rc)
		return rc;
	rc = hear_outcome(t, c, gompi_slot_head(t, 0, t->seq), w, plan);
	if (rc == 0 && gets)
		gompi_copy_in(c->out, gompi_slot_data(t, 0, t->seq, p), bytes);
	gompi_slots_finish(t);
	return rc ? rc : over;
}

// --- Collectives of which each member needs what others bring: all get the rows of all, and take what is theirs

// A member's row: how many bytes it brings, and these.
struct hierarchy_row {
	uint64_t bytes;
	char data[];
};

static uint64_t row_bytes(const struct gompi_slots_call *c, int i) { return c->sizes != NULL ? c->sizes[i] : c->bytes; }

// The most bytes that a member brings.
static uint64_t longest_row(const struct gompi_hierarchy *s, const struct gompi_slots_call *c) {
	uint64_t longest = c->kind == GOMPI_ALLTOALL ? c->bytes * (uint64_t)s->n : c->bytes;
	for (int i = 0; c->kind == GOMPI_ALLGATHER && c->sizes != NULL && i < s->n; i++)
		longest = longest > c->sizes[i] ? longest : c->sizes[i];
	return longest;
}

// Returns how many bytes a row has that has been written.
static uint64_t write_row(const struct gompi_hierarchy *s, const struct gompi_slots_call *c,
			  struct hierarchy_row *row) {
	row->bytes = c->bytes;
	if (c->kind != GOMPI_ALLTOALL)
		gompi_copy_out(row->data, c->in, c->bytes);
	for (int i = 0; c->kind == GOMPI_ALLTOALL && i < s->n; i++)
		gompi_copy_out(row->data + (uint64_t)i * c->bytes, gompi_block(&c->ins, i), c->bytes);
	return sizeof *row + (c->kind == GOMPI_ALLTOALL ? c->bytes * (uint64_t)s->n : c->bytes);
}

// The row of a rank: rows lie in the order of ranks, or of nodes where leaders have left them.
static const struct hierarchy_row *row_of(const struct gompi_hierarchy *s, const char *rows, uint64_t stride, int i) {
	return (const void *)(rows + (uint64_t)(rows == s->all ? s->node_of[i] : i) * stride);
}

// The reduction of the rows up to this member's.
static int fold_rows(const struct gompi_hierarchy *s, struct gompi_slots_call *c, const char *rows, uint64_t stride) {
	int last = c->kind == GOMPI_SCAN ? s->me : s->me - 1;
	for (int i = last; i >= 0 && c->bytes > 0; i--) {
		const struct hierarchy_row *row = row_of(s, rows, stride, i);
		int rc = 0;
		if (i == last)
			gompi_copy_in(c->out, row->data, c->bytes);
		else
			rc = gompi_combine(&c->reduction, row->data, c->out, c->bytes);
		if (rc)
			return rc;
	}
	return 0;
}

// Takes what is this member's of the rows of all.
static int read_rows(const struct gompi_hierarchy *s, struct gompi_slots_call *c, const char *rows, uint64_t stride,
		     uint64_t plan) {
	if (c->kind == GOMPI_SCAN || c->kind == GOMPI_EXSCAN)
		return fold_rows(s, c, rows, stride);
	for (int i = 0; i < s->n; i++) {
		const struct hierarchy_row *row = row_of(s, rows, stride, i);
		uint64_t bytes = row_bytes(c, i), from = c->kind == GOMPI_ALLTOALL ? (uint64_t)s->me * bytes : 0;
		struct hierarchy_said theirs = {gompi_what(c->kind, c->root, row->bytes), plan};
		if (row->bytes == bytes)
			gompi_copy_in(gompi_block(&c->outs, i), row->data + from, bytes);
		else if (!gompi_slots_differ(c))
			hierarchy_differs(c, &theirs, i, gompi_what(c->kind, c->root, bytes), plan);
	}
	return gompi_slots_result(c);
}

// A leader's part: rows are set to those of all. few is room for them, in the order of ranks, where a node has several.
static int meet_for_rows(struct gompi_hierarchy *s, struct gompi_slots_call *c, uint64_t w, uint64_t plan,
			 uint64_t stride, const char **rows, char few[GOMPI_SLOT_SMALL],
			 const struct gompi_waiting *what) {
	struct gompi_slots *t = s->slots;
	uint64_t node_bytes = (uint64_t)s->most_here * stride;
	char *own = s->all + (uint64_t)s->node * node_bytes;
	if (stride > 0) {
		uint64_t used = write_row(s, c, (struct hierarchy_row *)own);
		memset(own + used, 0, node_bytes - used);
	}
	if (t != NULL) {
		enum gompi_slot_place p = gompi_place_of(stride);
		int rc = gompi_slots_begin(t, p);
		if (rc)
			return rc;
		gompi_slots_publish(t, w, plan);
		rc = gompi_slots_await_all(t, c, w, plan);
		if (rc)
			return rc;
		for (int i = 1; i < t->n && !gompi_slots_differ(c); i++)
			gompi_copy_few(own + (uint64_t)i * stride, gompi_slot_data(t, i, t->seq, p), stride);
		gompi_slots_finish(t);
	}
	int rc = hierarchy_gather(s, c, w, plan, node_bytes, what);
	*rows = s->all;
	if (rc || stride == 0 || s->most_here == 1)
		return rc;
	*rows = few;
	uint8_t next[GOMPI_SLOT_SMALL / sizeof(struct hierarchy_row)] = {0}; // of each node: every member has a row
	for (int i = 0; i < s->n; i++) {
		int node = s->node_of[i];
		gompi_copy_few(few + (uint64_t)i * stride, s->all + (uint64_t)node * node_bytes + next[node] * stride,
			       stride);
		next[node]++;
	}
	return 0;
}

static int hierarchy_rows(struct gompi_hierarchy *s, struct gompi_slots_call *c, const struct gompi_waiting *what) {
	struct gompi_slots *t = s->slots;
	bool folds = c->kind == GOMPI_SCAN || c->kind == GOMPI_EXSCAN;
	uint64_t longest = longest_row(s, c);
	uint64_t w = gompi_what(c->kind, c->root, 0), plan = gompi_plan(longest, folds ? c->reduction.size : 1);
	uint64_t stride = (sizeof(struct hierarchy_row) + longest + 7) / 8 * 8;
	bool little = longest <= GOMPI_LEADERS_MOST && rows_are_few(s, stride);
	bool gets = little && (c->kind != GOMPI_GATHER || s->me == c->root);
	if (!little)
		stride = 0; // the members only agree
	_Alignas(GOMPI_LINE) char here[GOMPI_SLOT_SMALL];
	const char *rows = here;
	uint64_t all = (uint64_t)s->n * stride;
	enum gompi_slot_place p = gompi_place_of(all), mine = gompi_place_of(stride);
	int rc;
	if (s->leaders != NULL) {
		rc = meet_for_rows(s, c, w, plan, stride, &rows, here, what);
		if (rc)
			return t != NULL ? tell_outcome(t, c, s->me, rc) : rc;
		if (t != NULL) {
			rc = gompi_slots_begin(t, p);
			if (rc)
				return rc;
			gompi_copy_few(gompi_slot_data(t, 0, t->seq, p), rows, all);
			gompi_slots_publish(t, w, plan);
			gompi_slots_finish(t);
		}
	} else {
		rc = gompi_slots_begin(t, mine);
		if (rc)
			return rc;
		if (stride > 0)
			write_row(s, c, (struct hierarchy_row *)gompi_slot_data(t, t->me, t->seq, mine));
		gompi_slots_publish(t, w, plan);
		gompi_slots_finish(t);
		t->seq++;
		if (little && !gets) { // others may wait for the rows
			gompi_slots_finish(t);
			return GOMPI_SLOTS_DONE;
		}
		rc = gompi_slots_await(t, 0);
		if (rc)
			return rc;
		rc = hear_outcome(t, c, gompi_slot_head(t, 0, t->seq), w, plan);
		rows = gompi_slot_data(t, 0, t->seq, p);
	}
	if (rc == 0 && gets)
		rc = read_rows(s, c, rows, stride, plan);
	if (s->leaders == NULL)
		gompi_slots_finish(t);
	return rc ? rc : little ? GOMPI_SLOTS_DONE : GOMPI_SLOTS_MESSAGES;
}

// The place of a rank among the members of this node.
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

// Publishes what root has said, and its data, to the members of this node.
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

static int hierarchy_bcast(struct gompi_hierarchy *s, struct gompi_slots_call *c, const struct gompi_waiting *what) {
	struct gompi_slots *t = s->slots;
	const uint64_t most = most_bytes(s);
	uint64_t w = gompi_what(GOMPI_BCAST, c->root, c->bytes), plan = gompi_plan(c->bytes, 1);
	struct gompi_leaders_words words = {w, plan, s->me};
	const void *data = c->out;
	uint32_t bytes = c->bytes <= most ? (uint32_t)c->bytes : 0;
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
		struct gompi_slot_head *h = gompi_slot_head(t, from, t->seq);
		rc = hear_outcome(t, c, h, w, plan);
		uint64_t size = gompi_load(&h->plan) >> 16;
		words = (struct gompi_leaders_words){gompi_load(&h->what), gompi_load(&h->plan), c->root};
		bytes = rc == 0 && size <= most ? (uint32_t)size : 0;
		data = gompi_slot_data(t, from, t->seq, gompi_place_of(bytes));
	}
	if (rc == 0 && s->leaders != NULL) {
		rc = gompi_leaders_bcast(s->leaders, s->node_of[c->root], &words, &data, &bytes, what);
		uint64_t told = words.plan >> 16;
		if (rc == 0 && (bytes != (told <= most ? told : 0) || words.what >> 56 >= HIERARCHY_FAILED))
			rc = MPI_ERR_INTERN; // nobody sends that
		if (!from_here && t != NULL)
			rc = rc ? tell_outcome(t, c, s->me, rc) : pass_on(t, &words, data, bytes);
	}
	// Now everybody has what root has.
	uint64_t size = words.plan >> 16;
	bool same = words.what == w && words.plan == plan;
	if (rc == 0 && same && !root && size <= most)
		gompi_copy_in(c->out, data, bytes == size ? bytes : 0);
	if (hears)
		gompi_slots_finish(t);
	if (rc)
		return rc;
	if (!same)
		rc = hierarchy_differs(c, &(struct hierarchy_said){words.what, words.plan}, c->root, w, plan);
	if (words.what >> 32 != w >> 32 || size <= most)
		return rc;
	c->bytes = size;
	return GOMPI_SLOTS_MESSAGES;
}

int gompi_hierarchy_run(struct gompi_hierarchy *s, struct gompi_slots_call *c) {
	c->differ.rank = -1;
	const char *name = c->name != NULL ? c->name : ""; // of the library's own
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
