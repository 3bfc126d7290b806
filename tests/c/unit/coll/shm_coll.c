/* Proves: the shared-memory collectives (coll/shm_coll.h) give each member the result that MPI defines, for random
 * sequences of calls of all kinds, roots and lengths. Covers late and sleeping members, fewer cores than members, and
 * missing memory for large buffers. The other members can read the memory of all members, of no member, or of all but
 * one. Reductions combine the members in rank order. A call does not wait for members that have already returned from
 * it. Members with mismatched calls get an error, and later calls work. The failure of a member ends the waits of the
 * other members. */
#include "../unit.h"

#include "coll/shm_coll.h"
#include "compose.h"

enum { MAX_RANKS = 8, LONGEST = 70000 };

static int n;
static struct gompi_shm_coll *view[MAX_RANKS];
static char *large_memory; /* memory for large buffers; NULL if there is none */

static void *grow_test_shm(uintptr_t owner, uint64_t bytes) {
	(void)owner;
	CHECK(bytes == (uint64_t)n * sizeof(struct gompi_shm_large), "the request is for %llu bytes",
	      (unsigned long long)bytes);
	return large_memory;
}

static void fill_input(char *b, int call, int member, uint64_t bytes) {
	for (uint64_t i = 0; i < bytes; i++)
		b[i] = (char)input(call, member, i);
}

static int is_input(const char *b, int call, int member, uint64_t bytes) {
	for (uint64_t i = 0; i < bytes; i++)
		if ((unsigned char)b[i] != input(call, member, i))
			return 0;
	return 1;
}

/* Returns true if `b` holds `bytes` bytes of the reduction over ranks 0 to upto - 1. `from` is the number of the first
 * of these bytes. */
static int is_reduction(const char *b, int call, int upto, uint64_t from, uint64_t bytes) {
	for (uint64_t i = from; i < from + bytes; i += 2) {
		unsigned char acc[2] = {input(call, upto - 1, i), input(call, upto - 1, i + 1)};
		for (int r = upto - 2; r >= 0; r--) {
			unsigned char left[2] = {input(call, r, i), input(call, r, i + 1)};
			compose(left, acc, 1);
		}
		if (memcmp(b + i - from, acc, 2) != 0)
			return 0;
	}
	return 1;
}

static unsigned draw(unsigned *state, unsigned below) {
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8) % below;
}

struct scene {
	int kind, call, root;
	uint64_t bytes;
	bool in_place;
};

/* Returns the length of the block that members i and j exchange. Only these two members pass this length. */
static uint64_t between(const struct scene *s, int i, int j) { return s->bytes * (uint64_t)((i + j) % 3) / 2; }

/* Fills in the blocks that a member exchanges with all members or, if `all` is false, with the root only. The blocks
 * lie in the memory `base`. Returns the number of blocks. */
static int blocks_of(struct gompi_pair_block b[], const struct scene *s, int me, bool all, char *base) {
	int k = 0;
	for (int i = 0; i < n; i++)
		if (all || i == s->root)
			b[k++] = (struct gompi_pair_block){
				i,
				{.at = base + (all ? (uint64_t)i * s->bytes : 0), .size = (int64_t)between(s, me, i)}};
	return k;
}

static bool are_inputs(const struct gompi_pair_block b[], int count, const struct scene *s, int me) {
	bool right = true;
	for (int i = 0; i < count; i++)
		right = right && (b[i].member < 0 ||
				  is_input(b[i].buf.at, s->call * 10 + b[i].member, me, (uint64_t)b[i].buf.size));
	return right;
}

/* Makes the calls that pass a length for each pair of members: MPI_Gatherv, MPI_Scatterv, MPI_Alltoallv. */
static void run_pairwise_call(int me, const struct scene *s, char *in, char *out) {
	struct gompi_pair_block to[MAX_RANKS], from[MAX_RANKS];
	struct gompi_coll_call c = {.kind = s->kind, .root = s->root, .name = "test", .to = to, .from = from};
	bool root = me == s->root, all = s->kind == GOMPI_ALLTOALLV;
	if (all || root || s->kind == GOMPI_GATHERV)
		c.send_count = blocks_of(to, s, me, s->kind != GOMPI_GATHERV, in);
	if (all || root || s->kind == GOMPI_SCATTERV)
		c.recv_count = blocks_of(from, s, me, s->kind != GOMPI_SCATTERV, out);
	if (s->in_place && all)
		c.in_place = true, from[me].member = -1, memcpy(to, from, sizeof to);
	else if (s->in_place && root && s->kind == GOMPI_GATHERV)
		c.send_count = 0, from[me].member = -1;
	else if (s->in_place && root)
		c.recv_count = 0, to[me].member = -1;
	for (int i = 0; i < c.send_count; i++)
		if (to[i].member >= 0)
			fill_input(to[i].buf.at, s->call * 10 + me, to[i].member, (uint64_t)to[i].buf.size);
	int rc = gompi_shm_run(view[me], &c);
	CHECK(rc == GOMPI_COLL_DONE, "call %d, kind %d: %d", s->call, s->kind, rc);
	CHECK(are_inputs(from, c.recv_count, s, me), "call %d, kind %d, root %d, %llu bytes%s, %d members: wrong at %d",
	      s->call, s->kind, s->root, (unsigned long long)s->bytes, s->in_place ? " in place" : "", n, me);
}

