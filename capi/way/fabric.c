// The way to processes of other nodes, at the origin: streams of records (stream.h), and reads and writes of registered
// memory for what is large and lies together on both sides.
#include "way/way.h"

#include <stdlib.h>
#include <string.h>

#include "base/wait.h"
#include "way/ongoing.h"
#include "way/stream.h"

_Static_assert(STREAM_DATA % 8 == 0 && STREAM_DATA < 1 << 16, "gompi_message_write");

// --- Streams

static struct gompi_streams *streams_of(struct gompi_win *w) {
	struct gompi_streams *all = gompi_load_acquire(&w->streams);
	if (all != NULL)
		return all;
	struct gompi_streams *mine = calloc(1, sizeof *mine + w->n * sizeof mine->of[0]);
	if (mine == NULL || gompi_change_once(&w->streams, &all, mine))
		return mine;
	free(mine); // another thread was first
	return all;
}

// Not inlined: most calls find the stream, and need no registers for this.
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

struct stream_wait {
	struct gompi_stream *s;
	uint64_t number;
};

// Whether nothing more comes from the stream's member.
static bool is_over(struct gompi_stream *s) {
	return gompi_load_acquire(&s->broken) != 0 || gompi_fabric_gone(s->peer);
}

// Held while an answer is taken: what a call has given up nothing is written to.
static struct gompi_mutex answers_mu;

// A call gives up what it waits for: no answer is taken any longer.
static void give_up(struct gompi_stream *s, int class) {
	uint32_t none = 0;
	gompi_mutex_take(&answers_mu);
	gompi_change_once(&s->broken, &none, (uint32_t) class);
	gompi_mutex_give(&answers_mu);
}

// This thread is told of an error of the stream.
static __attribute__((cold)) int tell_class(struct gompi_stream *s, int class) {
	gompi_mutex_take(&answers_mu);
	const struct gompi_reason reason = s->reason;
	gompi_mutex_give(&answers_mu);
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
	if (!is_over(s))
		return MPI_SUCCESS;
	int class = over_class(s);
	give_up(s, class);
	return class;
}

// The class of the first error that nobody has been told of.
static int take_class(struct gompi_stream *s) {
	if (__builtin_expect(gompi_load(&s->class) == 0, 1))
		return MPI_SUCCESS;
	int class = (int)gompi_swap_total(&s->class, 0);
	return class == 0 ? MPI_SUCCESS : tell_class(s, class);
}

static bool number_reached(void *arg) {
	struct stream_wait *n = arg;
	return gompi_load_acquire(&n->s->done) >= n->number || is_over(n->s);
}

static bool transferred(void *arg) {
	struct stream_wait *n = arg;
	return gompi_load_acquire(&n->s->transfers) == 0;
}

static bool results_fit(void *arg) {
	struct stream_wait *n = arg;
	return gompi_load_acquire(&n->s->results_out) + n->number <= STREAM_RESULTS || is_over(n->s);
}

// Waits for the function called call until done is true of s and number. 0 or an error class, that of a broken stream
// among them.
static int await(struct gompi_stream *s, bool (*done)(void *), uint64_t number, const char *call) {
	struct stream_wait n = {s, number};
	struct gompi_waiting what = {.call = call, .peer = s->peer, .object = s->w->handle};
	int rc = gompi_await(&gompi_my_cell()->wait, done, &n, &what);
	if (rc == MPI_SUCCESS)
		rc = over_class(s);
	if (__builtin_expect(rc != MPI_SUCCESS, 0))
		give_up(s, rc);
	return rc;
}

// --- Records

static struct gompi_message *reserve_record(struct gompi_stream *s, uint64_t data, int *class) {
	return (struct gompi_message *)(void *)gompi_fabric_reserve(
		s->peer, FABRIC_RMA, sizeof(struct gompi_message) + data, FABRIC_WAIT, class);
}

// What a record has to do with the end of operations.
enum { RECORD_ASKS = STREAM_ASKS, RECORD_DUE = 2, RECORD_GIVES = 4 };

// Numbers a record that has been written, and sends it. bits: RECORD_; one that asks leaves at once.
static inline uint64_t commit_record(struct gompi_stream *s, struct gompi_message *m, int bits) {
	uint64_t number = gompi_load(&s->sent) + 1; // nobody else changes it: this thread has the lock of the peer
	m->origin = s->w->me;
	m->wants_reply = bits & RECORD_ASKS;
	m->status = number;
	gompi_store(&s->sent, number);
	if (bits & RECORD_ASKS)
		gompi_store(&s->asked, number);
	if (bits & (RECORD_DUE | RECORD_GIVES))
		gompi_store(&s->due, number);
	if (bits & RECORD_GIVES)
		gompi_store(&s->due_here, number);
	gompi_fabric_commit(s->peer, sizeof *m + m->length, bits & RECORD_ASKS ? FABRIC_NOW : FABRIC_SOON);
	return number;
}

