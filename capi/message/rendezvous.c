// The data of a message that is too long for a record, or that its sender keeps for another reason, stays at the sender
// until the message is matched. Then the data is transferred as follows:
//
// - Sender in this process: the data is copied from buffer to buffer.
// - Few segments that process_vm_readv can read: the receiver reads them and sends RECORD_ACK.
// - A registered region on another node: the receiver reads it over the network (remote.c) and sends RECORD_ACK.
// - Otherwise: the receiver sends RECORD_CTS, and the sender sends all data in fragments (RECORD_FRAGMENT).
//
// Copies on this node are queued in the VCI's work list. Any thread of the receiver may dequeue a copy, and performs it
// without the lock. Calls that only start an operation dequeue no copies, unless a sender waits
// (gompi_vci_unlock_started).
#define _GNU_SOURCE
#include "message/remote.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/assisted_copy.h"

// Returns true if process_vm_readv reaches the peer. The first call for a peer tests this: it reads the number in the
// peer's probe page. Later calls return the result of the test.
static bool cma_reaches(struct gompi_messages *m, struct gompi_link *p) {
	uint32_t state = gompi_load(&p->cma_state);
	if (state != CMA_UNKNOWN)
		return state == CMA_WORKS;
	struct gompi_inbox *b = gompi_inbox_of(m, p->node_index, 0);
	uint64_t token = 0;
	struct iovec local = {&token, sizeof token},
		     remote = {(void *)(uintptr_t)gompi_load(&b->probe_address), sizeof token};
	ssize_t n = process_vm_readv(gompi_load(&p->cell->pid), &local, 1, &remote, 1, 0);
	bool works = n == sizeof token && token == gompi_load(&b->probe_value);
	gompi_store(&p->cma_state, works ? CMA_WORKS : CMA_REFUSED);
	return works;
}

// Stores the fetched data in its message, and completes the receive that has matched the message meanwhile, if any.
static __attribute__((noinline)) void finish_fetch(struct gompi_vci *l, struct gompi_request *r, int class) {
	struct gompi_message *m = r->fetches_for;
	free(m->data);
	m->data = r->buf.at;
	m->data_capacity = m->size;
	m->rts = false;
	m->id = 0;
	m->fetch = NULL;
	m->fetch_error = class;
	gompi_request_release(r);
	struct gompi_request *waiting = m->receiver;
	if (waiting != NULL) {
		m->receiver = NULL;
		gompi_deliver_unexpected(l, waiting, m);
	}
}

// Completes a receive whose data has arrived. It is a receive of the application, or an internal receive that fetches
// the data of an extracted message.
static inline void complete_receive(struct gompi_vci *l, struct gompi_request *r, int class) {
	if (__builtin_expect(r->fetches_for != NULL, 0))
		finish_fetch(l, r, class);
	else
		gompi_complete(l, r, class);
}

// Completes a receive whose data has been copied from the sender's memory. Also completes or acknowledges the send.
static void finish_copy(struct gompi_vci *l, struct gompi_request *r, int class) {
	struct gompi_message *m = r->matched;
	r->matched = NULL;
	if (m->self_send != NULL)
		gompi_send_complete(l, m->self_send, MPI_SUCCESS);
	else
		gompi_send_answer(l, m->from, RECORD_ACK, m->id, m->answer_rings_doorbell, class);
	gompi_message_release(l, m);
	complete_receive(l, r, class != MPI_SUCCESS ? class : gompi_truncated(r, (int64_t)r->size_or_receive_id));
}

// Asks the sender for the data in fragments (RECORD_CTS).
static void request_fragments(struct gompi_vci *l, struct gompi_request *r) {
	r->done_bytes = 0;
	r->id = gompi_id_add(&l->receive_ids, r);
	struct gompi_pending w = {
		.record = {.word = gompi_record_word(RECORD_CTS, 0, 0),
			   .context = r->id,
			   .from = l->messages->node.self,
			   .size = (uint64_t)r->transfer_bytes,
			   .id = r->matched->id},
		.notify = NOTIFY_DOORBELL,
	};
	gompi_post_record(l, gompi_link_to(l, r->matched->from), &w);
}

