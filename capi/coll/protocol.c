#include "coll/protocol.h"

#include "base/tuning.h"
#include "base/up.h"
#include "base/wait.h"

struct word_wait {
	gompi_a64 *word;
	uint64_t least;
};

static bool word_there(void *arg) {
	struct word_wait *w = arg;
	// pairs with the releases in gompi_slots_publish and gompi_slots_finish
	return gompi_load_acquire(w->word) >= w->least;
}

// Polls n times. Does not poll if there are fewer cores than processes.
static bool look_often(struct word_wait *w, int n) {
	for (int k = gompi_node.policy.oversubscribed ? n : 0; k < n; k++)
		if (word_there(w))
			return true;
	return false;
}

// Publishes, if the others do not know it, that this member has finished all operations before the current one. Wakes
// members that wait for that or for this member's slot.
static void tell_all(struct gompi_slots *t) {
	struct gompi_slots_member *me = &t->member[t->me];
	if (gompi_load(&me->finished) < t->seq - 1)
		gompi_store_release(&me->finished, t->seq - 1); // pairs with the acquire in gompi_slots_room
	gompi_wake(&me->wait);
}

// Waits until *word >= least. Member i updates the word.
static int wait_word(struct gompi_slots *t, gompi_a64 *word, uint64_t least, int i) {
	struct word_wait w = {word, least};
	if (look_often(&w, GOMPI_SLOT_LOOKS_AT_ONCE))
		return 0;
	tell_all(t);
	if (look_often(&w, GOMPI_SLOT_LOOKS))
		return 0;
	struct gompi_waiting what = {.call = t->call, .peer = t->peers[i], .object = t->object, .all = true};
	return gompi_await(&t->member[i].wait, word_there, &w, &what);
}

int gompi_slots_until(struct gompi_slots *t, bool (*done)(void *), void *arg) {
	tell_all(t);
	for (int k = gompi_node.policy.oversubscribed ? GOMPI_SLOT_LOOKS : 0; k < GOMPI_SLOT_LOOKS; k++)
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
		uint64_t now = gompi_load_acquire(finished); // pairs with the release in gompi_slots_finish
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
	int rc = gompi_slots_await_series(t, c->root);
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

enum gompi_slot_place gompi_slots_large(struct gompi_slots *t) {
	if (t->more == NULL && !t->no_more) {
		t->more = gompi_up.more_slots(t->owner, (uint64_t)t->n * sizeof *t->more);
		t->no_more = t->more == NULL;
	}
	return t->more != NULL ? GOMPI_IN_LARGE : GOMPI_IN_SMALL;
}
