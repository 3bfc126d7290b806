// Answers from the members of streams, and the results of operations.
#include <stdlib.h>

#include "transport/ongoing.h"
#include "transport/stream_send.h"
#include "win/why.h"

static bool results_fit(void *arg) {
	struct stream_wait *n = arg;
	return gompi_load_acquire(&n->s->results_out) + n->number <= STREAM_RESULTS || gompi_stream_is_over(n->s);
}

int gompi_stream_take_room(struct gompi_stream *s, uint64_t cost, const char *call) {
	struct gompi_stream_result *none = NULL;
	if (__builtin_expect(gompi_load_acquire(&s->results) == NULL, 0)) {
		struct gompi_stream_result *mine = malloc(STREAM_RESULTS_MOST * sizeof *mine);
		if (mine == NULL)
			return MPI_ERR_NO_MEM;
		if (!gompi_change_once(&s->results, &none, mine))
			free(mine); // another thread has installed its array first
	}
	while (gompi_add_total(&s->results_out, cost) + cost > STREAM_RESULTS) {
		gompi_sub_total(&s->results_out, cost);
		int rc = gompi_stream_ask(s, gompi_load(&s->due_here));
		if (rc == MPI_SUCCESS)
			rc = gompi_stream_await(s, results_fit, cost, call);
		if (rc != MPI_SUCCESS)
			return rc;
	}
	return MPI_SUCCESS;
}

void gompi_stream_expect(struct gompi_stream *s, void *to, uint64_t bytes, struct gompi_ongoing *ongoing) {
	uint64_t end = gompi_load(&s->results_end);
	if (ongoing != NULL)
		gompi_ongoing_by_stream(ongoing, s);
	gompi_load(&s->results)[end % STREAM_RESULTS_MOST] =
		(struct gompi_stream_result){to, gompi_load(&s->sent) + 1, bytes, ongoing};
	gompi_store_release(&s->results_end, end + 1); // pairs with the acquire in give_result
}

// Returns true if a record up to number should have returned a result that has not arrived.
static bool lacks_result(struct gompi_stream *s, uint64_t number) {
	uint64_t first = gompi_load(&s->results_first);
	return first != gompi_load_acquire(&s->results_end) &&
	       gompi_load(&s->results)[first % STREAM_RESULTS_MOST].number <= number;
}

// Returns the error in an answer. The answer comes from another process: an unknown class becomes MPI_ERR_OTHER.
static struct gompi_reason answers_reason(const struct gompi_answer *m) {
	return (struct gompi_reason){
		.class = m->class <= MPI_ERR_LASTCODE ? m->class : MPI_ERR_OTHER, .why = m->why, .a = m->a, .b = m->b};
}

// Returns true if an answer is the result of an operation with a request; the request then reports its error.
static bool answers_request(struct gompi_stream *s, const struct gompi_answer *m) {
	uint64_t first = gompi_load(&s->results_first);
	if (m->head.kind != PACKET_RESULT || first == gompi_load_acquire(&s->results_end))
		return false;
	const struct gompi_stream_result *r = &gompi_load(&s->results)[first % STREAM_RESULTS_MOST];
	return r->number == m->head.number && r->ongoing != NULL;
}

// Stores the result in an answer to its destination. Returns 0, or the class that breaks the stream.
static int give_result(struct gompi_stream *s, const struct gompi_answer *m) {
	uint64_t first = gompi_load(&s->results_first);
	if (first == gompi_load_acquire(&s->results_end))
		return gompi_because(MPI_ERR_INTERN, WHY_NO_RESULT, m->head.number, m->head.length);
	struct gompi_stream_result *r = &gompi_load(&s->results)[first % STREAM_RESULTS_MOST];
	if (r->number != m->head.number)
		return gompi_because(MPI_ERR_INTERN, WHY_OTHER_RESULT, m->head.number, r->number);
	if (m->class == MPI_SUCCESS && m->head.length != r->bytes)
		return gompi_because(MPI_ERR_INTERN, WHY_OTHER_LENGTH, m->head.length, r->bytes);
	if (m->class == MPI_SUCCESS)
		gompi_copy_in(r->to, m->data, r->bytes);
	if (r->ongoing != NULL) {
		const struct gompi_reason why = answers_reason(m);
		gompi_ongoing_part_over(r->ongoing, why.class == MPI_SUCCESS ? NULL : &why);
	}
	uint64_t cost = gompi_stream_cost(r->bytes);
	gompi_store_release(&s->results_first, first + 1);
	gompi_sub_total(&s->results_out, cost);
	return MPI_SUCCESS;
}

// Validates the numbers in an answer, and stores its result. Returns 0, or the class that breaks the stream.
static int check_answer(struct gompi_stream *s, const struct gompi_answer *m) {
	const uint64_t done = gompi_load(&s->done), sent = gompi_load(&s->sent);
	if (m->head.number < done)
		return gompi_because(MPI_ERR_INTERN, WHY_ANSWER_BEHIND, m->head.number, done);
	if (m->head.number > sent)
		return gompi_because(MPI_ERR_INTERN, WHY_ANSWER_AHEAD, m->head.number, sent);
	int class = m->head.kind == PACKET_RESULT ? give_result(s, m) : MPI_SUCCESS;
	if (class != MPI_SUCCESS || !lacks_result(s, m->head.number))
		return class;
	const struct gompi_stream_result *r =
		&gompi_load(&s->results)[gompi_load(&s->results_first) % STREAM_RESULTS_MOST];
	return gompi_because(MPI_ERR_INTERN, WHY_RESULT_MISSING, m->head.number, r->number);
}

// Processes an answer for a stream that is not over. The caller holds gompi_stream_answers_mu.
static void take_answer(struct gompi_stream *s, const struct gompi_answer *m) {
	const struct gompi_reason why = answers_reason(m);
	bool last = m->head.flags & PACKET_BROKEN;
	int broken = 0;
	uint32_t none = 0;
	if (why.class != MPI_SUCCESS && (last || !answers_request(s, m)) &&
	    gompi_change_once(&s->class, &none, (uint32_t)why.class))
		s->reason = why;
	if (last)
		broken = why.class != MPI_SUCCESS ? why.class
						  : MPI_ERR_INTERN; // an end without a class is an error, too
	else if ((broken = check_answer(s, m)) != MPI_SUCCESS)
		s->reason = gompi_reason_take(broken);
	if (broken != 0)
		gompi_store_release(&s->broken, (uint32_t)broken); // pairs with the acquire in gompi_stream_is_over
	else
		// release: results have been stored before; pairs with number_reached
		gompi_store_release(&s->done, m->head.number);
}

void gompi_stream_answered(int peer, const struct gompi_answer *m) {
	struct gompi_win *w = gompi_win_get((MPI_Win)(uintptr_t)m->head.window);
	if (w == NULL || w->remote == NULL)
		return;
	struct gompi_stream *s = gompi_stream_first(w);
	if (m->from >= 0)
		s = (uint32_t)m->from < w->n ? gompi_stream_known(w, m->from) : NULL;
	while (s != NULL && s->peer != peer && m->from < 0)
		s = s->next;
	if (s == NULL || s->peer != peer)
		return;
	gompi_mutex_take(&gompi_stream_answers_mu);
	if (!gompi_stream_is_over(s))
		take_answer(s, m);
	gompi_mutex_give(&gompi_stream_answers_mu);
	gompi_wake(&gompi_my_cell()->wait);
}
