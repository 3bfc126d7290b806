// The streams of a window, their sequence numbers, and waits for them.
#include "transport/stream_send.h"

#include <stdlib.h>

#include "base/sparse.h"
#include "win/why.h"

static struct gompi_streams *streams_of(struct gompi_win *w) {
	struct gompi_streams *all = gompi_load_acquire(&w->streams);
	if (all != NULL)
		return all;
	struct gompi_streams *mine = gompi_sparse_take(gompi_streams_bytes(w));
	if (mine == NULL || gompi_change_once(&w->streams, &all, mine))
		return mine;
	gompi_sparse_give(mine, gompi_streams_bytes(w)); // another thread has installed its table first
	return all;
}

// Creates a stream. Not inlined: most calls find an existing stream, and then need no registers for this.
static __attribute__((noinline)) struct gompi_stream *make_stream(struct gompi_win *w, int rank) {
	struct gompi_streams *all = streams_of(w);
	struct gompi_stream *s = NULL, *mine = all == NULL ? NULL : calloc(1, sizeof *mine);
	if (mine == NULL)
		return NULL;
	mine->w = w;
	mine->rank = rank;
	mine->peer = gompi_win_peer(w, rank);
	if (!gompi_change_once(&all->of[rank], &s, mine)) {
		free(mine);
		return s;
	}
	mine->next = gompi_load(&all->first);
	while (!gompi_change_total(&all->first, &mine->next, mine))
		;
	return mine;
}

struct gompi_stream *gompi_stream_of(struct gompi_win *w, int rank) {
	struct gompi_stream *s = gompi_stream_known(w, rank);
	return __builtin_expect(s != NULL, 1) ? s : make_stream(w, rank);
}

// --- Waiting

struct gompi_mutex gompi_stream_answers_mu;

// Marks a stream as broken with class, because a call gives up its wait. After that no answer is processed.
static void give_up(struct gompi_stream *s, int class) {
	uint32_t none = 0;
	gompi_mutex_take(&gompi_stream_answers_mu);
	gompi_change_once(&s->broken, &none, (uint32_t) class);
	gompi_mutex_give(&gompi_stream_answers_mu);
}

// Returns class, and stores its reason for this thread if the stream has recorded it.
static __attribute__((cold)) int tell_class(struct gompi_stream *s, int class) {
	gompi_mutex_take(&gompi_stream_answers_mu);
	const struct gompi_reason reason = s->reason;
	gompi_mutex_give(&gompi_stream_answers_mu);
	if (reason.class == class)
		gompi_reason_keep(&reason);
	return class;
}

static int over_class(struct gompi_stream *s) {
	int class = (int)gompi_load(&s->broken);
	if (__builtin_expect(class != 0, 0))
		return tell_class(s, class);
	return gompi_fabric_gone(s->peer) ? MPI_ERR_PROC_ABORTED : MPI_SUCCESS;
}

int gompi_stream_over(struct gompi_stream *s) {
	if (!gompi_stream_is_over(s))
		return MPI_SUCCESS;
	int class = over_class(s);
	give_up(s, class);
	return class;
}

int gompi_stream_take_class(struct gompi_stream *s) {
	if (__builtin_expect(gompi_load(&s->class) == 0, 1))
		return MPI_SUCCESS;
	int class = (int)gompi_swap_total(&s->class, 0);
	return class == 0 ? MPI_SUCCESS : tell_class(s, class);
}

static bool number_reached(void *arg) {
	struct stream_wait *n = arg;
	return gompi_load_acquire(&n->s->done) >= n->number || gompi_stream_is_over(n->s);
}

static bool transferred(void *arg) {
	struct stream_wait *n = arg;
	return gompi_load_acquire(&n->s->transfers) == 0;
}

void gompi_stream_awaits(struct gompi_stream *s, struct gompi_waiting *what) {
	if (gompi_load_acquire(&s->done) >= gompi_load(&s->locked))
		return;
	const bool started = (gompi_load(&s->w->targets[s->rank].state) & TARGET_STARTED) != 0;
	what->peer = s->peer;
	what->object = s->w->handle;
	what->reason = started ? GOMPI_FOR_POST : GOMPI_FOR_LOCK;
	what->tag = s->rank;
}

static int describe_stream(const void *on, int first, struct gompi_waiting *what, struct gompi_told *t) {
	(void)t;
	gompi_stream_awaits(((const struct stream_wait *)on)->s, what);
	return first;
}

int gompi_stream_await(struct gompi_stream *s, bool (*done)(void *), uint64_t number, const char *call) {
	struct stream_wait n = {s, number};
	struct gompi_waiting what = {
		.call = call, .peer = s->peer, .object = s->w->handle, .describe = describe_stream, .on = &n};
	int rc = gompi_await(&gompi_my_cell()->wait, done, &n, &what);
	if (rc == MPI_SUCCESS)
		rc = over_class(s);
	if (__builtin_expect(rc != MPI_SUCCESS, 0))
		give_up(s, rc);
	return rc;
}

int gompi_stream_await_transfers(struct gompi_stream *s, const char *call) {
	return gompi_load_acquire(&s->transfers) == 0 ? MPI_SUCCESS : gompi_stream_await(s, transferred, 0, call);
}

int gompi_stream_end(struct gompi_stream *s, uint64_t number, const char *call) {
	int rc = gompi_load_acquire(&s->done) >= number ? MPI_SUCCESS
							: gompi_stream_await(s, number_reached, number, call);
	int last = gompi_stream_await_transfers(s, call);
	rc = rc == MPI_SUCCESS ? last : rc;
	int class = gompi_stream_take_class(s);
	return rc == MPI_SUCCESS ? class : rc;
}

// --- Records

int gompi_stream_send_word(struct gompi_stream *s, enum gompi_packet_kind kind, bool exclusive, int bits) {
	int class;
	struct gompi_packet *m = gompi_stream_reserve(s, 0, &class);
	if (m == NULL)
		return class;
	*m = (struct gompi_packet){.head.window = (uint32_t)s->w->handle, .head.kind = (uint8_t)kind, .op = exclusive};
	if (kind == PACKET_LOCK || kind == PACKET_START) {
		// else earlier records may wait at the target, too, and still count
		if (gompi_load(&s->done) >= gompi_load(&s->locked))
			gompi_store(&s->ahead, 0);
		gompi_store(&s->locked, gompi_load(&s->sent) + 1);
	}
	gompi_stream_commit(s, m, bits);
	return MPI_SUCCESS;
}

int gompi_stream_ask(struct gompi_stream *s, uint64_t number) {
	if (gompi_load_acquire(&s->done) >= number || gompi_load(&s->asked) >= number)
		return MPI_SUCCESS;
	return gompi_stream_send_word(s, PACKET_FLUSH, false, RECORD_ASKS);
}

int gompi_stream_ask_and_await(struct gompi_stream *s, uint64_t number, const char *call) {
	int rc = gompi_stream_ask(s, number);
	return rc == MPI_SUCCESS ? gompi_stream_await(s, number_reached, number, call) : rc;
}
