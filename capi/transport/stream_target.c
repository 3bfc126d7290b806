// The target's side of streams (stream.h): applies records from processes of other nodes in their order. A record may
// request a lock that is not free, or start an epoch for which no exposure epoch is open. Then the following records of
// the stream are queued until the target can continue.
//
// One thread at a time delivers records. But any thread that makes progress may grant a waiting lock, so a mutex
// (target_mu) protects all state. The mutex is held while an operation is applied. No thread waits for an answer of
// another process while it holds target_mu.
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/sparse.h"
#include "base/wait.h"
#include "transport/rma_request.h"
#include "transport/stream.h"
#include "win/lock.h"
#include "win/error_detail.h"
#include "win/win_table.h"

static struct gompi_mutex target_mu;
static struct gompi_stream *lock_streams; // list of streams that hold a lock or wait for a lock
static gompi_a32 locks_waiting;           // number of streams that wait for a lock

// --- Answers

// Reserves a record for an answer with `bytes` bytes of data. Returns NULL if the peer has failed.
static struct gompi_answer *reserve_answer(int peer, uint64_t bytes) {
	int class;
	return (struct gompi_answer *)(void *)gompi_fabric_reserve(
		peer, FABRIC_RMA, sizeof(struct gompi_answer) + bytes, FABRIC_ANSWER, &class);
}

static void send_answer(struct gompi_stream *s, int flags) {
	struct gompi_answer *m = reserve_answer(s->peer, 0);
	if (m == NULL)
		return;
	*m = (struct gompi_answer){.head = {.kind = PACKET_DONE,
					    .flags = (uint8_t)flags,
					    .window = (uint32_t)s->w->handle,
					    .number = s->applied},
				   .from = s->w->me,
				   .class = (uint16_t)s->unanswered_class,
				   .detail_code = (uint16_t)s->unanswered_detail.code,
				   .a = s->unanswered_detail.a,
				   .b = s->unanswered_detail.b};
	s->unanswered_class = MPI_SUCCESS;
	s->unanswered_detail = (struct gompi_error_detail){0};
	gompi_fabric_commit(s->peer, sizeof *m, FABRIC_NOW);
}

// Rejects a record for a window or member that does not exist. Sends an error if the record requests an answer.
static void reject_record(int peer, const struct gompi_packet *rejected, int class) {
	struct gompi_answer *m = rejected->head.flags & PACKET_WANTS_ANSWER ? reserve_answer(peer, 0) : NULL;
	if (m == NULL)
		return;
	*m = (struct gompi_answer){
		.head = {.kind = PACKET_DONE, .flags = PACKET_STREAM_END, .window = rejected->head.window},
		.from = -1,
		.class = (uint16_t) class,
		.detail_code = class == MPI_ERR_WIN ? DETAIL_NO_WINDOW : DETAIL_NONE,
		.a = rejected->head.window,
		.b = (uint64_t)rejected->origin};
	gompi_fabric_commit(peer, sizeof *m, FABRIC_NOW);
}

static int kind_without_flags(const struct gompi_packet *m) {
	return m->head.kind & ~(PACKET_LAYOUT | PACKET_IN_ORDER);
}

static bool returns_data(const struct gompi_packet *m) {
	int kind = kind_without_flags(m);
	return kind == PACKET_GET || kind == PACKET_FETCH || kind == PACKET_COMPARE_AND_SWAP;
}