// Sends a record without data. 0 or an error class.
static int send_word(struct gompi_stream *s, enum gompi_stream_kind kind, bool exclusive, int bits) {
	int class;
	struct gompi_message *m = reserve_record(s, 0, &class);
	if (m == NULL)
		return class;
	*m = (struct gompi_message){.window = (uint32_t)s->w->handle, .kind = (uint8_t)kind, .type = exclusive};
	if (kind == STREAM_LOCK || kind == STREAM_START) {
		if (gompi_load(&s->done) >= gompi_load(&s->locked)) // else what was sent before may wait there, too
			gompi_store(&s->ahead, 0);
		gompi_store(&s->locked, gompi_load(&s->sent) + 1);
	}
	commit_record(s, m, bits);
	return MPI_SUCCESS;
}

// Asks how far the member is, unless an answer is on its way that says whether it has come to number.
static int ask_stream(struct gompi_stream *s, uint64_t number) {
	if (gompi_load_acquire(&s->done) >= number || gompi_load(&s->asked) >= number)
		return MPI_SUCCESS;
	return send_word(s, STREAM_FLUSH, false, RECORD_ASKS);
}

static int ask_and_await(struct gompi_stream *s, uint64_t number, const char *call) {
	int rc = ask_stream(s, number);
	return rc == MPI_SUCCESS ? await(s, number_reached, number, call) : rc;
}

// Whether a member is locked alone, and the lock is to be taken.
static inline bool locks_one(uint32_t state) { return (state & (TARGET_LOCKED | TARGET_NOCHECK)) == TARGET_LOCKED; }

// Whether the epoch with a member in this state needs a lock or start.
static inline bool needs_lock(const struct gompi_win *w, uint32_t state) {
	return locks_one(state) || (state & TARGET_STARTED) ||
	       ((gompi_load(&w->access) & ACCESS_LOCK_ALL) && !w->lock_all_nocheck);
}

// Whether this epoch needs a lock or start that has not been sent.
static inline bool lacks_lock(struct gompi_stream *s) {
	return !gompi_load_acquire(&s->has_lock) && needs_lock(s->w, gompi_load(&s->w->targets[s->rank].state));
}

// Sends a lock or start unless one has been sent, under lock_mu: only while it is sent, which whoever is next must not
// overtake. 0 or an error class.
static int send_lock_locked(struct gompi_stream *s, enum gompi_stream_kind kind, bool exclusive) {
	if (gompi_load(&s->has_lock))
		return MPI_SUCCESS;
	int rc = send_word(s, kind, exclusive, 0);
	if (rc == MPI_SUCCESS)
		gompi_store_release(&s->has_lock, 1);
	return rc;
}

// Puts the lock or start that this epoch needs before the first record. 0 or an error class.
static int lock_first(struct gompi_stream *s) {
	if (!lacks_lock(s))
		return MPI_SUCCESS;
	int rc = MPI_SUCCESS;
	gompi_mutex_take(&s->lock_mu);
	uint32_t state = gompi_load(&s->w->targets[s->rank].state);
	if (needs_lock(s->w, state))
		rc = send_lock_locked(s, state & TARGET_STARTED ? STREAM_START : STREAM_LOCK,
				      locks_one(state) && (state & TARGET_EXCLUSIVE));
	gompi_mutex_give(&s->lock_mu);
	return rc;
}

// Whether so much data may leave now: any if the member has got the lock, or has posted; else as much as it keeps
// meanwhile.
static inline bool may_leave(struct gompi_stream *s, uint64_t room) {
	return __builtin_expect(gompi_load_acquire(&s->done) >= gompi_load(&s->locked), 1) ||
	       gompi_add(&s->ahead, room + sizeof(struct gompi_message)) + room <= STREAM_AHEAD;
}

// Waits until the member has got the lock for this process, or has posted, if it needs that.
static int await_lock(struct gompi_stream *s, const char *call) {
	uint64_t locked = gompi_load(&s->locked);
	return gompi_load_acquire(&s->done) >= locked ? MPI_SUCCESS : ask_and_await(s, locked, call);
}

// --- What comes back

