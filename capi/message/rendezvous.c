// A message that is too long for a record, or whose sender waits for the match, stays at its sender until it is
// matched. Then its data is transferred as follows:
//
// - Sender in this process: the data is copied from buffer to buffer.
// - Few segments, readable: the receiver reads the sender's memory and sends RECORD_ACK.
// - A region on another node: the receiver reads it through the network (remote.c) and sends RECORD_ACK.
// - Else: the receiver sends RECORD_CTS, and the sender sends RECORD_PIECE until all data has been sent.
//
// Reads on this node are in the lane's work list. Any thread of the receiver may take one, and performs it without the
// lock. Calls that only start an operation leave the list alone, unless a sender waits.
#define _GNU_SOURCE
#include "message/remote.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

// Returns true if process_vm_readv reaches the peer. Tests it once.
static bool reaches(struct gompi_messages *m, struct gompi_link *p) {
	uint32_t known = gompi_load(&p->reads);
	if (known != READS_UNKNOWN)
		return known == READS_WORK;
	struct gompi_inbox *b = gompi_inbox_of(m, p->process, 0);
	uint64_t token = 0;
	struct iovec here = {&token, sizeof token}, there = {(void *)(uintptr_t)gompi_load(&b->probe), sizeof token};
	ssize_t n = process_vm_readv(gompi_load(&p->cell->pid), &here, 1, &there, 1, 0);
	bool works = n == sizeof token && token == gompi_load(&b->token);
	gompi_store(&p->reads, works ? READS_WORK : READS_REFUSED);
	return works;
}

// Stores the fetched data in its message, and completes the receive that has matched the message meanwhile, if any.
static __attribute__((noinline)) void fetched(struct gompi_lane *l, struct gompi_request *r, int class) {
	struct gompi_message *m = r->fetches;
	free(m->data);
	m->data = r->buf.at;
	m->room = m->size;
	m->rts = false;
	m->id = 0;
	m->fetch = NULL;
	m->failed = class;
	gompi_request_give(r);
	struct gompi_request *waits = m->receiver;
	if (waits != NULL) {
		m->receiver = NULL;
		gompi_deliver_kept(l, waits, m);
	}
}

// Completes a receive whose data has arrived: a receive of the application, or an internal one for a matched probe's
// message.
static inline void received(struct gompi_lane *l, struct gompi_request *r, int class) {
	if (__builtin_expect(r->fetches != NULL, 0))
		fetched(l, r, class);
	else
		gompi_complete(l, r, class);
}

// Completes a receive whose data has been copied from the sender's memory, and the send.
static void end_pull(struct gompi_lane *l, struct gompi_request *r, int class) {
	struct gompi_message *m = r->matched;
	r->matched = NULL;
	if (m->local != NULL)
		gompi_send_finish(l, m->local, MPI_SUCCESS);
	else
		gompi_answer(l, m->from, RECORD_ACK, m->id, m->call, class);
	gompi_message_give(l, m);
	received(l, r, class != MPI_SUCCESS ? class : gompi_truncated(r, (int64_t)r->full));
}

// Asks the sender for the data in fragments (RECORD_CTS).
static void ask_for_pieces(struct gompi_lane *l, struct gompi_request *r) {
	r->done = 0;
	r->id = gompi_number_add(&l->receives, r);
	struct gompi_pending w = {
		.record = {.word = gompi_record_word(RECORD_CTS, 0, 0),
			   .context = r->id,
			   .from = l->home->node.self,
			   .size = (uint64_t)r->want,
			   .id = r->matched->id},
		.notice = NOTICE_CALL,
	};
	gompi_post(l, gompi_link_to(l, r->matched->from), &w);
}

static void read_done(struct gompi_transfer *t, int class) {
	struct gompi_request *r = gompi_remote_read_over(t);
	struct gompi_lane *l = r->lane;
	if (class == MPI_SUCCESS || class == MPI_ERR_PROC_ABORTED)
		end_pull(l, r, class);
	else
		ask_for_pieces(l, r);
	gompi_lane_end_served(l);
}

void gompi_rendezvous(struct gompi_lane *l, struct gompi_request *r, struct gompi_message *m) {
	r->matched = m;
	r->id = 0;
	r->full = (uint64_t)m->size;
	r->want = m->size < r->buf.size ? m->size : r->buf.size;
	r->result = (struct gompi_result){.source = m->entry.source, .tag = m->entry.tag, .bytes = r->want};
	struct gompi_link *p = m->local == NULL ? gompi_link_to(l, m->from) : NULL;
	if (r->want == 0) {
		end_pull(l, r, MPI_SUCCESS);
	} else if (p == NULL || (m->segments > 0 && !l->home->no_cma && gompi_load(&p->reads) != READS_REFUSED)) {
		r->next = NULL;
		if (l->work == NULL)
			l->work = r;
		else
			l->work_end->next = r;
		l->work_end = r;
		gompi_store_total(&l->working, 1);
		bool waits = m->waits || (p != NULL && p->reminders != m->reminders);
		l->due = l->due || (waits && !r->blocking);
	} else if (m->readable && r->buf.type == NULL) {
		gompi_remote_read(l, r, read_done);
	} else {
		ask_for_pieces(l, r);
	}
}

