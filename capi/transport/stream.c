// Creates the streams of a window, sends their control records, and waits for acknowledgements.
#include "transport/stream_origin.h"

#include <stdlib.h>

#include "base/sparse.h"
#include "base/wait_time.h"
#include "win/error_detail.h"

static struct gompi_streams *get_streams(struct gompi_win *w) {
	struct gompi_streams *all = gompi_load_acquire(&w->streams);
	if (all != NULL)
		return all;
	struct gompi_streams *mine = gompi_sparse_alloc(gompi_streams_bytes(w));
	if (mine == NULL || gompi_cas_strong(&w->streams, &all, mine))
		return mine;
	gompi_sparse_free(mine, gompi_streams_bytes(w)); // another thread has installed its table first
	return all;
}

// Creates a stream. Not inlined, so that gompi_stream_get saves fewer registers when the stream exists.
static __attribute__((noinline)) struct gompi_stream *create_stream(struct gompi_win *w, int rank) {
	struct gompi_streams *all = get_streams(w);
	struct gompi_stream *s = NULL, *mine = all == NULL ? NULL : calloc(1, sizeof *mine);
	if (mine == NULL)
		return NULL;
	mine->w = w;
	mine->rank = rank;
	mine->peer = gompi_win_peer(w, rank);
	if (!gompi_cas_strong(&all->by_rank[rank], &s, mine)) {
		free(mine);
		return s;
	}
	mine->next = gompi_load(&all->first);
	while (!gompi_cas_weak_seq_cst(&all->first, &mine->next, mine))
		;
	return mine;
}

struct gompi_stream *gompi_stream_get(struct gompi_win *w, int rank) {
	struct gompi_stream *s = gompi_stream_find(w, rank);
	return __builtin_expect(s != NULL, 1) ? s : create_stream(w, rank);
}

// --- Waiting

struct gompi_mutex gompi_stream_answers_mu;

// Marks a stream as broken with this error class, because a call ends its wait on the stream with an error. After this
// function has returned, no further answer of the stream is processed. So no answer writes to the call's buffers.
static void break_stream(struct gompi_stream *s, int class) {
	uint32_t none = 0;
	gompi_mutex_lock(&gompi_stream_answers_mu);
	gompi_cas_strong(&s->broken_class, &none, (uint32_t) class);
	gompi_mutex_unlock(&gompi_stream_answers_mu);
}

// Stores the error detail for this thread if the stream has the detail of this error. Returns the argument `class`.
static __attribute__((cold)) int restore_detail(struct gompi_stream *s, int class) {
	gompi_mutex_lock(&gompi_stream_answers_mu);
	const struct gompi_error_detail detail = s->error_detail;
	gompi_mutex_unlock(&gompi_stream_answers_mu);
	if (detail.class == class)
		gompi_store_error_detail(&detail);
	return class;
}

static int broken_class(struct gompi_stream *s) {
	int class = (int)gompi_load(&s->broken_class);
	if (__builtin_expect(class != 0, 0))
		return restore_detail(s, class);
	return gompi_fabric_peer_failed(s->peer) ? MPI_ERR_PROC_ABORTED : MPI_SUCCESS;
}

int gompi_stream_check_broken(struct gompi_stream *s) {
	if (!gompi_stream_is_broken(s))
		return MPI_SUCCESS;
	int class = broken_class(s);
	break_stream(s, class);
	return class;
}

int gompi_stream_consume_error(struct gompi_stream *s) {
	if (__builtin_expect(gompi_load(&s->error_class) == 0, 1))
		return MPI_SUCCESS;
	int class = (int)gompi_swap_seq_cst(&s->error_class, 0);
	return class == 0 ? MPI_SUCCESS : restore_detail(s, class);
}

static bool number_acked(void *arg) {
	struct gompi_stream_wait *n = arg;
	return gompi_load_acquire(&n->s->acked) >= n->number || gompi_stream_is_broken(n->s);
}

static bool transfers_done(void *arg) {
	struct gompi_stream_wait *n = arg;
	return gompi_load_acquire(&n->s->transfer_count) == 0;
}

