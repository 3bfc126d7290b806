#include "coll/protocol.h"

#include "base/tuning.h"
#include "base/go_callbacks.h"
#include "base/wait.h"

struct word_wait {
	gompi_a64 *word;
	uint64_t min;
};

static bool word_reached(void *arg) {
	struct word_wait *w = arg;
	// pairs with the releases in gompi_shm_publish and gompi_shm_finish
	return gompi_load_acquire(w->word) >= w->min;
}

// Polls the word up to n times. Returns true if it has reached its minimum. Does not poll if there are fewer cores than
// processes, because polling would delay the process that changes the word.
static bool spin_on_word(struct word_wait *w, int n) {
	for (int k = gompi_node.policy.is_oversubscribed ? n : 0; k < n && !gompi_is_help_requested(); k++)
		if (word_reached(w))
			return true;
	return false;
}

// Publishes that this member has finished all operations before the current one, unless it has done so already. Wakes
// members that wait for this member's finished word or buffer.
static void publish_finished(struct gompi_shm_coll *t) {
	struct gompi_shm_member *me = &t->member[t->me];
	if (gompi_load(&me->finished) < t->seq - 1)
		gompi_store_release(&me->finished, t->seq - 1); // pairs with the acquire in gompi_shm_await_free
	gompi_wake(&me->wait);
}

static struct gompi_wait_desc describe_wait(const struct gompi_shm_coll *t, int32_t peer) {
	return (struct gompi_wait_desc){
		.call = t->call_name, .peer = peer, .object = t->object, .members = t->peers, .member_count = t->n};
}

// Waits until *word >= min. Member i updates the word.
static int wait_word(struct gompi_shm_coll *t, gompi_a64 *word, uint64_t min, int i) {
	struct word_wait w = {word, min};
	if (spin_on_word(&w, GOMPI_SHM_POLLS_BEFORE_WAKE))
		return 0;
	publish_finished(t);
	if (spin_on_word(&w, GOMPI_SHM_POLLS))
		return 0;
	struct gompi_wait_desc waiting = describe_wait(t, t->peers[i]);
	waiting.depends_on_all = true;
	return gompi_await(&t->member[i].wait, word_reached, &w, &waiting);
}

int gompi_shm_wait_until(struct gompi_shm_coll *t, bool (*done)(void *), void *arg) {
	publish_finished(t);
	for (int k = gompi_node.policy.is_oversubscribed ? GOMPI_SHM_POLLS : 0;
	     k < GOMPI_SHM_POLLS && !gompi_is_help_requested(); k++)
		if (done(arg))
			return 0;
	struct gompi_wait_desc waiting = describe_wait(t, -1);
	return gompi_await(&t->member[t->me].wait, done, arg, &waiting);
}

int gompi_shm_await_free(struct gompi_shm_coll *t, uint64_t depth) {
	uint64_t min_finished = t->seq - depth, lowest = t->seq - 1;
	for (int i = 0; i < t->n; i++) {
		if (i == t->me)
			continue;
		gompi_a64 *finished = &t->member[i].finished;
		uint64_t finished_seq = gompi_load_acquire(finished); // pairs with the release in gompi_shm_finish
		if (finished_seq < min_finished) {
			int rc = wait_word(t, finished, min_finished, i);
			if (rc)
				return rc;
			finished_seq = gompi_load_acquire(finished);
		}
		lowest = gompi_min_u64(lowest, finished_seq);
	}
	t->acked = lowest;
	return 0;
}

int gompi_shm_await_slow(struct gompi_shm_coll *t, int i) {
	gompi_a64 *number = &gompi_shm_header(t, i, t->seq)->number;
	int rc = wait_word(t, number, t->seq, i);
	if (rc)
		return rc;
	return gompi_load(number) == t->seq ? 0 : MPI_ERR_INTERN;
}

__attribute__((cold)) void gompi_shm_note_mismatch(struct gompi_shm_coll *t, struct gompi_coll_call *c, int i,
						   uint64_t w, uint64_t format) {
	if (gompi_coll_mismatch(c))
		return;
	struct gompi_shm_header *h = gompi_shm_header(t, i, t->seq);
	c->mismatch = (struct gompi_coll_mismatch){i, gompi_load(&h->signature), gompi_load(&h->format), w, format};
}

int gompi_shm_compare_calls(struct gompi_shm_coll *t, struct gompi_coll_call *c, uint64_t w, uint64_t format) {
	int rc = gompi_shm_begin(t, GOMPI_IN_HEADER);
	if (rc)
		return rc;
	gompi_shm_publish(t, w, format);
	rc = gompi_shm_await_all(t, c, w, format);
	if (rc)
		return rc;
	gompi_shm_finish(t);
	return gompi_shm_result(c);
}

int gompi_shm_read_root_header(struct gompi_shm_coll *t, struct gompi_coll_call *c, uint64_t *bytes) {
	uint64_t w = gompi_signature_word(c->kind, c->root, c->bytes), format = gompi_format_word(c->bytes, 1);
	t->seq++;
	int rc = gompi_shm_await_prefetch(t, c->root);
	if (rc)
		return rc;
	struct gompi_shm_header *h = gompi_shm_header(t, c->root, t->seq);
	uint64_t peer_signature = gompi_load(&h->signature), peer_format = gompi_load(&h->format);
	*bytes = peer_format >> 16;
	if (__builtin_expect(peer_format == format && peer_signature == w, 1))
		return 0;
	gompi_shm_note_mismatch(t, c, c->root, w, format);
	if (peer_signature >> 32 == w >> 32)
		return 0;
	gompi_shm_finish(t);
	return GOMPI_COLL_MISMATCH;
}

enum gompi_size_class gompi_shm_alloc_large(struct gompi_shm_coll *t) {
	if (t->large == NULL && !t->large_failed) {
		t->large = gompi_go_callbacks.grow_shm(t->owner, (uint64_t)t->n * sizeof *t->large);
		t->large_failed = t->large == NULL;
	}
	return t->large != NULL ? GOMPI_IN_LARGE : GOMPI_IN_SMALL;
}