// Takes room for so many bytes that come back, waiting for it. 0 or an error class.
static int take_room(struct gompi_stream *s, uint64_t cost, const char *call) {
	struct gompi_stream_result *none = NULL;
	if (__builtin_expect(gompi_load_acquire(&s->results) == NULL, 0)) {
		struct gompi_stream_result *mine = malloc(STREAM_RESULTS_MOST * sizeof *mine);
		if (mine == NULL)
			return MPI_ERR_NO_MEM;
		if (!gompi_change_once(&s->results, &none, mine))
			free(mine); // another thread was first
	}
	while (gompi_add_total(&s->results_out, cost) + cost > STREAM_RESULTS) {
		gompi_sub_total(&s->results_out, cost);
		int rc = ask_stream(s, gompi_load(&s->due_here));
		if (rc == MPI_SUCCESS)
			rc = await(s, results_fit, cost, call);
		if (rc != MPI_SUCCESS)
			return rc;
	}
	return MPI_SUCCESS;
}

static uint64_t result_cost(uint64_t bytes) { return bytes < STREAM_RESULT_LEAST ? STREAM_RESULT_LEAST : bytes; }

// Expects what the record with the next number gives. The caller has reserved that record.
static void expect(struct gompi_stream *s, void *to, uint64_t bytes, struct gompi_ongoing *ongoing) {
	uint64_t end = gompi_load(&s->results_end);
	if (ongoing != NULL)
		gompi_ongoing_by_stream(ongoing, s);
	gompi_load(&s->results)[end % STREAM_RESULTS_MOST] =
		(struct gompi_stream_result){to, gompi_load(&s->sent) + 1, bytes, ongoing};
	gompi_store_release(&s->results_end, end + 1); // pairs with the acquire in give_result
}

// Whether records up to a number have been applied that should have given something before.
static bool lacks_result(struct gompi_stream *s, uint64_t number) {
	uint64_t first = gompi_load(&s->results_first);
	return first != gompi_load_acquire(&s->results_end) &&
	       gompi_load(&s->results)[first % STREAM_RESULTS_MOST].number <= number;
}

// The error that an answer tells. From another process: a class that there is not is an error all the same.
static struct gompi_reason answers_reason(const struct gompi_message *m) {
	return (struct gompi_reason){.class = m->op <= MPI_ERR_LASTCODE ? m->op : MPI_ERR_OTHER,
				     .why = m->type,
				     .a = m->offset,
				     .b = m->bytes};
}

// Whether an answer is the result of an operation with a request, which then is what its error is told by.
static bool answers_request(struct gompi_stream *s, const struct gompi_message *m) {
	uint64_t first = gompi_load(&s->results_first);
	if (m->kind != STREAM_RESULT || first == gompi_load_acquire(&s->results_end))
		return false;
	const struct gompi_stream_result *r = &gompi_load(&s->results)[first % STREAM_RESULTS_MOST];
	return r->number == m->status && r->ongoing != NULL;
}

// Takes what a record has given to where it is expected. 0 or the class of a stream that is broken.
static int give_result(struct gompi_stream *s, const struct gompi_message *m) {
	uint64_t first = gompi_load(&s->results_first);
	if (first == gompi_load_acquire(&s->results_end))
		return gompi_because(MPI_ERR_INTERN, WHY_NO_RESULT, m->status, m->length);
	struct gompi_stream_result *r = &gompi_load(&s->results)[first % STREAM_RESULTS_MOST];
	if (r->number != m->status)
		return gompi_because(MPI_ERR_INTERN, WHY_OTHER_RESULT, m->status, r->number);
	if (m->op == MPI_SUCCESS && (m->bytes != r->bytes || m->length != r->bytes))
		return gompi_because(MPI_ERR_INTERN, WHY_OTHER_LENGTH, m->length, r->bytes);
	if (m->op == MPI_SUCCESS)
		memcpy(r->to, m->data, r->bytes);
	if (r->ongoing != NULL) {
		const struct gompi_reason why = answers_reason(m);
		gompi_ongoing_part_over(r->ongoing, why.class == MPI_SUCCESS ? NULL : &why);
	}
	uint64_t cost = result_cost(r->bytes);
	gompi_store_release(&s->results_first, first + 1);
	gompi_sub_total(&s->results_out, cost);
	return MPI_SUCCESS;
}

