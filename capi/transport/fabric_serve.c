// The target's side of streams (stream.h): records from processes of other nodes, applied in their order. A record may
// ask for a lock that is not free, or for an exposure epoch that is not open. Then it and the records after it in the
// stream are kept until the target can continue.
//
// One thread at a time delivers records. But any thread that makes progress may grant a waiting lock, so one mutex
// (serve_mu) protects all state. It is held while an operation is applied. No thread waits for another process' answer
// while it holds it.
#include <stdlib.h>
#include <string.h>

#include "base/loss.h"
#include "base/sparse.h"
#include "base/wait.h"
#include "transport/ongoing.h"
#include "transport/stream.h"
#include "win/lock.h"
#include "win/why.h"
#include "win/win_table.h"

static struct gompi_mutex serve_mu;
static struct gompi_stream *locks; // list of streams that hold a lock or wait for one
static gompi_a32 locks_waiting;

// --- Answers

// Reserves an answer with `bytes` bytes of data. Returns NULL if the peer has failed.
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
				   .class = (uint16_t)s->refused,
				   .why = (uint16_t)s->why.why,
				   .a = s->why.a,
				   .b = s->why.b};
	s->refused = MPI_SUCCESS;
	s->why = (struct gompi_reason){0};
	gompi_fabric_commit(s->peer, sizeof *m, FABRIC_NOW);
}

// Rejects a record for a window or member that does not exist, if the record asks for an answer.
static void refuse_record(int peer, const struct gompi_packet *of, int class) {
	struct gompi_answer *m = of->head.flags & PACKET_ASKS ? reserve_answer(peer, 0) : NULL;
	if (m == NULL)
		return;
	*m = (struct gompi_answer){.head = {.kind = PACKET_DONE, .flags = PACKET_BROKEN, .window = of->head.window},
				   .from = -1,
				   .class = (uint16_t) class,
				   .why = class == MPI_ERR_WIN ? WHY_WINDOW : WHY_UNSAID,
				   .a = of->head.window,
				   .b = (uint64_t)of->origin};
	gompi_fabric_commit(peer, sizeof *m, FABRIC_NOW);
}

static int plain_kind(const struct gompi_packet *m) { return m->head.kind & ~(PACKET_LAYOUT | PACKET_IN_ORDER); }

static bool gives(const struct gompi_packet *m) {
	int kind = plain_kind(m);
	return kind == PACKET_GET || kind == PACKET_FETCH || kind == PACKET_COMPARE_AND_SWAP;
}

// Applies an operation that returns a result, and sends the result. Not inlined: other records need fewer registers.
static __attribute__((noinline)) void give_answer(struct gompi_stream *s, const struct gompi_packet *m, bool asks) {
	static _Alignas(GOMPI_LINE) char reply[STREAM_DATA]; // under serve_mu
	bool get = plain_kind(m) == PACKET_GET;
	// A get is copied directly into the reserved record: other threads wait for the peer's lock only during a copy.
	// Updates are applied first, without the peer's lock.
	int class = get ? MPI_SUCCESS : gompi_packet_apply(m, reply, sizeof reply, NULL);
	uint64_t bytes = class == MPI_SUCCESS && m->bytes <= STREAM_DATA ? m->bytes : 0; // larger results are rejected
	struct gompi_answer *r = reserve_answer(s->peer, bytes);
	if (r == NULL)
		return;
	if (get)
		class = gompi_packet_apply(m, r->data, STREAM_DATA, NULL); // uses m->bytes of it
	else
		gompi_copy_few(r->data, reply, bytes);
	struct gompi_reason why = {0};
	if (class != MPI_SUCCESS)
		why = gompi_reason_take(class);
	const uint16_t length = (uint16_t)(class == MPI_SUCCESS ? bytes : 0);
	*r = (struct gompi_answer){
		.head = {.kind = PACKET_RESULT, .length = length, .window = m->head.window, .number = s->applied + 1},
		.from = s->w->me,
		.class = (uint16_t) class,
		.why = (uint16_t)why.why,
		.a = why.a,
		.b = why.b};
	gompi_fabric_commit(s->peer, sizeof *r + length, asks ? FABRIC_NOW : FABRIC_DONE);
}

// --- Locks

