// Processes answers from the members of streams, and results of operations.
#include <stdlib.h>

#include "transport/rma_request.h"
#include "transport/stream_origin.h"
#include "win/error_detail.h"

static bool result_credit_fits(void *arg) {
	struct gompi_stream_wait *n = arg;
	return gompi_load_acquire(&n->s->result_credits_used) + n->number <= STREAM_RESULT_CREDITS ||
	       gompi_stream_is_broken(n->s);
}

int gompi_stream_reserve_credit(struct gompi_stream *s, uint64_t cost, const char *call) {
	struct gompi_stream_result *none = NULL;
	if (__builtin_expect(gompi_load_acquire(&s->results) == NULL, 0)) {
		struct gompi_stream_result *mine = malloc(STREAM_MAX_RESULTS * sizeof *mine);
		if (mine == NULL)
			return MPI_ERR_NO_MEM;
		if (!gompi_cas_strong(&s->results, &none, mine))
			free(mine); // another thread has installed its array first
	}
	while (gompi_add_seq_cst(&s->result_credits_used, cost) + cost > STREAM_RESULT_CREDITS) {
		gompi_sub_seq_cst(&s->result_credits_used, cost);
		int rc = gompi_stream_request_ack(s, gompi_load(&s->result_number));
		if (rc == MPI_SUCCESS)
			rc = gompi_stream_await(s, result_credit_fits, cost, call);
		if (rc != MPI_SUCCESS)
			return rc;
	}
	return MPI_SUCCESS;
}

void gompi_stream_expect_result(struct gompi_stream *s, void *to, uint64_t bytes,
				struct gompi_rma_request *rma_request) {
	uint64_t end = gompi_load(&s->results_end);
	if (rma_request != NULL)
		gompi_rma_request_add_stream(rma_request, s);
	gompi_load(&s->results)[end % STREAM_MAX_RESULTS] =
		(struct gompi_stream_result){to, gompi_load(&s->sent) + 1, bytes, rma_request};
	gompi_store_release(&s->results_end, end + 1); // pairs with the acquire in store_result
}

// Returns true if a result of the records up to `number` has not arrived.
static bool result_missing(struct gompi_stream *s, uint64_t number) {
	uint64_t first = gompi_load(&s->results_first);
	return first != gompi_load_acquire(&s->results_end) &&
	       gompi_load(&s->results)[first % STREAM_MAX_RESULTS].number <= number;
}

// Returns the error in an answer. The answer comes from another process, so an unknown class becomes MPI_ERR_OTHER.
static struct gompi_error_detail answer_detail(const struct gompi_answer *m) {
	return (struct gompi_error_detail){.class = m->class <= MPI_ERR_LASTCODE ? m->class : MPI_ERR_OTHER,
					   .code = m->detail_code,
					   .a = m->a,
					   .b = m->b};
}

// Returns true if an answer is the result of an operation with a request. An error in the answer is then reported by
// that request, and not by a call.
static bool is_request_result(struct gompi_stream *s, const struct gompi_answer *m) {
	uint64_t first = gompi_load(&s->results_first);
	if (m->head.kind != PACKET_RESULT || first == gompi_load_acquire(&s->results_end))
		return false;
	const struct gompi_stream_result *r = &gompi_load(&s->results)[first % STREAM_MAX_RESULTS];
	return r->number == m->head.number && r->rma_request != NULL;
}