// Looks whether an answer says what can be, and takes what it brings. 0 or the class of a stream that is broken.
static int check_answer(struct gompi_stream *s, const struct gompi_message *m) {
	const uint64_t done = gompi_load(&s->done), sent = gompi_load(&s->sent);
	if (m->status < done)
		return gompi_because(MPI_ERR_INTERN, WHY_ANSWER_BEHIND, m->status, done);
	if (m->status > sent)
		return gompi_because(MPI_ERR_INTERN, WHY_ANSWER_AHEAD, m->status, sent);
	int class = m->kind == STREAM_RESULT ? give_result(s, m) : MPI_SUCCESS;
	if (class != MPI_SUCCESS || !lacks_result(s, m->status))
		return class;
	const struct gompi_stream_result *r =
		&gompi_load(&s->results)[gompi_load(&s->results_first) % STREAM_RESULTS_MOST];
	return gompi_because(MPI_ERR_INTERN, WHY_RESULT_MISSING, m->status, r->number);
}

// Takes an answer of a stream that is not over, under answers_mu.
static void take_answer(struct gompi_stream *s, const struct gompi_message *m) {
	const struct gompi_reason why = answers_reason(m);
	bool last = m->wants_reply & STREAM_BROKEN;
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
		gompi_store_release(&s->broken, (uint32_t)broken); // pairs with is_over
	else
		gompi_store_release(&s->done, m->status); // what has come is before it; pairs with number_reached
}

void gompi_stream_answered(int peer, const struct gompi_message *m) {
	struct gompi_win *w = gompi_win_get((MPI_Win)(uintptr_t)m->window);
	if (w == NULL || w->away == NULL)
		return;
	struct gompi_stream *s = gompi_stream_first(w);
	if (m->origin >= 0)
		s = (uint32_t)m->origin < w->n ? gompi_stream_known(w, m->origin) : NULL;
	while (s != NULL && s->peer != peer && m->origin < 0)
		s = s->next;
	if (s == NULL || s->peer != peer)
		return;
	gompi_mutex_take(&answers_mu);
	if (!is_over(s))
		take_answer(s, m);
	gompi_mutex_give(&answers_mu);
	gompi_wake(&gompi_my_cell()->wait);
}

// --- Operations

// Room for the data of a message: enough for all of it, or for as much as a message takes. Pieces need words beside
// their data; the more they are for their size the more messages they take.
static uint64_t message_room(const struct gompi_outgoing *o, const struct gompi_place *at) {
	uint64_t sides = o->kind == MESSAGE_COMPARE_AND_SWAP ? 2 : o->origin != NULL;
	uint64_t room = sides * (o->bytes < STREAM_DATA ? o->bytes : STREAM_DATA);
	if (o->pieces != NULL) {
		enum { GROUP = 4 * sizeof(int64_t), SOME = 8 * GROUP };
		uint64_t pieces = (uint64_t)at->count * (uint64_t)at->type->segments;
		uint64_t some = o->bytes < SOME ? SOME : o->bytes;
		room += 2 * sizeof(int64_t) + (pieces < some / GROUP ? pieces * GROUP : some);
	}
	room = (room + 7) & ~(uint64_t)7;
	return room < STREAM_DATA ? room : STREAM_DATA;
}

// Sends as much of o as a message takes, which o->bytes says afterwards; what it gives is a part of what is ongoing,
// unless that is NULL. 0 or an error class.
static int send_message(struct gompi_stream *s, struct gompi_outgoing *o, const struct gompi_place *at, int bits,
			struct gompi_ongoing *ongoing) {
	const char *call = o->operation->call;
	uint64_t room = message_room(o, at), taken = 0;
	int rc = MPI_SUCCESS;
	if (bits & RECORD_GIVES) {
		taken = result_cost(o->bytes < STREAM_DATA ? o->bytes : STREAM_DATA);
		if ((rc = take_room(s, taken, call)) != MPI_SUCCESS)
			return rc;
		// Every so often one asks: what is under way must not come to a stop when it is much.
		if (gompi_add(&s->results_asked, taken) + taken >= STREAM_RESULTS / 4) {
			gompi_store(&s->results_asked, 0);
			bits |= RECORD_ASKS;
		}
	}
	if (!may_leave(s, room))
		rc = await_lock(s, call);
	struct gompi_message *m = rc == MPI_SUCCESS ? reserve_record(s, room, &rc) : NULL;
	if (m == NULL) {
		gompi_sub_total(&s->results_out, taken);
		return rc;
	}
	gompi_message_write(m, s->w, o, room, STREAM_DATA);
	if (bits & RECORD_GIVES) {
		expect(s, o->result, o->bytes, ongoing);
		gompi_sub_total(&s->results_out, taken - result_cost(o->bytes));
	}
	commit_record(s, m, bits);
	return MPI_SUCCESS;
}