static void leave_locks(struct gompi_stream *s) {
	struct gompi_stream **p = &locks;
	while (*p != NULL && *p != s)
		p = &(*p)->next_lock;
	if (*p != NULL)
		*p = s->next_lock;
}

// Acquires the lock for the member, or queues for it. Returns an error class.
static int take_lock_for(struct gompi_stream *s, bool exclusive) {
	struct gompi_win_member *m = gompi_member(s->w, s->w->me);
	if (s->holds != HOLDS_NOTHING)
		return gompi_because(MPI_ERR_INTERN, WHY_LOCKED_ALREADY, s->applied + 1, s->holds);
	s->exclusive = exclusive;
	s->next_lock = locks;
	locks = s;
	if (gompi_lock_try(m, exclusive, false)) {
		s->holds = exclusive ? HOLDS_EXCLUSIVE : HOLDS_SHARED;
		return MPI_SUCCESS;
	}
	// Before the queue entry: from its ticket on, an unlock may ring this process' doorbell, and somebody_waits
	// must then return true.
	gompi_add_total(&locks_waiting, 1);
	s->ticket = gompi_lock_queue(m);
	// An unlock before there was a ticket has woken no thread of this process. So this checks once more.
	if (gompi_lock_turn(m, s->ticket, exclusive)) {
		gompi_sub_total(&locks_waiting, 1);
		s->holds = exclusive ? HOLDS_EXCLUSIVE : HOLDS_SHARED;
		return MPI_SUCCESS;
	}
	s->waits = WAITS_FOR_LOCK;
	return MPI_SUCCESS;
}

static int give_lock_back(struct gompi_stream *s) {
	if (s->holds == HOLDS_NOTHING)
		return gompi_because(MPI_ERR_INTERN, WHY_NOT_LOCKED, s->applied + 1, s->arrived - s->applied);
	bool exclusive = s->holds == HOLDS_EXCLUSIVE;
	s->holds = HOLDS_NOTHING;
	leave_locks(s);
	gompi_unlock(s->w, s->w->me, exclusive);
	return MPI_SUCCESS;
}

// --- Records

static void use_post(struct gompi_stream *s) {
	s->posts--;
	s->started = true;
}

// Begins an access epoch of the stream's member, or makes the stream wait for an exposure epoch. Returns an error
// class.
static int start_here(struct gompi_stream *s) {
	if (s->started)
		return gompi_because(MPI_ERR_INTERN, WHY_STARTED_ALREADY, s->applied + 1, s->posts);
	if (s->posts > 0)
		use_post(s);
	else
		s->waits = WAITS_FOR_POST;
	return MPI_SUCCESS;
}

static int complete_here(struct gompi_stream *s) {
	if (!s->started)
		return gompi_because(MPI_ERR_INTERN, WHY_NOT_STARTED, s->applied + 1, s->posts);
	s->started = false;
	gompi_member_completed(gompi_member(s->w, s->w->me));
	return MPI_SUCCESS;
}

// Applies the next record of a stream, or makes the stream wait.
static void apply_record(struct gompi_stream *s, const struct gompi_packet *m) {
	int class = MPI_SUCCESS;
	bool asks = m->head.flags & PACKET_ASKS;
	switch (m->head.kind) {
	case PACKET_LOCK:
		class = take_lock_for(s, m->op != 0);
		if (s->waits != WAITS_FOR_NOTHING)
			return; // it counts as applied when the lock is acquired
		break;
	case PACKET_UNLOCK:
		class = give_lock_back(s);
		break;
	case PACKET_FLUSH:
		break;
	case PACKET_START:
		class = start_here(s);
		if (s->waits != WAITS_FOR_NOTHING)
			return;
		break;
	case PACKET_PUT: // contiguous
		class = gompi_packet_put(s->w, m, STREAM_DATA);
		break;
	case PACKET_COMPLETE:
		class = complete_here(s);
		break;
	default:
		if (gives(m)) {
			give_answer(s, m, asks); // reports errors itself, and serves as the answer
			s->applied++;
			return;
		}
		class = gompi_packet_apply(m, NULL, STREAM_DATA, NULL);
	}
	s->applied++;
	if (class != MPI_SUCCESS && s->refused == MPI_SUCCESS) {
		s->refused = class;
		s->why = gompi_reason_take(class);
	}
	if (asks || class != MPI_SUCCESS)
		send_answer(s, 0);
}