// Applies an operation that returns a result, and sends the result. Not inlined, so that other records need fewer
// registers.
static __attribute__((noinline)) void send_result(struct gompi_stream *s, const struct gompi_packet *m,
						  bool wants_answer) {
	static _Alignas(GOMPI_CACHE_LINE) char reply[STREAM_DATA_BYTES]; // under target_mu
	bool get = kind_without_flags(m) == PACKET_GET;
	// The data of a get is copied directly into the reserved record. So this thread holds the peer's lock during
	// the copy only. Updates take longer, so they are applied before the record is reserved, without the peer's
	// lock.
	int class = get ? MPI_SUCCESS : gompi_packet_apply(m, reply, sizeof reply, NULL);
	uint64_t bytes =
		class == MPI_SUCCESS && m->bytes <= STREAM_DATA_BYTES ? m->bytes : 0; // a larger result is rejected
	struct gompi_answer *r = reserve_answer(s->peer, bytes);
	if (r == NULL)
		return;
	if (get)
		class = gompi_packet_apply(m, r->data, STREAM_DATA_BYTES, NULL); // writes m->bytes bytes
	else
		gompi_copy_small(r->data, reply, bytes);
	struct gompi_error_detail detail = {0};
	if (class != MPI_SUCCESS)
		detail = gompi_consume_error_detail(class);
	const uint16_t length = (uint16_t)(class == MPI_SUCCESS ? bytes : 0);
	*r = (struct gompi_answer){
		.head = {.kind = PACKET_RESULT, .length = length, .window = m->head.window, .number = s->applied + 1},
		.from = s->w->me,
		.class = (uint16_t) class,
		.detail_code = (uint16_t)detail.code,
		.a = detail.a,
		.b = detail.b};
	gompi_fabric_commit(s->peer, sizeof *r + length, wants_answer ? FABRIC_NOW : FABRIC_AFTER_BATCH);
}

// --- Locks

static void remove_from_locks(struct gompi_stream *s) {
	struct gompi_stream **p = &lock_streams;
	while (*p != NULL && *p != s)
		p = &(*p)->next_lock;
	if (*p != NULL)
		*p = s->next_lock;
}

// Acquires this process' lock for the stream's member, or queues for the lock. Returns 0 or an error class.
static int acquire_lock_for(struct gompi_stream *s, bool exclusive) {
	if (s->lock_held != HOLDS_NOTHING)
		return gompi_set_error_detail(MPI_ERR_INTERN, DETAIL_ALREADY_LOCKED, s->applied + 1, s->lock_held);
	s->is_exclusive = exclusive;
	s->next_lock = lock_streams;
	lock_streams = s;
	if (gompi_lock_try_newcomer(s->w, s->w->me, exclusive)) {
		s->lock_held = exclusive ? HOLDS_EXCLUSIVE : HOLDS_SHARED;
		return MPI_SUCCESS;
	}
	// This addition precedes gompi_lock_enqueue. Once the lock's queue has this ticket, an unlock may ring this
	// process' doorbell, and has_lock_work must then return true.
	gompi_add_seq_cst(&locks_waiting, 1);
	s->lock_failures = gompi_load(&gompi_member(s->w, s->w->me)->lock_failures);
	s->ticket = gompi_lock_enqueue(s->w);
	// An unlock between gompi_lock_try_newcomer and gompi_lock_enqueue has found no ticket and rung no doorbell, so
	// try once more.
	if (gompi_lock_try_ticket(s->w, s->ticket, exclusive)) {
		gompi_sub_seq_cst(&locks_waiting, 1);
		s->lock_held = exclusive ? HOLDS_EXCLUSIVE : HOLDS_SHARED;
		return MPI_SUCCESS;
	}
	s->waits_for = WAITS_FOR_LOCK;
	return MPI_SUCCESS;
}

static int release_lock_for(struct gompi_stream *s) {
	if (s->lock_held == HOLDS_NOTHING)
		return gompi_set_error_detail(MPI_ERR_INTERN, DETAIL_NOT_LOCKED, s->applied + 1,
					      s->arrived - s->applied);
	bool exclusive = s->lock_held == HOLDS_EXCLUSIVE;
	s->lock_held = HOLDS_NOTHING;
	remove_from_locks(s);
	gompi_unlock_any(s->w, s->w->me, exclusive);
	return MPI_SUCCESS;
}

// --- Records

static void consume_post(struct gompi_stream *s) {
	s->unused_posts--;
	s->is_started = true;
}