// Sends an operation in as many messages as it takes. What it gives goes to its result, for which the call waits unless
// stays says that it may be written to until the flush.
static int send_operation(struct gompi_stream *s, struct gompi_outgoing *whole, const struct gompi_place *at,
			  bool stays) {
	int bits = RECORD_DUE | (whole->result != NULL ? RECORD_GIVES : 0);
	struct gompi_ongoing *ongoing = NULL;
	if (stays && whole->result != NULL && whole->operation->requests) {
		ongoing = gompi_ongoing_of(s->w, whole->operation);
		stays = ongoing != NULL;
	}
	for (uint64_t done = 0; done < whole->bytes;) {
		struct gompi_outgoing o = gompi_outgoing_rest(whole, done);
		int rc = send_message(s, &o, at, bits, ongoing);
		if (rc != MPI_SUCCESS)
			return rc;
		done += o.bytes;
	}
	if (!(gompi_load(&s->w->flush_more) & FLUSH_SENT))
		gompi_or(&s->w->flush_more, FLUSH_SENT);
	// Only the target knows what is attached there, and whoever calls is told at once, or by what it waits for.
	if (s->w->attached == NULL ? stays || whole->result == NULL : ongoing != NULL)
		return MPI_SUCCESS;
	int rc = ask_and_await(s, gompi_load(&s->due), whole->operation->call);
	return rc == MPI_SUCCESS ? take_class(s) : rc;
}

bool gompi_put_short(struct gompi_win *w, int target, uint64_t offset, const void *origin, uint64_t bytes) {
	struct gompi_stream *s = gompi_stream_known(w, target);
	int class;
	if (s == NULL || lacks_lock(s) || !(gompi_load(&w->flush_more) & FLUSH_SENT) || !may_leave(s, bytes))
		return false;
	struct gompi_message *m = reserve_record(s, bytes, &class);
	if (m == NULL)
		return false;
	*m = (struct gompi_message){.window = (uint32_t)w->handle,
				    .kind = MESSAGE_PUT,
				    .type = (uint16_t)(uintptr_t)MPI_BYTE,
				    .length = (uint16_t)bytes,
				    .offset = offset,
				    .bytes = bytes};
	if (__builtin_expect(bytes == 8, 1))
		memcpy(m->data, origin, 8);
	else
		memcpy(m->data, origin, bytes);
	commit_record(s, m, RECORD_DUE);
	return true;
}

// --- Reads and writes

// A read or write of which the call does not wait for the end. Kept for the next ones.
struct away_transfer {
	struct gompi_transfer transfer;
	struct gompi_stream *s;
	struct away_transfer *next;
	gompi_a32 *over; // of one that is waited for: where its class + 1 goes
	struct gompi_ongoing *ongoing;
};

enum { TRANSFERS_MOST = 1024, TRANSFERS_AT_ONCE = 64 };

static struct {
	struct gompi_mutex mu;
	struct away_transfer *free;
	unsigned made;
	gompi_a32 given; // moves on with each that is given back
} transfers;

static void transfer_done(struct gompi_transfer *t, int class) {
	struct away_transfer *a = (struct away_transfer *)t;
	struct gompi_stream *s = a->s;
	uint32_t none = 0;
	if (a->over != NULL) {
		gompi_store_release(a->over, (uint32_t) class + 1); // the call's own memory: gone after this
	} else {
		if (a->ongoing != NULL)
			gompi_ongoing_part_over(a->ongoing,
						class == MPI_SUCCESS ? NULL : &(struct gompi_reason){.class = class});
		else if (class != MPI_SUCCESS)
			gompi_change_once(&s->class, &none, (uint32_t) class);
		gompi_mutex_take(&transfers.mu);
		a->next = transfers.free;
		transfers.free = a;
		gompi_mutex_give(&transfers.mu);
		gompi_add_total(&transfers.given, 1);
		gompi_sub_total(&s->transfers, 1); // a release: what has come is before it; pairs with transferred
	}
	gompi_wake(&gompi_my_cell()->wait);
}

static bool transfer_given(void *arg) { return gompi_load_acquire(&transfers.given) != *(uint32_t *)arg; }
static bool transfer_over(void *arg) { return gompi_load_acquire((gompi_a32 *)arg) != 0; }