// Copies the result in an answer to its destination. Returns 0, or the error class that breaks the stream.
static int store_result(struct gompi_stream *s, const struct gompi_answer *m) {
	uint64_t first = gompi_load(&s->results_first);
	if (first == gompi_load_acquire(&s->results_end))
		return gompi_set_error_detail(MPI_ERR_INTERN, DETAIL_UNEXPECTED_RESULT, m->head.number, m->head.length);
	struct gompi_stream_result *r = &gompi_load(&s->results)[first % STREAM_MAX_RESULTS];
	if (r->number != m->head.number)
		return gompi_set_error_detail(MPI_ERR_INTERN, DETAIL_RESULT_ORDER, m->head.number, r->number);
	if (m->class == MPI_SUCCESS && m->head.length != r->bytes)
		return gompi_set_error_detail(MPI_ERR_INTERN, DETAIL_RESULT_LENGTH, m->head.length, r->bytes);
	if (m->class == MPI_SUCCESS)
		gompi_copy_in(r->to, m->data, r->bytes);
	if (r->rma_request != NULL) {
		const struct gompi_error_detail detail = answer_detail(m);
		gompi_rma_request_end_part(r->rma_request, detail.class == MPI_SUCCESS ? NULL : &detail);
	}
	uint64_t cost = gompi_stream_result_cost(r->bytes);
	gompi_store_release(&s->results_first, first + 1);
	gompi_sub_seq_cst(&s->result_credits_used, cost);
	return MPI_SUCCESS;
}

// Validates the numbers in an answer, and stores its result. Returns 0, or the error class that breaks the stream.
static int check_answer(struct gompi_stream *s, const struct gompi_answer *m) {
	const uint64_t done = gompi_load(&s->acked), sent = gompi_load(&s->sent);
	if (m->head.number < done)
		return gompi_set_error_detail(MPI_ERR_INTERN, DETAIL_ACK_DECREASED, m->head.number, done);
	if (m->head.number > sent)
		return gompi_set_error_detail(MPI_ERR_INTERN, DETAIL_ACK_NOT_SENT, m->head.number, sent);
	int class = m->head.kind == PACKET_RESULT ? store_result(s, m) : MPI_SUCCESS;
	if (class != MPI_SUCCESS || !result_missing(s, m->head.number))
		return class;
	const struct gompi_stream_result *r =
		&gompi_load(&s->results)[gompi_load(&s->results_first) % STREAM_MAX_RESULTS];
	return gompi_set_error_detail(MPI_ERR_INTERN, DETAIL_RESULT_MISSING, m->head.number, r->number);
}

// Processes an answer for a stream that is not broken. The caller holds gompi_stream_answers_mu.
static void process_answer(struct gompi_stream *s, const struct gompi_answer *m) {
	const struct gompi_error_detail detail = answer_detail(m);
	bool last = m->head.flags & PACKET_STREAM_END;
	int broken = 0;
	uint32_t none = 0;
	if (detail.class != MPI_SUCCESS && (last || !is_request_result(s, m)) &&
	    gompi_cas_strong(&s->error_class, &none, (uint32_t)detail.class))
		s->error_detail = detail;
	if (last)
		broken = detail.class != MPI_SUCCESS ? detail.class
						     : MPI_ERR_INTERN; // the end of a stream is always an error
	else if ((broken = check_answer(s, m)) != MPI_SUCCESS)
		s->error_detail = gompi_consume_error_detail(broken);
	if (broken != 0)
		gompi_store_release(&s->broken_class,
				    (uint32_t)broken); // pairs with the acquire in gompi_stream_is_broken
	else
		// Release: orders the stores of results before the acknowledgement. Pairs with the acquire in
		// number_acked.
		gompi_store_release(&s->acked, m->head.number);
}

void gompi_stream_on_answer(int peer, const struct gompi_answer *m) {
	struct gompi_win *w = gompi_win_get((MPI_Win)(uintptr_t)m->head.window);
	if (w == NULL || w->remote == NULL)
		return;
	struct gompi_stream *s = gompi_stream_first(w);
	if (m->from >= 0)
		s = (uint32_t)m->from < w->n ? gompi_stream_find(w, m->from) : NULL;
	while (s != NULL && s->peer != peer && m->from < 0)
		s = s->next;
	if (s == NULL || s->peer != peer)
		return;
	gompi_mutex_lock(&gompi_stream_answers_mu);
	if (!gompi_stream_is_broken(s))
		process_answer(s, m);
	gompi_mutex_unlock(&gompi_stream_answers_mu);
	gompi_wake(&gompi_my_cell()->wait);
}
