// Locks and starts of streams at the origin. Their records are sent just before the first operation of the epoch.
#include "transport/stream_origin.h"
#include "transport/transport.h"

// Sends the lock or start record of an epoch unless the record has been sent. The caller holds lock_mu, so that no
// other thread sends an operation of the epoch before this record. Returns 0 or an error class.
static int send_lock_once(struct gompi_stream *s, enum gompi_packet_kind kind, bool exclusive) {
	if (gompi_load(&s->lock_sent))
		return MPI_SUCCESS;
	int rc = gompi_stream_send_control(s, kind, exclusive, 0);
	if (rc == MPI_SUCCESS)
		gompi_store_release(&s->lock_sent, 1);
	return rc;
}

int gompi_stream_send_lock(struct gompi_stream *s) {
	int rc = MPI_SUCCESS;
	gompi_mutex_lock(&s->lock_mu);
	uint32_t state = gompi_load(&s->w->targets[s->rank].state);
	if (gompi_stream_needs_lock(s->w, state))
		rc = send_lock_once(s, state & TARGET_STARTED ? PACKET_START : PACKET_LOCK,
				    gompi_state_is_locked(state) && (state & TARGET_EXCLUSIVE));
	gompi_mutex_unlock(&s->lock_mu);
	return rc;
}

int gompi_stream_await_lock(struct gompi_stream *s, const char *call) {
	uint64_t locked = gompi_load(&s->lock_number);
	return gompi_load_acquire(&s->acked) >= locked ? MPI_SUCCESS : gompi_stream_await_ack(s, locked, call);
}

// The latest MPI_Win_lock of this thread for a member on another node, if the lock has not been acquired yet. Otherwise
// `window` is 0. `lock_call` is the value of the stream's counter lock_calls after this call.
static _Thread_local struct {
	uintptr_t window;
	int target;
	uint32_t lock_call;
} deferred_lock __attribute__((tls_model("initial-exec")));

int gompi_acquire_deferred_lock(const char *call) {
	struct gompi_win *w = deferred_lock.window == 0 ? NULL : gompi_win_get((MPI_Win)deferred_lock.window);
	deferred_lock.window = 0;
	if (w == NULL || w->remote == NULL || (uint32_t)deferred_lock.target >= w->n)
		return MPI_SUCCESS;
	// If another thread has called MPI_Win_lock for this member after this thread did, lock_calls differs. In this
	// case the other thread sends the lock request. If this thread sent the request, it might have to wait until
	// the epoch of the other thread ends.
	struct gompi_stream *s = gompi_stream_find(w, deferred_lock.target);
	int rc = MPI_SUCCESS;
	if (s == NULL)
		return rc;
	gompi_mutex_lock(&s->lock_mu);
	uint32_t state = gompi_load(&w->targets[s->rank].state);
	bool must_send = gompi_load(&s->lock_calls) == deferred_lock.lock_call && gompi_state_is_locked(state);
	if (must_send)
		rc = send_lock_once(s, PACKET_LOCK, state & TARGET_EXCLUSIVE);
	gompi_mutex_unlock(&s->lock_mu);
	return must_send && rc == MPI_SUCCESS ? gompi_stream_await_lock(s, call) : rc;
}

int gompi_stream_lock(struct gompi_win *w, int target, bool exclusive, const char *call) {
	if (target == GOMPI_ALL)
		return MPI_SUCCESS;
	struct gompi_stream *s = gompi_stream_get(w, target);
	if (s == NULL)
		return MPI_ERR_NO_MEM;
	deferred_lock.window = w->handle;
	deferred_lock.target = target;
	deferred_lock.lock_call = gompi_add(&s->lock_calls, 1) + 1;
	return MPI_SUCCESS;
}

// Sends the unlock record after all operations of the epoch. Returns 0 or an error class. After an error, the epoch has
// ended, and the caller must not wait for an answer.
static int send_unlock(struct gompi_stream *s, const char *call) {
	int rc = gompi_stream_await_transfers(s, call);
	if (rc == MPI_SUCCESS)
		rc = gompi_stream_send_control(s, PACKET_UNLOCK, false, RECORD_WANTS_ANSWER | RECORD_NEEDS_FLUSH);
	if (rc != MPI_SUCCESS)
		gompi_store_release(&s->lock_sent, 0);
	return rc;
}

static int await_unlock(struct gompi_stream *s, const char *call) {
	int rc = gompi_stream_flush_to(s, gompi_load(&s->flush_number), call);
	gompi_store_release(&s->lock_sent, 0);
	return rc;
}

int gompi_stream_unlock(struct gompi_win *w, int target, bool exclusive, const char *call) {
	struct gompi_stream *s;
	int rc = MPI_SUCCESS;
	if (target != GOMPI_ALL) {
		if ((s = gompi_stream_get(w, target)) == NULL)
			return MPI_ERR_NO_MEM;
		// An epoch without operations must acquire the lock, too. lock_mu ensures that only one thread sends
		// the request: another thread may be sending it in gompi_acquire_deferred_lock.
		if (!gompi_load_acquire(&s->lock_sent)) {
			gompi_mutex_lock(&s->lock_mu);
			rc = send_lock_once(s, PACKET_LOCK, exclusive);
			gompi_mutex_unlock(&s->lock_mu);
		}
		if (rc == MPI_SUCCESS)
			rc = send_unlock(s, call);
		return rc == MPI_SUCCESS ? await_unlock(s, call) : rc;
	}
	for (s = gompi_stream_first(w); s != NULL; s = s->next)
		if (gompi_load_acquire(&s->lock_sent)) {
			int stream_rc = send_unlock(s, call);
			rc = rc == MPI_SUCCESS ? stream_rc : rc;
		}
	// Wait even after an error of another stream, because the unlock records of these streams have been sent.
	for (s = gompi_stream_first(w); s != NULL; s = s->next)
		if (gompi_load_acquire(&s->lock_sent)) {
			int stream_rc = await_unlock(s, call);
			rc = rc == MPI_SUCCESS ? stream_rc : rc;
		}
	return rc;
}