// One that is free, waiting for it if there are many. NULL: *class says why.
static struct away_transfer *take_transfer(struct gompi_stream *s, const char *call, int *class) {
	*class = MPI_SUCCESS;
	for (;;) {
		uint32_t given = gompi_load_total(&transfers.given);
		gompi_mutex_take(&transfers.mu);
		struct away_transfer *a = transfers.free;
		if (a == NULL && transfers.made < TRANSFERS_MOST &&
		    (a = calloc(TRANSFERS_AT_ONCE, sizeof *a)) != NULL) {
			transfers.made += TRANSFERS_AT_ONCE;
			for (int i = 0; i < TRANSFERS_AT_ONCE - 1; i++)
				a[i].next = &a[i + 1];
		}
		unsigned made = transfers.made;
		if (a != NULL)
			transfers.free = a->next;
		gompi_mutex_give(&transfers.mu);
		if (a != NULL)
			return a;
		struct gompi_waiting what = {.call = call, .peer = s->peer, .object = s->w->handle};
		*class =
			made == 0 ? MPI_ERR_NO_MEM : gompi_await(&gompi_my_cell()->wait, transfer_given, &given, &what);
		if (*class != MPI_SUCCESS)
			return NULL;
	}
}

// Reads or writes bytes of the member's memory from offset on. stays: as in send_operation.
static int move_large(struct gompi_stream *s, const struct gompi_operation *operation, uint64_t offset, char *local,
		      uint64_t bytes, bool write, bool stays) {
	const char *call = operation->call;
	struct gompi_ongoing *ongoing = NULL;
	if (stays && operation->requests) {
		ongoing = gompi_ongoing_of(s->w, operation);
		stays = ongoing != NULL;
	}
	struct gompi_win *w = s->w;
	const struct gompi_win_away *there = &w->away[s->rank];
	if (offset > there->size || bytes > there->size - offset)
		return MPI_ERR_RMA_RANGE;
	int rc = await_lock(s, call);
	if (rc != MPI_SUCCESS)
		return rc;
	struct away_transfer mine, *a = stays ? take_transfer(s, call, &rc) : &mine;
	if (a == NULL)
		return rc;
	gompi_a32 over = 0;
	*a = (struct away_transfer){.transfer = {.done = transfer_done,
						 .local = local,
						 .bytes = bytes,
						 .region = there->region,
						 .offset = offset,
						 .peer = s->peer,
						 .write = write},
				    .s = s,
				    .over = stays ? NULL : &over,
				    .ongoing = ongoing};
	if (!(gompi_load(&w->flush_more) & FLUSH_SENT))
		gompi_or(&w->flush_more, FLUSH_SENT);
	if (stays)
		gompi_add_total(&s->transfers, 1);
	if (a->ongoing != NULL)
		gompi_ongoing_by_transfer(a->ongoing);
	gompi_fabric_transfer(&a->transfer);
	if (stays)
		return MPI_SUCCESS;
	struct gompi_waiting what = {.call = call, .peer = s->peer, .object = w->handle};
	// Whatever happens the network may use the memory until it says that it is done.
	while (gompi_load_acquire(&over) == 0 &&
	       gompi_await(&gompi_my_cell()->wait, transfer_over, &over, &what) != MPI_SUCCESS)
		gompi_fabric_progress();
	return (int)gompi_load_acquire(&over) - 1;
}

// --- The way

static int fabric_move(struct gompi_win *w, const struct gompi_operation *operation, const struct gompi_place *at,
		       char *local, int64_t bytes) {
	struct gompi_stream *s = gompi_stream_of(w, operation->target);
	if (s == NULL)
		return MPI_ERR_NO_MEM;
	int rc = lock_first(s);
	if (rc != MPI_SUCCESS)
		return rc;
	bool put = operation->kind == RMA_PUT, contiguous = at->type->flags & GOMPI_TYPE_CONTIGUOUS;
	bool stays = put ? gompi_is_applications(operation, local, operation->origin, operation->origin_type)
			 : gompi_is_applications(operation, local, operation->result, operation->result_type);
	struct gompi_cursor cursor;
	struct gompi_outgoing o = gompi_outgoing_move(operation, at, local, bytes);
	if (!contiguous)
		gompi_cursor_init(o.pieces = &cursor, at->type, at->count, GOMPI_BYTES);
	else if (w->away[s->rank].region.key != 0 && gompi_transfer_pays(s->peer, (uint64_t)bytes))
		return move_large(s, operation, o.offset, local, o.bytes, put, stays);
	return send_operation(s, &o, at, stays);
}