// Ends a stream that violates the protocol, or for which there is no memory. gompi_because has recorded the reason.
static void stop_stream(struct gompi_stream *s, int class) {
	s->stopped = true;
	if (s->holds != HOLDS_NOTHING)
		give_lock_back(s);
	s->refused = class;
	s->why = gompi_reason_take(class);
	send_answer(s, PACKET_BROKEN);
}

// Keeps a record until the stream continues.
static void keep_record(struct gompi_stream *s, const struct gompi_packet *m) {
	uint64_t length = sizeof *m + m->head.length, all = sizeof length + (length + 7) / 8 * 8;
	if (s->kept_end + all > s->kept_room) {
		uint64_t room = s->kept_room == 0 ? 1024 : 2 * s->kept_room;
		while (room < s->kept_end + all)
			room *= 2;
		char *kept = room > STREAM_KEPT ? NULL : realloc(s->kept, room);
		if (kept == NULL) {
			stop_stream(s, room > STREAM_KEPT
					       ? gompi_because(MPI_ERR_INTERN, WHY_KEPT, room, STREAM_KEPT)
					       : gompi_because(MPI_ERR_NO_MEM, WHY_NO_MEMORY, room, s->kept_end));
			return;
		}
		s->kept = kept;
		s->kept_room = room;
	}
	memcpy(s->kept + s->kept_end, &length, sizeof length);
	gompi_copy_few(s->kept + s->kept_end + sizeof length, m, length);
	s->kept_end += all;
}

static void drop_kept(struct gompi_stream *s) {
	free(s->kept);
	s->kept = NULL;
	s->kept_first = s->kept_end = s->kept_room = 0;
}

// Continues a stream whose wait has ended: applies the kept records.
static void go_on(struct gompi_stream *s) {
	s->waits = WAITS_FOR_NOTHING;
	s->applied++;
	while (s->kept_first < s->kept_end && s->waits == WAITS_FOR_NOTHING && !s->stopped) {
		uint64_t length;
		memcpy(&length, s->kept + s->kept_first, sizeof length);
		const char *m = s->kept + s->kept_first + sizeof length;
		s->kept_first += sizeof length + (length + 7) / 8 * 8;
		apply_record(s, (const struct gompi_packet *)(const void *)m);
	}
	if (s->kept_first == s->kept_end)
		drop_kept(s);
}

static void go_on_locked(struct gompi_stream *s) {
	gompi_sub_total(&locks_waiting, 1);
	s->holds = s->exclusive ? HOLDS_EXCLUSIVE : HOLDS_SHARED;
	go_on(s);
}

void gompi_stream_posted(struct gompi_stream *s) {
	gompi_mutex_take(&serve_mu);
	s->posts++;
	if (s->waits == WAITS_FOR_POST) {
		use_post(s);
		go_on(s);
	}
	gompi_mutex_give(&serve_mu);
}

// Handles a record for a member of a window. The caller holds serve_mu.
static void take_operation(int peer, const struct gompi_packet *m) {
	struct gompi_win *w = gompi_win_get((MPI_Win)(uintptr_t)m->head.window);
	if (w == NULL || w->remote == NULL || (uint32_t)m->origin >= w->n || !gompi_win_elsewhere(w, m->origin) ||
	    gompi_win_peer(w, m->origin) != peer) {
		refuse_record(peer, m, MPI_ERR_WIN);
		return;
	}
	struct gompi_stream *s = gompi_stream_of(w, m->origin);
	if (s == NULL) {
		refuse_record(peer, m, MPI_ERR_NO_MEM);
		return;
	}
	if (!s->stopped && m->head.number != s->arrived + 1)
		stop_stream(s, gompi_because(MPI_ERR_INTERN, WHY_OUT_OF_ORDER, m->head.number, s->arrived));
	else if (s->stopped && (m->head.flags & PACKET_ASKS))
		stop_stream(s, gompi_because(MPI_ERR_INTERN, WHY_AFTER_END, m->head.number, s->applied));
	if (!s->stopped) {
		s->arrived++;
		if (s->waits != WAITS_FOR_NOTHING)
			keep_record(s, m);
		else
			apply_record(s, m);
	}
}