// Begins an access epoch of the origin (the stream's member) if this process has posted to it. Otherwise makes the
// stream wait for the post. Returns 0 or an error class.
static int begin_access_epoch(struct gompi_stream *s) {
	if (s->is_started)
		return gompi_set_error_detail(MPI_ERR_INTERN, DETAIL_ALREADY_STARTED, s->applied + 1, s->unused_posts);
	if (s->unused_posts > 0)
		consume_post(s);
	else
		s->waits_for = WAITS_FOR_POST;
	return MPI_SUCCESS;
}

static int end_access_epoch(struct gompi_stream *s) {
	if (!s->is_started)
		return gompi_set_error_detail(MPI_ERR_INTERN, DETAIL_NOT_STARTED, s->applied + 1, s->unused_posts);
	s->is_started = false;
	gompi_member_add_complete(gompi_member(s->w, s->w->me));
	return MPI_SUCCESS;
}

// Applies the next record of a stream. If the record requests a lock or an access epoch that cannot begin yet, makes
// the stream wait.
static void apply_record(struct gompi_stream *s, const struct gompi_packet *m) {
	int class = MPI_SUCCESS;
	bool wants_answer = m->head.flags & PACKET_WANTS_ANSWER;
	switch (m->head.kind) {
	case PACKET_LOCK:
		class = acquire_lock_for(s, m->op != 0);
		if (s->waits_for != WAITS_FOR_NOTHING)
			return; // resume_stream counts the record as applied when the lock is acquired
		break;
	case PACKET_UNLOCK:
		class = release_lock_for(s);
		break;
	case PACKET_FLUSH:
		break;
	case PACKET_START:
		class = begin_access_epoch(s);
		if (s->waits_for != WAITS_FOR_NOTHING)
			return;
		break;
	case PACKET_PUT: // without PACKET_LAYOUT, so the data is contiguous
		class = gompi_packet_apply_put(s->w, m, STREAM_DATA_BYTES);
		break;
	case PACKET_COMPLETE:
		class = end_access_epoch(s);
		break;
	default:
		if (returns_data(m)) {
			send_result(s, m, wants_answer); // the result also reports errors and acknowledges the record
			s->applied++;
			return;
		}
		class = gompi_packet_apply(m, NULL, STREAM_DATA_BYTES, NULL);
	}
	s->applied++;
	if (class != MPI_SUCCESS && s->unanswered_class == MPI_SUCCESS) {
		s->unanswered_class = class;
		s->unanswered_detail = gompi_consume_error_detail(class);
	}
	if (wants_answer || class != MPI_SUCCESS)
		send_answer(s, 0);
}

// Stops a stream because of a violation of the protocol, a lack of memory or a failed process. Sends the error to the
// member, with the detail that gompi_set_error_detail has stored.
static void stop_stream(struct gompi_stream *s, int class) {
	s->is_stopped = true;
	if (s->lock_held != HOLDS_NOTHING)
		release_lock_for(s);
	s->unanswered_class = class;
	s->unanswered_detail = gompi_consume_error_detail(class);
	send_answer(s, PACKET_STREAM_END);
}

// Queues a record until the stream continues.
static void queue_record(struct gompi_stream *s, const struct gompi_packet *m) {
	uint64_t length = sizeof *m + m->head.length, entry_bytes = sizeof length + (length + 7) / 8 * 8;
	if (s->queue_end + entry_bytes > s->queue_capacity) {
		uint64_t capacity = s->queue_capacity == 0 ? 1024 : 2 * s->queue_capacity;
		while (capacity < s->queue_end + entry_bytes)
			capacity *= 2;
		char *queue = capacity > STREAM_MAX_QUEUED ? NULL : realloc(s->queue, capacity);
		if (queue == NULL) {
			stop_stream(s, capacity > STREAM_MAX_QUEUED
					       ? gompi_set_error_detail(MPI_ERR_INTERN, DETAIL_QUEUE_FULL, capacity,
									STREAM_MAX_QUEUED)
					       : gompi_set_error_detail(MPI_ERR_NO_MEM, DETAIL_NO_MEMORY, capacity,
									s->queue_end));
			return;
		}
		s->queue = queue;
		s->queue_capacity = capacity;
	}
	memcpy(s->queue + s->queue_end, &length, sizeof length);
	gompi_copy_small(s->queue + s->queue_end + sizeof length, m, length);
	s->queue_end += entry_bytes;
}