static int fabric_update(struct gompi_win *w, const struct gompi_operation *operation, const struct gompi_place *at,
			 const char *origin, char *result) {
	struct gompi_stream *s = gompi_stream_of(w, operation->target);
	if (s == NULL)
		return MPI_ERR_NO_MEM;
	int rc = lock_first(s);
	if (rc != MPI_SUCCESS)
		return rc;
	struct gompi_cursor cursor;
	struct gompi_outgoing o = gompi_outgoing_update(operation, at, origin, result);
	if (!(at->type->flags & GOMPI_TYPE_ELEM_CONTIGUOUS))
		gompi_cursor_init(o.pieces = &cursor, at->type, at->count, GOMPI_ELEMENTS);
	bool stays =
		result != NULL && gompi_is_applications(operation, result, operation->result, operation->result_type);
	return send_operation(s, &o, at, stays);
}

// What ends with a flush: everything, or only what this process' buffers are needed for.
static uint64_t end_number(struct gompi_stream *s, bool local) { return gompi_load(local ? &s->due_here : &s->due); }

// Waits until a stream has come to a number and nothing is transferred any more; the first error of its operations.
static int end_stream(struct gompi_stream *s, uint64_t number, const char *call) {
	int rc = gompi_load_acquire(&s->done) >= number ? MPI_SUCCESS : await(s, number_reached, number, call);
	if (gompi_load_acquire(&s->transfers) != 0) {
		int last = await(s, transferred, 0, call);
		rc = rc == MPI_SUCCESS ? last : rc;
	}
	int class = take_class(s);
	return rc == MPI_SUCCESS ? class : rc;
}

// The same for target, or for all streams: but for that to the process follower, of which only what comes back is
// waited for.
static int end_streams(struct gompi_win *w, int target, bool local, int follower, const char *call) {
	struct gompi_stream *s;
	if (target != GOMPI_ALL) {
		s = gompi_stream_known(w, target);
		if (s == NULL)
			return MPI_SUCCESS;
		uint64_t number = end_number(s, local);
		int rc = ask_stream(s, number);
		return rc == MPI_SUCCESS ? end_stream(s, number, call) : rc;
	}
	int rc = MPI_SUCCESS;
	for (s = gompi_stream_first(w); s != NULL; s = s->next) { // all are asked before any answer is waited for
		int last = ask_stream(s, end_number(s, local || s->peer == follower));
		rc = rc == MPI_SUCCESS ? last : rc;
	}
	for (s = gompi_stream_first(w); s != NULL; s = s->next) {
		// Another thread may have sent more, and not have asked.
		uint64_t number = end_number(s, local || s->peer == follower), asked = gompi_load(&s->asked);
		int last = rc == MPI_SUCCESS ? end_stream(s, number < asked ? number : asked, call) : rc;
		rc = rc == MPI_SUCCESS ? last : rc;
	}
	return rc;
}

static int fabric_flush(struct gompi_win *w, int target, const char *call) {
	return end_streams(w, target, false, -1, call);
}

static int fabric_flush_local(struct gompi_win *w, int target, const char *call) {
	return end_streams(w, target, true, -1, call);
}

static int fabric_settle(struct gompi_win *w, int peer, const char *call) {
	return end_streams(w, GOMPI_ALL, false, peer, call);
}

// The lock that this thread has asked for last, if it was of a member on another node: its number of those of the
// stream.
static _Thread_local struct {
	uintptr_t window;
	int target;
	uint32_t lock;
} asked_last __attribute__((tls_model("initial-exec")));

int gompi_lock_in_order(const char *call) {
	struct gompi_win *w = asked_last.window == 0 ? NULL : gompi_win_get((MPI_Win)asked_last.window);
	asked_last.window = 0;
	if (w == NULL || w->away == NULL || (uint32_t)asked_last.target >= w->n)
		return MPI_SUCCESS;
	// One that another thread has asked for since is that thread's affair: it may be waited for for long.
	struct gompi_stream *s = gompi_stream_known(w, asked_last.target);
	int rc = MPI_SUCCESS;
	if (s == NULL)
		return rc;
	gompi_mutex_take(&s->lock_mu);
	uint32_t state = gompi_load(&w->targets[s->rank].state);
	bool mine = gompi_load(&s->locks) == asked_last.lock && locks_one(state);
	if (mine)
		rc = send_lock_locked(s, STREAM_LOCK, state & TARGET_EXCLUSIVE);
	gompi_mutex_give(&s->lock_mu);
	return mine && rc == MPI_SUCCESS ? await_lock(s, call) : rc;
}