static void on_read_done(struct gompi_transfer *t, int class) {
	struct gompi_request *r = gompi_remote_read_end(t);
	struct gompi_vci *l = r->vci;
	if (class == MPI_SUCCESS || class == MPI_ERR_PROC_ABORTED)
		finish_copy(l, r, class);
	else
		request_fragments(l, r);
	gompi_vci_unlock_network(l);
}

void gompi_start_rendezvous(struct gompi_vci *l, struct gompi_request *r, struct gompi_message *m) {
	r->matched = m;
	r->id = 0;
	r->size_or_receive_id = (uint64_t)m->size;
	r->transfer_bytes = m->size < r->buf.size ? m->size : r->buf.size;
	r->result = (struct gompi_result){.source = m->entry.source, .tag = m->entry.tag, .bytes = r->transfer_bytes};
	struct gompi_link *p = m->self_send == NULL ? gompi_link_to(l, m->from) : NULL;
	if (r->transfer_bytes == 0) {
		finish_copy(l, r, MPI_SUCCESS);
	} else if (p == NULL ||
		   (m->segment_count > 0 && !l->messages->no_cma && gompi_load(&p->cma_state) != CMA_REFUSED)) {
		r->next = NULL;
		if (l->work == NULL)
			l->work = r;
		else
			l->last_work->next = r;
		l->last_work = r;
		gompi_store_seq_cst(&l->has_work, 1);
		bool waits = m->sender_waits || (p != NULL && p->reminders_received != m->reminders_seen);
		l->work_is_urgent = l->work_is_urgent || (waits && !r->blocking);
	} else if (m->region_is_valid && r->buf.type == NULL) {
		gompi_remote_read(l, r, on_read_done);
	} else {
		request_fragments(l, r);
	}
}

// Data is read directly into a noncontiguous receive buffer if its contiguous runs have at least MIN_DIRECT_RUN_BYTES
// bytes on average. With shorter runs, it costs less to read into one bounce buffer of BOUNCE_BYTES bytes and to unpack
// from there.
enum { MIN_DIRECT_RUN_BYTES = 512, BOUNCE_BYTES = 64 << 10 };

// Stores in `out` the ranges of the segments of m that contain bytes [from, to) of its data. Returns the number of
// ranges.
static int segments_of(const struct gompi_message *m, int64_t from, int64_t to, struct iovec *out) {
	int n = 0;
	int64_t at = 0;
	for (int i = 0; i < m->segment_count; i++) {
		int64_t length = (int64_t)m->segment[i].iov_len, a = at > from ? at : from,
			z = at + length < to ? at + length : to;
		if (a < z)
			out[n++] = (struct iovec){(char *)m->segment[i].iov_base + (a - at), (size_t)(z - a)};
		at += length;
	}
	return n;
}

// Maximum number of retries after EFAULT, one per millisecond. The kernel refuses stores to memory of a window while
// the memory is being made shared (win/in_place.h).
enum { MAX_FAULT_RETRIES = 100 };