static void free_record_queue(struct gompi_stream *s) {
	free(s->queue);
	s->queue = NULL;
	s->queue_first = s->queue_end = s->queue_capacity = 0;
}

// Continues a stream whose wait has ended, by applying the queued records.
static void resume_stream(struct gompi_stream *s) {
	s->waits_for = WAITS_FOR_NOTHING;
	s->applied++;
	while (s->queue_first < s->queue_end && s->waits_for == WAITS_FOR_NOTHING && !s->is_stopped) {
		uint64_t length;
		memcpy(&length, s->queue + s->queue_first, sizeof length);
		const char *m = s->queue + s->queue_first + sizeof length;
		s->queue_first += sizeof length + (length + 7) / 8 * 8;
		apply_record(s, (const struct gompi_packet *)(const void *)m);
	}
	if (s->queue_first == s->queue_end)
		free_record_queue(s);
}

static void resume_locked_stream(struct gompi_stream *s) {
	gompi_sub_seq_cst(&locks_waiting, 1);
	s->lock_held = s->is_exclusive ? HOLDS_EXCLUSIVE : HOLDS_SHARED;
	if (gompi_load(&gompi_member(s->w, s->w->me)->lock_failures) != s->lock_failures)
		s->unanswered_class = MPI_ERR_PROC_ABORTED; // a holder has failed during the wait
	resume_stream(s);
}

void gompi_stream_on_post(struct gompi_stream *s) {
	gompi_mutex_lock(&target_mu);
	s->unused_posts++;
	if (s->waits_for == WAITS_FOR_POST) {
		consume_post(s);
		resume_stream(s);
	}
	gompi_mutex_unlock(&target_mu);
}

// Handles a record for a member of a window. The caller holds target_mu.
static void deliver_packet(int peer, const struct gompi_packet *m) {
	struct gompi_win *w = gompi_win_get((MPI_Win)(uintptr_t)m->head.window);
	if (w == NULL || w->remote == NULL || (uint32_t)m->origin >= w->n || !gompi_win_is_remote(w, m->origin) ||
	    gompi_win_peer(w, m->origin) != peer) {
		reject_record(peer, m, MPI_ERR_WIN);
		return;
	}
	struct gompi_stream *s = gompi_stream_get(w, m->origin);
	if (s == NULL) {
		reject_record(peer, m, MPI_ERR_NO_MEM);
		return;
	}
	if (!s->is_stopped && m->head.number != s->arrived + 1)
		stop_stream(s, gompi_set_error_detail(MPI_ERR_INTERN, DETAIL_OUT_OF_ORDER, m->head.number, s->arrived));
	else if (s->is_stopped && (m->head.flags & PACKET_WANTS_ANSWER))
		stop_stream(s, gompi_set_error_detail(MPI_ERR_INTERN, DETAIL_AFTER_STOP, m->head.number, s->applied));
	if (!s->is_stopped) {
		s->arrived++;
		if (s->waits_for != WAITS_FOR_NOTHING)
			queue_record(s, m);
		else
			apply_record(s, m);
	}
}

static void on_record(int peer, const char *data, size_t length) {
	const struct gompi_packet *m = (const struct gompi_packet *)(const void *)data;
	if (length < sizeof *m || m->head.length > length - sizeof *m)
		return;
	if (m->head.kind == PACKET_DONE || m->head.kind == PACKET_RESULT) {
		gompi_stream_on_answer(peer, (const struct gompi_answer *)(const void *)data);
		return;
	}
	gompi_mutex_lock(&target_mu); // keeps the window alive until the record has been applied: see cancel_lock_waits
	deliver_packet(peer, m);
	gompi_mutex_unlock(&target_mu);
}

