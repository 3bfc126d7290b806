// Locks and starts of streams at the origin: their records are sent before the first operation of the epoch.
#include "transport/stream_send.h"
#include "transport/transport.h"

// Sends a lock or start record unless one has been sent. The caller holds lock_mu, so that no other thread sends a
// record for the epoch before it. Returns 0 or an error class.
static int send_lock_locked(struct gompi_stream *s, enum gompi_packet_kind kind, bool exclusive) {
	if (gompi_load(&s->has_lock))
		return MPI_SUCCESS;
	int rc = gompi_stream_send_word(s, kind, exclusive, 0);
	if (rc == MPI_SUCCESS)
		gompi_store_release(&s->has_lock, 1);
	return rc;
}

int gompi_stream_send_lock(struct gompi_stream *s) {
	int rc = MPI_SUCCESS;
	gompi_mutex_take(&s->lock_mu);
	uint32_t state = gompi_load(&s->w->targets[s->rank].state);
	if (gompi_stream_needs_lock(s->w, state))
		rc = send_lock_locked(s, state & TARGET_STARTED ? PACKET_START : PACKET_LOCK,
				      gompi_stream_locks_one(state) && (state & TARGET_EXCLUSIVE));
	gompi_mutex_give(&s->lock_mu);
	return rc;
}

int gompi_stream_await_lock(struct gompi_stream *s, const char *call) {
	uint64_t locked = gompi_load(&s->locked);
	return gompi_load_acquire(&s->done) >= locked ? MPI_SUCCESS : gompi_stream_ask_and_await(s, locked, call);
}

// The last lock that this thread has requested, if its target is on another node. lock is the value of the stream's
// counter `locks`.
static _Thread_local struct {
	uintptr_t window;
	int target;
	uint32_t lock;
} asked_last __attribute__((tls_model("initial-exec")));

int gompi_lock_in_order(const char *call) {
	struct gompi_win *w = asked_last.window == 0 ? NULL : gompi_win_get((MPI_Win)asked_last.window);
	asked_last.window = 0;
	if (w == NULL || w->remote == NULL || (uint32_t)asked_last.target >= w->n)
		return MPI_SUCCESS;
	// If another thread has requested the lock since (locks differs), that thread sends it: this one might wait
	// long for it.
	struct gompi_stream *s = gompi_stream_known(w, asked_last.target);
	int rc = MPI_SUCCESS;
	if (s == NULL)
		return rc;
	gompi_mutex_take(&s->lock_mu);
	uint32_t state = gompi_load(&w->targets[s->rank].state);
	bool mine = gompi_load(&s->locks) == asked_last.lock && gompi_stream_locks_one(state);
	if (mine)
		rc = send_lock_locked(s, PACKET_LOCK, state & TARGET_EXCLUSIVE);
	gompi_mutex_give(&s->lock_mu);
	return mine && rc == MPI_SUCCESS ? gompi_stream_await_lock(s, call) : rc;
}

int gompi_stream_lock(struct gompi_win *w, int target, bool exclusive, const char *call) {
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

// Sends the unlock record, after all operations of the epoch. Returns 0 or an error class. After an error there is no
// answer to wait for, and the epoch has ended.
static int send_unlock(struct gompi_stream *s, const char *call) {
	int rc = gompi_stream_await_transfers(s, call);
	if (rc == MPI_SUCCESS)
		rc = gompi_stream_send_word(s, PACKET_UNLOCK, false, RECORD_ASKS | RECORD_DUE);
	if (rc != MPI_SUCCESS)
		gompi_store_release(&s->has_lock, 0);
	return rc;
}

static int end_unlock(struct gompi_stream *s, const char *call) {
	int rc = gompi_stream_end(s, gompi_load(&s->due), call);
	gompi_store_release(&s->has_lock, 0);
	return rc;
}

int gompi_stream_unlock(struct gompi_win *w, int target, bool exclusive, const char *call) {
	struct gompi_stream *s;
	int rc = MPI_SUCCESS;
	if (target != GOMPI_ALL) {
		if ((s = gompi_stream_of(w, target)) == NULL)
			return MPI_ERR_NO_MEM;
		// An epoch without operations still must acquire the lock. lock_mu makes sure that only one thread
		// sends it: another thread may do so now in gompi_lock_in_order.
		if (!gompi_load_acquire(&s->has_lock)) {
			gompi_mutex_take(&s->lock_mu);
			rc = send_lock_locked(s, PACKET_LOCK, exclusive);
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
	// also after an error: their unlock records have been sent
	for (s = gompi_stream_first(w); s != NULL; s = s->next)
		if (gompi_load_acquire(&s->has_lock)) {
			int last = end_unlock(s, call);
			rc = rc == MPI_SUCCESS ? last : rc;
		}
	return rc;
}
