#include "coll/slots.h"

#include <stdlib.h>

#include "base/call.h"
#include "base/table.h"
#include "base/tuning.h"
#include "base/verdict.h"
#include "coll/protocol.h"

static struct gompi_spares spare_views = {sizeof(struct gompi_slots), offsetof(struct gompi_slots, next), NULL};

struct gompi_slots *gompi_slots_open(void *memory, int n, int me, const int32_t *peers, uintptr_t owner) {
	int32_t *list = malloc((size_t)n * sizeof *list);
	if (list == NULL)
		return NULL;
	memcpy(list, peers, (size_t)n * sizeof *list);
	struct gompi_slots *t = gompi_spares_take(&spare_views);
	if (t == NULL) {
		free(list);
		return NULL;
	}
	free(t->peers); // of the communicator that had the view before
	*t = (struct gompi_slots){.member = memory, .n = n, .me = me, .peers = list, .owner = owner};
	return t;
}

static int tell_by(struct gompi_slots *t, struct gompi_slots_call *c, struct gompi_slots_differ *differ) {
	c->name = gompi_call;
	int rc = gompi_slots_run(t, c);
	if (rc == GOMPI_SLOTS_DIFFER)
		*differ = c->differ;
	return rc;
}

int gompi_slots_tell(struct gompi_slots *t, int root, void *b, uint64_t bytes, struct gompi_slots_differ *differ) {
	struct gompi_slots_call c = {.kind = GOMPI_BCAST, .root = root, .bytes = bytes, .out = b};
	return tell_by(t, &c, differ);
}

int gompi_slots_tell_all(struct gompi_slots *t, const void *mine, void *all, uint64_t bytes,
			 struct gompi_slots_differ *differ) {
	struct gompi_slots_call c = {.kind = GOMPI_ALLGATHER, .bytes = bytes, .in = mine};
	c.outs = (struct gompi_blocks){.base = all, .stride = bytes};
	return tell_by(t, &c, differ);
}

void gompi_slots_clean(struct gompi_slots *t) {
	// What is zero stays where it is: in the caches of others too, if nobody has used it.
	for (int i = 0; i < t->n; i++) {
		struct gompi_slots_member *m = &t->member[i];
		if (gompi_load(&m->finished) != 0)
			gompi_store(&m->finished, 0);
		for (int k = 0; k < GOMPI_SLOT_HEADS; k++)
			if (gompi_load(&m->head[k].number) != 0)
				gompi_store(&m->head[k].number, 0);
	}
}

void gompi_slots_close(struct gompi_slots *t) { gompi_spares_give(&spare_views, t); }

const char *gompi_slots_text(int class) {
	if (class == MPI_ERR_PROC_ABORTED)
		return gompi_lost_text();
	return "a slot holds an operation that was not expected there";
}

struct word_wait {
	gompi_a64 *word;
	uint64_t least;
};

static bool word_there(void *arg) {
	struct word_wait *w = arg;
	return gompi_load_acquire(w->word) >= w->least; // acquire: pairs with publish and finish
}

// None if there are fewer cores than processes.
static bool look_often(struct word_wait *w, int n) {
	for (int k = gompi_node.policy.crowded ? n : 0; k < n; k++)
		if (word_there(w))
			return true;
	return false;
}

// Waits until *word, which member i changes, is at least least.
static int wait_word(struct gompi_slots *t, gompi_a64 *word, uint64_t least, int i) {
	struct word_wait w = {word, least};
	if (look_often(&w, GOMPI_SLOT_LOOKS_AT_ONCE))
		return 0;
	gompi_wake(&t->member[t->me].wait); // for what this member has published
	if (look_often(&w, GOMPI_SLOT_LOOKS))
		return 0;
	struct gompi_waiting what = {.call = t->call, .peer = t->peers[i], .object = t->object, .all = true};
	return gompi_await(&t->member[i].wait, word_there, &w, &what);
}

int gompi_slots_until(struct gompi_slots *t, bool (*done)(void *), void *arg) {
	for (int k = gompi_node.policy.crowded ? GOMPI_SLOT_LOOKS : 0; k < GOMPI_SLOT_LOOKS; k++)
		if (done(arg))
			return 0;
	struct gompi_waiting what = {.call = t->call, .peer = -1, .object = t->object};
	return gompi_await(&t->member[t->me].wait, done, arg, &what);
}