void gompi_stream_describe_wait(struct gompi_stream *s, struct gompi_wait_desc *waiting) {
	if (gompi_load_acquire(&s->acked) >= gompi_load(&s->lock_number))
		return;
	const bool started = (gompi_load(&s->w->targets[s->rank].state) & TARGET_STARTED) != 0;
	waiting->peer = s->peer;
	waiting->object = s->w->handle;
	waiting->reason = started ? GOMPI_FOR_POST : GOMPI_FOR_LOCK;
	waiting->tag = s->rank;
}

static int describe_stream_wait(const void *on, int first, struct gompi_wait_desc *waiting,
				struct gompi_wait_details *t) {
	(void)t;
	gompi_stream_describe_wait(((const struct gompi_stream_wait *)on)->s, waiting);
	return first;
}

int gompi_stream_await(struct gompi_stream *s, bool (*done)(void *), uint64_t number, const char *call) {
	struct gompi_stream_wait n = {s, number};
	struct gompi_wait_desc waiting = {.call = call,
					  .peer = s->peer,
					  .object = s->w->handle,
					  .fill_details = describe_stream_wait,
					  .fill_details_arg = &n};
	if (__builtin_expect(gompi_load(&gompi_wait_times_requested) != 0, 0))
		gompi_stream_describe_wait(s, &waiting); // now, because the lock may have been acquired at the end
	int rc = gompi_await(&gompi_my_cell()->wait, done, &n, &waiting);
	if (rc == MPI_SUCCESS)
		rc = broken_class(s);
	if (__builtin_expect(rc != MPI_SUCCESS, 0))
		break_stream(s, rc);
	return rc;
}

int gompi_stream_await_transfers(struct gompi_stream *s, const char *call) {
	return gompi_load_acquire(&s->transfer_count) == 0 ? MPI_SUCCESS
							   : gompi_stream_await(s, transfers_done, 0, call);
}

int gompi_stream_flush_to(struct gompi_stream *s, uint64_t number, const char *call) {
	int rc = gompi_load_acquire(&s->acked) >= number ? MPI_SUCCESS
							 : gompi_stream_await(s, number_acked, number, call);
	int transfer_rc = gompi_stream_await_transfers(s, call);
	rc = rc == MPI_SUCCESS ? transfer_rc : rc;
	int class = gompi_stream_consume_error(s);
	return rc == MPI_SUCCESS ? class : rc;
}

// --- Records

int gompi_stream_send_control(struct gompi_stream *s, enum gompi_packet_kind kind, bool exclusive, int bits) {
	int class;
	struct gompi_packet *m = gompi_stream_reserve(s, 0, &class);
	if (m == NULL)
		return class;
	*m = (struct gompi_packet){.head.window = (uint32_t)s->w->handle, .head.kind = (uint8_t)kind, .op = exclusive};
	if (kind == PACKET_LOCK || kind == PACKET_START) {
		// If the previous lock has not been acknowledged, earlier records may still wait at the target, so
		// ahead_bytes keeps counting them.
		if (gompi_load(&s->acked) >= gompi_load(&s->lock_number))
			gompi_store(&s->ahead_bytes, 0);
		gompi_store(&s->lock_number, gompi_load(&s->sent) + 1);
	}
	gompi_stream_commit(s, m, bits);
	return MPI_SUCCESS;
}

int gompi_stream_request_ack(struct gompi_stream *s, uint64_t number) {
	if (gompi_load_acquire(&s->acked) >= number || gompi_load(&s->asked_number) >= number)
		return MPI_SUCCESS;
	return gompi_stream_send_control(s, PACKET_FLUSH, false, RECORD_WANTS_ANSWER);
}

int gompi_stream_await_ack(struct gompi_stream *s, uint64_t number, const char *call) {
	int rc = gompi_stream_request_ack(s, number);
	return rc == MPI_SUCCESS ? gompi_stream_await(s, number_acked, number, call) : rc;
}