// --- Lock requests that wait

// The number of failed processes at the last check of the locks.
static gompi_a32 failures_seen;

// Returns true if an origin on another node waits for this process' lock, or if a process has failed since the last
// check. A failed process may hold a lock, which must be released for other origins on any node.
static bool has_lock_work(void) {
	return gompi_load(&locks_waiting) != 0 ||
	       __builtin_expect(gompi_failure_count() != gompi_load(&failures_seen), 0);
}

// Ends the wait of a stream for a lock that may never be released: a process of this node that may hold the lock has
// failed.
static void abort_lock_wait(struct gompi_stream *s) {
	s->waits_for = WAITS_FOR_NOTHING;
	gompi_sub_seq_cst(&locks_waiting, 1);
	remove_from_locks(s);
	stop_stream(s, MPI_ERR_PROC_ABORTED);
}

// Grants locks to waiting streams, and releases the locks of failed origins and members. Returns true if it has granted
// a lock.
static bool poll_lock_queue(void) {
	bool progressed = false;
	if (!has_lock_work())
		return false;
	gompi_mutex_lock(&target_mu);
	// This store precedes the checks, so that a failure that is found later causes another check.
	gompi_store(&failures_seen, gompi_failure_count());
	for (struct gompi_stream *s = lock_streams, *next; s != NULL; s = next) {
		next = s->next_lock;
		bool peer_failed = gompi_fabric_peer_failed(s->peer);
		if (s->waits_for == WAITS_FOR_LOCK && gompi_lock_try_ticket(s->w, s->ticket, s->is_exclusive)) {
			resume_locked_stream(s);
			progressed = true;
			// the queued records of s may have released a lock that other streams wait for
			next = lock_streams;
		} else if (s->waits_for == WAITS_FOR_LOCK && __builtin_expect(gompi_failure_count() != 0, 0)) {
			if (s->w->shared_locks != NULL)
				gompi_lock_release_failed(s->w, s->w->me);
			else if (gompi_win_failed_local(s->w) != GOMPI_NONE_FAILED)
				abort_lock_wait(s);
		}
		if ((peer_failed || s->is_stopped) && s->lock_held != HOLDS_NOTHING) {
			s->is_stopped = true;
			release_lock_for(s);
			next = lock_streams;
		}
	}
	gompi_mutex_unlock(&target_mu);
	return progressed;
}

// Ends all waits for locks in a window that is being freed, and stops its streams.
static void cancel_lock_waits(struct gompi_win *w) {
	gompi_mutex_lock(&target_mu);
	for (struct gompi_stream *s = gompi_stream_first(w); s != NULL; s = s->next) {
		remove_from_locks(s);
		if (s->waits_for == WAITS_FOR_LOCK)
			gompi_sub_seq_cst(&locks_waiting, 1);
		s->waits_for = WAITS_FOR_NOTHING;
		s->is_stopped = true;
	}
	gompi_mutex_unlock(&target_mu);
}

static void free_streams(struct gompi_win *w) {
	struct gompi_stream *s = gompi_stream_first(w);
	while (s != NULL) {
		struct gompi_stream *next = s->next;
		gompi_rma_request_end_stream(s);
		free(gompi_load(&s->results));
		free(s->queue);
		free(s);
		s = next;
	}
	gompi_sparse_free(gompi_load(&w->streams), gompi_streams_bytes(w));
}

void gompi_stream_open(void) {
	static const struct gompi_port_handler handler = {.on_record = on_record};
	static const struct gompi_service service = {.has_work = has_lock_work, .serve = poll_lock_queue};
	gompi_fabric_set_handler(FABRIC_RMA, &handler);
	gompi_service_add(&service);
	gompi_win_close_hook = cancel_lock_waits;
	gompi_win_clear_hook = free_streams;
}