int gompi_slots_room(struct gompi_slots *t, uint64_t depth) {
	uint64_t least = t->seq - depth, low = t->seq - 1;
	for (int i = 0; i < t->n; i++) {
		if (i == t->me)
			continue;
		gompi_a64 *finished = &t->member[i].finished;
		uint64_t now = gompi_load_acquire(finished); // pairs with gompi_slots_finish
		if (now < least) {
			int rc = wait_word(t, finished, least, i);
			if (rc)
				return rc;
			now = gompi_load_acquire(finished);
		}
		low = gompi_least(low, now);
	}
	t->settled = low;
	return 0;
}

int gompi_slots_await_long(struct gompi_slots *t, int i) {
	gompi_a64 *number = &gompi_slot_head(t, i, t->seq)->number;
	int rc = wait_word(t, number, t->seq, i);
	if (rc)
		return rc;
	return gompi_load(number) == t->seq ? 0 : MPI_ERR_INTERN;
}

__attribute__((cold)) void gompi_slots_note(struct gompi_slots *t, struct gompi_slots_call *c, int i, uint64_t w,
					    uint64_t plan) {
	if (gompi_slots_differ(c))
		return;
	struct gompi_slot_head *h = gompi_slot_head(t, i, t->seq);
	c->differ = (struct gompi_slots_differ){i, gompi_load(&h->what), gompi_load(&h->plan), w, plan};
}

int gompi_slots_agree(struct gompi_slots *t, struct gompi_slots_call *c, uint64_t w, uint64_t plan) {
	int rc = gompi_slots_begin(t, GOMPI_IN_HEAD);
	if (rc)
		return rc;
	gompi_slots_publish(t, w, plan);
	rc = gompi_slots_await_all(t, c, w, plan);
	if (rc)
		return rc;
	gompi_slots_finish(t);
	return gompi_slots_result(c);
}

int gompi_slots_follow(struct gompi_slots *t, struct gompi_slots_call *c, uint64_t *bytes) {
	uint64_t w = gompi_what(c->kind, c->root, c->bytes), plan = gompi_plan(c->bytes, 1);
	t->seq++;
	int rc = gompi_slots_await(t, c->root);
	if (rc)
		return rc;
	struct gompi_slot_head *h = gompi_slot_head(t, c->root, t->seq);
	uint64_t theirs = gompi_load(&h->what), their_plan = gompi_load(&h->plan);
	*bytes = their_plan >> 16;
	if (__builtin_expect(their_plan == plan && theirs == w, 1))
		return 0;
	gompi_slots_note(t, c, c->root, w, plan);
	if (theirs >> 32 == w >> 32)
		return 0;
	gompi_slots_finish(t);
	return GOMPI_SLOTS_DIFFER;
}

enum gompi_place gompi_slots_large(struct gompi_slots *t) {
	if (t->more == NULL && !t->no_more) {
		t->more = gompi_up.more_slots(t->owner, (uint64_t)t->n * sizeof *t->more);
		t->no_more = t->more == NULL;
	}
	return t->more != NULL ? GOMPI_IN_LARGE : GOMPI_IN_SMALL;
}

int gompi_slots_run(struct gompi_slots *t, struct gompi_slots_call *c) {
	c->differ.rank = -1;
	t->call = c->name != NULL ? c->name : ""; // of the library's own
	switch (c->kind) {
	case GOMPI_BCAST:
		return gompi_slots_bcast(t, c);
	case GOMPI_REDUCE:
	case GOMPI_ALLREDUCE:
	case GOMPI_SCAN:
	case GOMPI_EXSCAN:
		return gompi_slots_reduce(t, c);
	case GOMPI_GATHER:
		return gompi_slots_gather(t, c);
	case GOMPI_SCATTER:
		return gompi_slots_scatter(t, c);
	case GOMPI_ALLGATHER:
		return gompi_slots_allgather(t, c);
	case GOMPI_ALLTOALL:
		return gompi_slots_alltoall(t, c);
	case GOMPI_REDUCE_SCATTER:
		return gompi_slots_reduce_scatter(t, c);
	case GOMPI_GATHERV:
	case GOMPI_SCATTERV:
	case GOMPI_ALLTOALLV:
	case GOMPI_ALLTOALLW:
	case GOMPI_NEIGHBOR_ALLGATHER:
	case GOMPI_NEIGHBOR_ALLGATHERV:
	case GOMPI_NEIGHBOR_ALLTOALL:
	case GOMPI_NEIGHBOR_ALLTOALLV:
	case GOMPI_NEIGHBOR_ALLTOALLW:
		return gompi_slots_pairs(t, c);
	}
	return gompi_slots_agree(t, c, gompi_what(GOMPI_BARRIER, 0, 0), gompi_plan(0, 1));
}