// The first operation takes the lock: lock_first.
static int fabric_lock(struct gompi_win *w, int target, bool exclusive, const char *call) {
	if (target == GOMPI_ALL)
		return MPI_SUCCESS;
	struct gompi_stream *s = gompi_stream_of(w, target);
	if (s == NULL)
		return MPI_ERR_NO_MEM;
	asked_last.window = w->handle;
	asked_last.target = target;
	asked_last.lock = gompi_add(&s->locks, 1) + 1;
	return MPI_SUCCESS;
}

// Sends the end of the lock, after all that has been done under it. 0 or an error class.
static int send_unlock(struct gompi_stream *s, const char *call) {
	int rc = gompi_load_acquire(&s->transfers) == 0 ? MPI_SUCCESS : await(s, transferred, 0, call);
	return rc == MPI_SUCCESS ? send_word(s, STREAM_UNLOCK, false, RECORD_ASKS | RECORD_DUE) : rc;
}

static int end_unlock(struct gompi_stream *s, const char *call) {
	int rc = end_stream(s, gompi_load(&s->due), call);
	gompi_store_release(&s->has_lock, 0);
	return rc;
}

static int fabric_unlock(struct gompi_win *w, int target, bool exclusive, const char *call) {
	struct gompi_stream *s;
	int rc = MPI_SUCCESS;
	if (target != GOMPI_ALL) {
		if ((s = gompi_stream_of(w, target)) == NULL)
			return MPI_ERR_NO_MEM;
		// If nothing has been done under it it has still been asked for. Another thread may ask for it in its
		// order just now, so that only one of the two sends it.
		if (!gompi_load_acquire(&s->has_lock)) {
			gompi_mutex_take(&s->lock_mu);
			rc = send_lock_locked(s, STREAM_LOCK, exclusive);
			gompi_mutex_give(&s->lock_mu);
		}
		if (rc == MPI_SUCCESS)
			rc = send_unlock(s, call);
		return rc == MPI_SUCCESS ? end_unlock(s, call) : rc;
	}
	for (s = gompi_stream_first(w); s != NULL; s = s->next)
		if (gompi_load_acquire(&s->has_lock)) {
			int last = send_unlock(s, call);
			rc = rc == MPI_SUCCESS ? last : rc;
		}
	for (s = gompi_stream_first(w); s != NULL; s = s->next)
		if (gompi_load_acquire(&s->has_lock)) {
			int last = rc == MPI_SUCCESS ? end_unlock(s, call) : rc;
			rc = rc == MPI_SUCCESS ? last : rc;
		}
	return rc;
}

static int fabric_post(struct gompi_win *w, int origin, const char *call) {
	struct gompi_stream *s = gompi_stream_of(w, origin);
	if (s == NULL)
		return MPI_ERR_NO_MEM;
	gompi_stream_posted(s);
	return MPI_SUCCESS;
}

// Sends the start if no operation has, and sees to it that not too many epochs wait there for posts.
static int before_complete(struct gompi_stream *s, const char *call) {
	int rc = gompi_load_acquire(&s->has_lock) ? MPI_SUCCESS : send_word(s, STREAM_START, false, 0);
	if (rc == MPI_SUCCESS && gompi_load_acquire(&s->done) < gompi_load(&s->locked) &&
	    gompi_add(&s->ahead, 2 * sizeof(struct gompi_message)) > STREAM_AHEAD)
		rc = await_lock(s, call);
	return rc;
}

static int fabric_complete(struct gompi_win *w, int target, const char *call) {
	struct gompi_stream *s = gompi_stream_of(w, target);
	if (s == NULL)
		return MPI_ERR_NO_MEM;
	int rc = before_complete(s, call);
	gompi_store_release(&s->has_lock, 0);
	// Records are applied before the one that says so, but what comes back must have come.
	if (rc == MPI_SUCCESS && gompi_load_acquire(&s->transfers) != 0)
		rc = await(s, transferred, 0, call);
	if (rc != MPI_SUCCESS)
		return rc;
	uint64_t here = end_number(s, true);
	bool asks = gompi_load_acquire(&s->done) < here;
	rc = send_word(s, STREAM_COMPLETE, false, asks ? RECORD_ASKS : 0);
	if (!asks)
		gompi_fabric_push(s->peer);
	return rc == MPI_SUCCESS ? end_stream(s, here, call) : rc;
}

const struct gompi_way gompi_way_fabric = {
	.name = "fabric",
	.move = fabric_move,
	.update = fabric_update,
	.flush = fabric_flush,
	.flush_local = fabric_flush_local,
	.settle = fabric_settle,
	.lock = fabric_lock,
	.unlock = fabric_unlock,
	.post = fabric_post,
	.complete = fabric_complete,
};