static void one(int me, const struct scene *s) {
	static char inputs[MAX_RANKS][MAX_RANKS * LONGEST], outputs[MAX_RANKS][MAX_RANKS * LONGEST];
	struct gompi_coll_call c = {.kind = s->kind, .root = s->root, .name = "test", .bytes = s->bytes};
	char *in = inputs[me], *out = outputs[me];
	uint64_t sizes[MAX_RANKS], bytes = s->bytes, from = 0;
	bool root = me == s->root;
	if (s->kind == GOMPI_GATHERV || s->kind == GOMPI_SCATTERV || s->kind == GOMPI_ALLTOALLV) {
		run_pairwise_call(me, s, in, out);
		return;
	}
	int rc, upto = s->kind == GOMPI_SCAN ? me + 1 : s->kind == GOMPI_EXSCAN ? me : n;
	c.reduction = (struct gompi_reduction){.size = 2, .kernel = compose};
	fill_input(in, s->call, me, bytes);
	c.in = in, c.out = s->in_place ? in : out;
	switch (s->kind) {
	case GOMPI_BCAST:
		c.out = in;
		break;
	case GOMPI_GATHER:
	case GOMPI_ALLGATHER:
		c.outs = (struct gompi_blocks){out, bytes, NULL};
		if (s->kind == GOMPI_ALLGATHER && s->call % 2) {
			for (int i = 0; i < n; i++)
				sizes[i] = bytes * (uint64_t)(i % 3) / 2;
			c.bytes = sizes[me], c.sizes = sizes;
		}
		if (s->in_place) {
			c.in = out + (uint64_t)me * bytes;
			fill_input(out + (uint64_t)me * bytes, s->call, me, bytes);
		}
		break;
	case GOMPI_SCATTER:
	case GOMPI_ALLTOALL:
		for (int i = 0; i < n; i++)
			fill_input(in + (uint64_t)i * bytes, s->call * 10 + me, i, bytes);
		c.ins = (struct gompi_blocks){in, bytes, NULL};
		c.outs = (struct gompi_blocks){s->in_place ? in : out, bytes, NULL};
		c.out = s->in_place && root ? in + (uint64_t)me * bytes : out;
		break;
	case GOMPI_REDUCE_SCATTER:
		c.bytes = 0, c.out = out;
		for (int i = 0; i < n; i++) {
			sizes[i] = bytes / (uint64_t)n / 2 * 2 / (i % 2 ? 1 : 2) / 2 * 2;
			from += i < me ? sizes[i] : 0;
			c.bytes += sizes[i];
		}
		c.sizes = sizes;
	}
	rc = gompi_shm_run(view[me], &c);
	CHECK(rc == GOMPI_COLL_DONE, "call %d, kind %d: %d", s->call, s->kind, rc);
	bool right = true;
	switch (s->kind) {
	case GOMPI_BCAST:
		right = is_input(in, s->call, s->root, bytes);
		break;
	case GOMPI_REDUCE:
		right = !root || is_reduction(c.out, s->call, n, 0, bytes);
		break;
	case GOMPI_ALLREDUCE:
	case GOMPI_SCAN:
	case GOMPI_EXSCAN:
		right = upto == 0 || is_reduction(c.out, s->call, upto, 0, bytes);
		break;
	case GOMPI_REDUCE_SCATTER:
		right = is_reduction(out, s->call, n, from, sizes[me]);
		break;
	case GOMPI_GATHER:
	case GOMPI_ALLGATHER:
		for (int i = 0; i < n && (root || s->kind == GOMPI_ALLGATHER); i++)
			right = right && is_input(out + (uint64_t)i * bytes, s->call, i, c.sizes ? sizes[i] : bytes);
		break;
	case GOMPI_SCATTER:
		right = is_input(c.out, s->call * 10 + s->root, me, bytes);
		break;
	case GOMPI_ALLTOALL:
		for (int i = 0; i < n; i++)
			right = right && is_input(c.outs.base + (uint64_t)i * bytes, s->call * 10 + i, me, bytes);
	}
	CHECK(right, "call %d, kind %d, root %d, %llu bytes%s, %d members: wrong at %d", s->call, s->kind, s->root,
	      (unsigned long long)bytes, s->in_place ? " in place" : "", n, me);
}