static void take_record(int peer, const char *data, size_t length) {
	const struct gompi_packet *m = (const struct gompi_packet *)(const void *)data;
	if (length < sizeof *m || m->head.length > length - sizeof *m)
		return;
	if (m->head.kind == PACKET_DONE || m->head.kind == PACKET_RESULT) {
		gompi_stream_answered(peer, (const struct gompi_answer *)(const void *)data);
		return;
	}
	gompi_mutex_take(&serve_mu); // keeps the window alive until the record has been applied: see forget_locks
	take_operation(peer, m);
	gompi_mutex_give(&serve_mu);
}

// --- Turns

// The number of failed processes at the last check of the locks.
static gompi_a32 losses_seen;

// Returns true if an origin waits for a lock of this process, or if a lock holder may have failed. The lock of a failed
// holder is released, whether an origin on another node or a process of this node waits for it.
static bool somebody_waits(void) {
	return gompi_load(&locks_waiting) != 0 ||
	       __builtin_expect(gompi_load(&gompi_header()->broken) != gompi_load(&losses_seen), 0);
}

// Ends the wait of a stream for a lock that may never be released, because a process of this node that may hold it has
// failed.
static void end_turn(struct gompi_stream *s) {
	s->waits = WAITS_FOR_NOTHING;
	gompi_sub_total(&locks_waiting, 1);
	leave_locks(s);
	stop_stream(s, MPI_ERR_PROC_ABORTED);
}

// Grants locks to waiting streams, and releases the locks of failed origins. Returns true if a stream has continued.
static bool look_at_turns(void) {
	bool worked = false;
	if (!somebody_waits())
		return false;
	gompi_mutex_take(&serve_mu);
	// Before the checks: a failure found later causes another check.
	gompi_store(&losses_seen, gompi_load_acquire(&gompi_header()->broken));
	for (struct gompi_stream *s = locks, *next; s != NULL; s = next) {
		next = s->next_lock;
		bool gone = gompi_fabric_gone(s->peer);
		if (s->waits == WAITS_FOR_LOCK &&
		    gompi_lock_turn(gompi_member(s->w, s->w->me), s->ticket, s->exclusive)) {
			go_on_locked(s);
			worked = true;
			next = locks; // it may have released a lock that other streams wait for
		} else if (s->waits == WAITS_FOR_LOCK &&
			   __builtin_expect(gompi_load(&gompi_header()->broken) != 0, 0)) {
			if (gompi_win_lost_here(s->w) != GOMPI_NOBODY)
				end_turn(s);
		}
		if ((gone || s->stopped) && s->holds != HOLDS_NOTHING) {
			s->stopped = true;
			give_lock_back(s);
			next = locks;
		}
	}
	gompi_mutex_give(&serve_mu);
	return worked;
}

// Ends all waits of a window that is being freed.
static void forget_locks(struct gompi_win *w) {
	gompi_mutex_take(&serve_mu);
	for (struct gompi_stream *s = gompi_stream_first(w); s != NULL; s = s->next) {
		leave_locks(s);
		if (s->waits == WAITS_FOR_LOCK)
			gompi_sub_total(&locks_waiting, 1);
		s->waits = WAITS_FOR_NOTHING;
		s->stopped = true;
	}
	gompi_mutex_give(&serve_mu);
}

static void free_streams(struct gompi_win *w) {
	struct gompi_stream *s = gompi_stream_first(w);
	while (s != NULL) {
		struct gompi_stream *next = s->next;
		gompi_ongoing_stream_gone(s);
		free(gompi_load(&s->results));
		free(s->kept);
		free(s);
		s = next;
	}
	gompi_sparse_give(gompi_load(&w->streams), gompi_streams_bytes(w));
}

void gompi_stream_open(void) {
	if (gompi_node.processes->nodes == 1)
		return;
	static const struct gompi_port_handler handler = {.record = take_record};
	static const struct gompi_service service = {.ready = somebody_waits, .serve = look_at_turns};
	gompi_fabric_listen(FABRIC_RMA, &handler);
	gompi_service_add(&service);
	gompi_win_closing = forget_locks;
	gompi_win_emptying = free_streams;
}