// Copies the data for r from the sender's memory. Returns MPI_SUCCESS, MPI_ERR_BUFFER if a buffer is not valid memory,
// MPI_ERR_NO_MEM, or MPI_ERR_OTHER if process_vm_readv does not work and the data must be sent in fragments.
static int cma_read_data(struct gompi_messages *home, struct gompi_link *p, const struct gompi_message *m,
			 const struct gompi_request *r) {
	if (!cma_reaches(home, p))
		return MPI_ERR_OTHER;
	if (r->buf.type == NULL && m->segment_count == 1 &&
	    gompi_assisted_copy(p->node_index, (uint64_t)(uintptr_t)m->segment[0].iov_base, r->buf.at,
				(uint64_t)r->transfer_bytes, false, true))
		return MPI_SUCCESS;
	int pid = gompi_load(&p->cell->pid);
	char *bounce = NULL;
	int class = MPI_SUCCESS, retries = 0;
	for (int64_t done = 0; done < r->transfer_bytes && class == MPI_SUCCESS;) {
		struct iovec remote[GOMPI_SEGMENTS], local[GOMPI_SEGMENTS];
		int n_remote = segments_of(m, done, r->transfer_bytes, remote), n_local = 1;
		int64_t length = 0;
		bool direct = true;
		if (r->buf.type == NULL) {
			local[0] = (struct iovec){r->buf.at + done, (size_t)(r->transfer_bytes - done)};
		} else {
			n_local = gompi_buffer_runs(&r->buf, done, local, GOMPI_SEGMENTS);
			for (int i = 0; i < n_local; i++) {
				if ((int64_t)local[i].iov_len > r->transfer_bytes - done - length)
					local[i].iov_len = (size_t)(r->transfer_bytes - done - length);
				length += (int64_t)local[i].iov_len;
				if (length == r->transfer_bytes - done)
					n_local = i + 1;
			}
			direct = n_local == 1 || length >= MIN_DIRECT_RUN_BYTES * (int64_t)n_local;
			if (!direct) {
				if (bounce == NULL && (bounce = malloc(BOUNCE_BYTES)) == NULL)
					return MPI_ERR_NO_MEM;
				int64_t bytes = r->transfer_bytes - done < BOUNCE_BYTES ? r->transfer_bytes - done
											: BOUNCE_BYTES;
				local[0] = (struct iovec){bounce, (size_t)bytes};
				n_local = 1;
			}
		}
		ssize_t n = process_vm_readv(pid, local, (unsigned long)n_local, remote, (unsigned long)n_remote, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EFAULT && retries++ < MAX_FAULT_RETRIES) {
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
			continue;
		}
		retries = 0;
		if (n == 0 || (n < 0 && errno == EFAULT)) {
			class = MPI_ERR_BUFFER;
		} else if (n < 0) {
			gompi_store(&p->cma_state, CMA_REFUSED);
			class = MPI_ERR_OTHER;
		} else {
			if (!direct)
				gompi_buffer_unpack(&r->buf, done, bounce, n);
			done += n;
		}
	}
	free(bounce);
	return class;
}

void gompi_copy_matched(struct gompi_vci *l, struct gompi_request *r) {
	struct gompi_message *m = r->matched;
	if (m->self_send != NULL) {
		gompi_vci_unlock_wake(l);
		gompi_buffer_copy(&r->buf, &m->self_send->buf, r->transfer_bytes);
		gompi_vci_lock(l);
		finish_copy(l, r, MPI_SUCCESS);
		return;
	}
	struct gompi_link *p = gompi_link_to(l, m->from);
	gompi_vci_unlock_wake(l);
	int class = cma_read_data(l->messages, p, m, r);
	gompi_vci_lock(l);
	if (class == MPI_ERR_OTHER)
		request_fragments(l, r);
	else
		finish_copy(l, r, class);
}

void gompi_handle_fragment(struct gompi_vci *l, const struct gompi_record *h, const char *payload) {
	struct gompi_request *r = gompi_id_find(&l->receive_ids, h->id);
	int64_t n = gompi_record_data_size(gompi_record_length(h->word));
	if (r == NULL || r->matched == NULL || r->matched->from != h->from || (int64_t)h->context != r->done_bytes ||
	    n == 0 || n > r->transfer_bytes - r->done_bytes)
		return;
	gompi_buffer_unpack(&r->buf, r->done_bytes, payload, n);
	r->done_bytes += n;
	if (r->done_bytes < r->transfer_bytes)
		return;
	gompi_id_remove(&l->receive_ids, r->id);
	r->id = 0;
	gompi_message_release(l, r->matched);
	r->matched = NULL;
	complete_receive(l, r, gompi_truncated(r, (int64_t)r->size_or_receive_id));
}