static int calls;

static void run_random_calls(int me) {
	static const int kinds[] = {GOMPI_BARRIER,        GOMPI_BCAST,     GOMPI_REDUCE,   GOMPI_ALLREDUCE,
				    GOMPI_GATHER,         GOMPI_SCATTER,   GOMPI_SCAN,     GOMPI_EXSCAN,
				    GOMPI_REDUCE_SCATTER, GOMPI_ALLGATHER, GOMPI_ALLTOALL, GOMPI_GATHERV,
				    GOMPI_SCATTERV,       GOMPI_ALLTOALLV};
	static const uint64_t lengths[] = {0, 2, 8, 40, 42, 400, 2048, 2050, 6000, 8192, 8194, 16384, LONGEST};
	unsigned common = (unsigned)n, late = (unsigned)me;
	for (int k = 0; k < calls; k++) {
		struct scene s = {.call = k};
		s.kind = kinds[draw(&common, sizeof kinds / sizeof *kinds)];
		s.root = (int)draw(&common, (unsigned)n);
		s.bytes = lengths[draw(&common, sizeof lengths / sizeof *lengths)];
		s.in_place = draw(&common, 2);
		/* Sometimes repeats the call without delays, so that some members run ahead as far as the buffers have
		 * space. */
		for (unsigned repeats = draw(&common, 3) == 0 && s.bytes <= 400 ? draw(&common, 50) : 0;; repeats--) {
			unit_late(draw(&late, 8) == 0 ? draw(&late, 150) : 0);
			one(me, &s);
			if (repeats == 0)
				break;
			s.call += calls;
		}
	}
}

/* Opens the shared-memory collectives of all members again. The other members can read the memory of the first `reads`
 * members. If `large` is true, there is memory for large buffers. */
static void open_views(bool large, int reads) {
	int32_t peers[MAX_RANKS];
	for (int i = 0; i < n; i++)
		peers[i] = i < reads ? 0 : 1; /* a process that does not exist */
	gompi_node.has_cma = reads > 0;
	char *memory = unit_memory((size_t)n * sizeof(struct gompi_shm_member));
	large_memory = large ? unit_memory((size_t)n * sizeof(struct gompi_shm_large)) : NULL;
	for (int i = 0; i < n; i++) {
		if (view[i] != NULL)
			gompi_shm_coll_close(view[i]);
		view[i] = NULL;
	}
	for (int i = 0; i < n; i++)
		view[i] = gompi_shm_coll_open(memory, n, i, peers, 1);
}

/* Each member makes repeated_calls calls. A member that does not have to wait in these calls does not yet acknowledge
 * what it has read. Then each member makes the call `last`, which may need the buffer space of unacknowledged data. No
 * member may wait for a member that has returned from `last`, because that member acknowledges nothing any more. */
static int repeated_calls;
static struct scene last;

static void calls_then_stop(int me) {
	static const int kinds[] = {GOMPI_GATHER, GOMPI_REDUCE, GOMPI_GATHERV};
	for (int k = 0; k < repeated_calls; k++)
		one(me, &(struct scene){.kind = kinds[repeated_calls % 3], .call = k, .bytes = 8});
	one(me, &last);
}

static void test_no_wait_after_return(void) {
	static const int kinds[] = {GOMPI_BARRIER, GOMPI_BCAST,   GOMPI_REDUCE,   GOMPI_GATHER,   GOMPI_SCATTER,
				    GOMPI_SCAN,    GOMPI_GATHERV, GOMPI_SCATTERV, GOMPI_ALLTOALLV};
	static const uint64_t lengths[] = {8, 400, 6000, 16384};
	for (repeated_calls = 0; repeated_calls < 20; repeated_calls += 1 + repeated_calls / 2)
		for (size_t i = 0; i < 2 * sizeof kinds / sizeof *kinds; i++)
			for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
				open_views(true, n);
				last = (struct scene){kinds[i / 2], repeated_calls, i % 2 ? n - 1 : 0, lengths[k],
						      false};
				unit_threads(n, calls_then_stop);
			}
}

/* The last member makes the call odd_kind, odd_root, odd_bytes; the other members make the call `first`. Then all
 * members make a matching call. expect[i] is the error of member i. */
static int odd_kind, odd_root, expect[MAX_RANKS];
static uint64_t odd_bytes;
static struct scene first;