// Minimum average run length in bytes for reading directly into the receive buffer. To read into many small runs costs
// the kernel more than to read into one bounce buffer (of BOUNCE bytes) and unpack from there.
enum { DIRECT_RUN = 512, BOUNCE = 64 << 10 };

// Fills out with the parts of the segments of m that hold bytes [from, to) of its data. Returns the number of parts.
static int segments_of(const struct gompi_message *m, int64_t from, int64_t to, struct iovec *out) {
	int n = 0;
	int64_t at = 0;
	for (int i = 0; i < m->segments; i++) {
		int64_t length = (int64_t)m->where[i].iov_len, a = at > from ? at : from,
			z = at + length < to ? at + length : to;
		if (a < z)
			out[n++] = (struct iovec){(char *)m->where[i].iov_base + (a - at), (size_t)(z - a)};
		at += length;
	}
	return n;
}

// Maximum number of retries after EFAULT, one per millisecond. When the memory of a window becomes shared in place, the
// kernel refuses stores there while the memory is moved.
enum { MOVING = 100 };

// Copies the data that r wants from the sender's memory. Returns MPI_SUCCESS, MPI_ERR_BUFFER if a buffer is not valid
// memory, MPI_ERR_NO_MEM, or MPI_ERR_OTHER if reading is not possible and the data must be sent in fragments.
static int read_data(struct gompi_messages *home, struct gompi_link *p, const struct gompi_message *m,
		     const struct gompi_request *r) {
	if (!reaches(home, p))
		return MPI_ERR_OTHER;
	int pid = gompi_load(&p->cell->pid);
	char *bounce = NULL;
	int class = MPI_SUCCESS, refused = 0;
	for (int64_t done = 0; done < r->want && class == MPI_SUCCESS;) {
		struct iovec there[GOMPI_SEGMENTS], here[GOMPI_SEGMENTS];
		int nt = segments_of(m, done, r->want, there), nh = 1;
		int64_t length = 0;
		bool direct = true;
		if (r->buf.type == NULL) {
			here[0] = (struct iovec){r->buf.at + done, (size_t)(r->want - done)};
		} else {
			nh = gompi_buffer_runs(&r->buf, done, here, GOMPI_SEGMENTS);
			for (int i = 0; i < nh; i++) {
				if ((int64_t)here[i].iov_len > r->want - done - length)
					here[i].iov_len = (size_t)(r->want - done - length);
				length += (int64_t)here[i].iov_len;
				if (length == r->want - done)
					nh = i + 1;
			}
			direct = nh == 1 || length >= DIRECT_RUN * (int64_t)nh;
			if (!direct) {
				if (bounce == NULL && (bounce = malloc(BOUNCE)) == NULL)
					return MPI_ERR_NO_MEM;
				int64_t part = r->want - done < BOUNCE ? r->want - done : BOUNCE;
				here[0] = (struct iovec){bounce, (size_t)part};
				nh = 1;
			}
		}
		ssize_t n = process_vm_readv(pid, here, (unsigned long)nh, there, (unsigned long)nt, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EFAULT && refused++ < MOVING) {
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
			continue;
		}
		refused = 0;
		if (n == 0 || (n < 0 && errno == EFAULT)) {
			class = MPI_ERR_BUFFER;
		} else if (n < 0) {
			gompi_store(&p->reads, READS_REFUSED);
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

void gompi_pull_pieces(struct gompi_lane *l, struct gompi_request *r) {
	struct gompi_message *m = r->matched;
	if (m->local != NULL) {
		gompi_lane_let_go(l);
		gompi_buffer_copy(&r->buf, &m->local->buf, r->want);
		gompi_lane_take(l);
		end_pull(l, r, MPI_SUCCESS);
		return;
	}
	struct gompi_link *p = gompi_link_to(l, m->from);
	gompi_lane_let_go(l);
	int class = read_data(l->home, p, m, r);
	gompi_lane_take(l);
	if (class == MPI_ERR_OTHER)
		ask_for_pieces(l, r);
	else
		end_pull(l, r, class);
}

void gompi_piece(struct gompi_lane *l, const struct gompi_record *h, const char *payload) {
	struct gompi_request *r = gompi_number_get(&l->receives, h->id);
	int64_t n = gompi_record_data_size(gompi_record_length(h->word));
	if (r == NULL || r->matched == NULL || r->matched->from != h->from || (int64_t)h->context != r->done ||
	    n == 0 || n > r->want - r->done)
		return;
	gompi_buffer_unpack(&r->buf, r->done, payload, n);
	r->done += n;
	if (r->done < r->want)
		return;
	gompi_number_remove(&l->receives, r->id);
	r->id = 0;
	gompi_message_give(l, r->matched);
	r->matched = NULL;
	received(l, r, gompi_truncated(r, (int64_t)r->full));
}