static void mismatched_calls(int me) {
	static char in[MAX_RANKS][LONGEST], out[MAX_RANKS][MAX_RANKS * LONGEST];
	bool other = me == n - 1;
	struct gompi_coll_call c = {.kind = other ? odd_kind : first.kind,
				    .root = other ? odd_root : first.root,
				    .name = "test",
				    .bytes = other ? odd_bytes : first.bytes,
				    .in = in[me],
				    .out = out[me],
				    .outs = {out[me], LONGEST, NULL},
				    .reduction = {.size = 2, .kernel = compose}};
	int rc = gompi_shm_run(view[me], &c);
	CHECK(rc == expect[me], "kinds %d and %d: %d returned %d", first.kind, odd_kind, me, rc);
	CHECK(rc != GOMPI_COLL_MISMATCH || c.mismatch.peer_signature != c.mismatch.local_signature ||
		      c.mismatch.peer_format != c.mismatch.local_format,
	      "the same at %d and %d", me, c.mismatch.rank);
	one(me, &(struct scene){.kind = GOMPI_ALLREDUCE, .call = 3, .bytes = 100});
}

int main(void) {
	static const int sizes[] = {2, 3, 5, 8};
	unit_node(1);
	gompi_go_callbacks.grow_shm = grow_test_shm;
	unit_sleep_forever = true;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		n = sizes[i];
		for (int how = 0; how < 5; how++) {
			gompi_node.policy.is_oversubscribed = how == 1;
			gompi_node.policy.quiet_polls = how == 1 ? 0 : 200;
			unit_hurry = how == 2; /* every waiting member sleeps at once */
			calls = UNIT_REPEATS(360) / n;
			open_views(how != 3, how == 0 ? n : how == 4 ? n - 1 : 0);
			unit_threads(n, run_random_calls);
		}
	}
	CHECK(gompi_load(&unit_sleeps) > 0, "nobody slept");
	n = 3, unit_hurry = true;
	gompi_node.policy.is_oversubscribed = false, gompi_node.policy.quiet_polls = 200;
	test_no_wait_after_return(); /* with unit_hurry: every waiting member sleeps at once */
	unit_hurry = false;
	test_no_wait_after_return();
	const struct {
		int kind, other;
		int root, odd_root;
		uint64_t bytes, odd_bytes;
		int expect[3];
	} wrong[] = {
		/* all members detect the mismatch */
		{GOMPI_ALLREDUCE, GOMPI_ALLREDUCE, 0, 0, 8, 10, {-1, -1, -1}},
		{GOMPI_ALLREDUCE, GOMPI_ALLREDUCE, 0, 0, 8, LONGEST, {-1, -1, -1}},
		{GOMPI_ALLREDUCE, GOMPI_ALLREDUCE, 0, 0, LONGEST, 6000, {-1, -1, -1}},
		{GOMPI_ALLREDUCE, GOMPI_BARRIER, 0, 0, 8, 0, {-1, -1, -1}},
		{GOMPI_GATHER, GOMPI_GATHER, 0, 1, LONGEST, LONGEST, {-1, -1, -1}},
		/* the root detects the mismatch */
		{GOMPI_GATHER, GOMPI_GATHER, 0, 0, 8, 10, {-1, 0, 0}},
		{GOMPI_REDUCE, GOMPI_REDUCE, 1, 1, 8, 10, {0, -1, 0}},
		/* all members use the length of the root */
		{GOMPI_BCAST, GOMPI_BCAST, 0, 0, 8, 10, {0, 0, -1}},
		{GOMPI_BCAST, GOMPI_BCAST, 0, 0, LONGEST, 10, {0, 0, -1}},
		{GOMPI_BCAST, GOMPI_BCAST, 0, 0, 10, LONGEST, {0, 0, -1}},
	};
	for (size_t i = 0; i < 2 * sizeof wrong / sizeof *wrong; i++) {
		open_views(true, i % 2 ? n : 0);
		first = (struct scene){
			.kind = wrong[i / 2].kind, .root = wrong[i / 2].root, .bytes = wrong[i / 2].bytes};
		odd_kind = wrong[i / 2].other, odd_root = wrong[i / 2].odd_root, odd_bytes = wrong[i / 2].odd_bytes;
		memcpy(expect, wrong[i / 2].expect, sizeof wrong[i / 2].expect);
		unit_threads(n, mismatched_calls);
	}

	gompi_store(&gompi_node_header()->failed_count, 1);
	open_views(true, n);
	char b[8] = {0};
	struct gompi_coll_call c = {.kind = GOMPI_BCAST, .root = 1, .name = "test", .bytes = 8, .out = b};
	CHECK(gompi_shm_run(view[0], &c) == MPI_ERR_PROC_ABORTED, "a bcast without its root");
	return unit_end();
}
