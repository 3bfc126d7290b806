// Progress of nonblocking and persistent collectives.
#include "coll/nbc_op.h"

#include "base/call_name.h"
#include "errors/codes.h"
#include "message/call.h"

// Publishes the current phase. Returns false if the buffers have no space for it yet.
static bool publish_phase(struct gompi_nbc_op *s) {
	struct gompi_nbc *b = s->nbc;
	if (s->phase_index == 0 && !gompi_nbc_reserve_space(b, s->number / 2, gompi_nbc_space_of(s)))
		return false;
	struct gompi_nbc_header *h = gompi_nbc_header(b, b->me, s->number);
	bool direct = gompi_nbc_segments(s) > 1 && gompi_node.has_cma;
	s->state = NBC_RUNNING;
	s->segments_read = 0;
	s->read_done = s->is_awaited = false;
	for (int i = 0; i < b->n; i++)
		s->peer_segments_read[i] = 0;
	gompi_nbc_write_segment(s, direct ? NBC_DIRECT : 0);
	s->segments_written = direct ? NBC_DIRECT : 1;
	gompi_store(&h->signature, gompi_nbc_signature(s, b->me));
	gompi_store(&h->format, gompi_nbc_format(s));
	gompi_store(&h->segments_read, 0);
	gompi_store(&h->segments_written, s->segments_written);
	// Release: pairs with the acquire in all_published and read_available, so that a reader of number sees the
	// data.
	gompi_store_release(&h->number, s->number);
	gompi_nbc_notify(b, gompi_nbc_wakes_progress(s));
	return true;
}

// Returns true if all readers of this member's data have read this many segments. Sets *refused if a reader has refused
// direct reads.
static bool is_read_by_all(struct gompi_nbc_op *s, uint32_t segments, bool *refused) {
	const struct gompi_nbc *b = s->nbc;
	bool all = true;
	*refused = false;
	for (int i = 0; i < b->n; i++) {
		if (!gompi_nbc_is_read_by(s, i))
			continue;
		struct gompi_nbc_header *h = gompi_nbc_header(b, i, s->number);
		// Acquire: pairs with the release in publish_segments_read.
		uint64_t published = gompi_load_acquire(&h->number);
		uint32_t read = published == s->number  ? gompi_load_acquire(&h->segments_read)
				: published > s->number ? NBC_READ_DONE
							: 0;
		*refused = *refused || read == NBC_DIRECT_REFUSED;
		all = all && (read == NBC_READ_DONE || (read != NBC_DIRECT_REFUSED && read >= segments));
	}
	return all;
}

static void write_next_segment(struct gompi_nbc_op *s) {
	gompi_nbc_write_segment(s, s->segments_written);
	s->segments_written++;
	// Release: pairs with the acquire in all_published and read_available.
	gompi_store_release(&gompi_nbc_header(s->nbc, s->nbc->me, s->number)->segments_written, s->segments_written);
	gompi_nbc_notify(s->nbc, gompi_nbc_wakes_progress(s));
}

// Writes segments while there is space. Returns true if the other members need nothing more from this member.
static bool write_segments(struct gompi_nbc_op *s) {
	bool refused;
	if (s->segments_written == NBC_DIRECT) {
		if (is_read_by_all(s, NBC_READ_DONE, &refused))
			return true;
		if (!refused)
			return false;
		s->segments_written = 0;
		// Fully ordered: pairs with the fence in copy_direct. Without it, write_next_segment could overwrite
		// the address while a reader still sees NBC_DIRECT and interprets the data as an address.
		gompi_store_seq_cst(&gompi_nbc_header(s->nbc, s->nbc->me, s->number)->segments_written, 0);
		write_next_segment(s);
	}
	uint32_t segments = gompi_nbc_segments(s);
	while (s->segments_written < segments && is_read_by_all(s, s->segments_written, &refused))
		write_next_segment(s);
	if (s->segments_written < segments)
		return false;
	return s->phase_index + 1 == s->phases || is_read_by_all(s, NBC_READ_DONE, &refused);
}

// Returns true if this thread is a progress thread and the next step may call a user-defined function. Only application
// threads may call such functions.
static bool needs_app_thread(const struct gompi_nbc_op *s) {
	return s->calls_user_op && gompi_is_progress_thread && !s->read_done &&
	       s->phase[s->phase_index].kind != GOMPI_ALLGATHER && s->phase[s->phase_index].kind != GOMPI_GATHER;
}

// Handles the description of the new communicator that member 0 sent in an MPI_Comm_idup. If no member can fail to
// create the communicator (idup.h), skips the second phase. Otherwise passes the description to Go.
static void receive_draft(struct gompi_nbc_op *s) {
	struct gompi_idup *d = s->idup;
	if (d->draft[0] != 0)
		s->phases = 1;
	else
		d->class = gompi_go_callbacks.idup_deliver(d->number, d->draft);
}

static void complete_idup(struct gompi_nbc_op *s) {
	struct gompi_idup *d = s->idup;
	int32_t worst = d->class;
	for (int i = 0; i < s->nbc->n; i++) {
		const int32_t class = d->peer_class[i] != 0 ? gompi_error_class_of_peer((uint32_t)d->peer_class[i]) : 0;
		worst = class > worst ? class : worst;
	}
	s->error.class = gompi_go_callbacks.idup_finish(d->number, d->draft, s->error.class, worst, s->error.text);
}

bool gompi_nbc_op_advance(struct gompi_nbc_op *s) {
	if (s->state == NBC_COMPLETE)
		return false;
	for (;;) {
		if (s->state == NBC_QUEUED && !publish_phase(s))
			return false;
		bool wrote, read;
		uint32_t before;
		do {
			before = s->segments_read;
			read = !needs_app_thread(s) && gompi_nbc_read_segments(s);
			wrote = write_segments(s);
		} while (s->segments_read != before && !read);
		if (!read || !wrote)
			return false;
		if (s->idup != NULL && s->phase_index == 0 && s->mismatch.rank < 0)
			receive_draft(s);
		if (s->phase_index + 1 == s->phases || s->mismatch.rank >= 0)
			break;
		s->phase_index++;
		s->number++;
		s->state = NBC_QUEUED;
	}
	if (s->mismatch.rank < 0)
		gompi_nbc_op_unpack(s);
	s->state = NBC_COMPLETE;
	return true;
}

int gompi_nbc_op_missing_ranks(const struct gompi_nbc_op *s, uint64_t *missing, int words) {
	const struct gompi_nbc *b = s->nbc;
	if (s->state != NBC_RUNNING)
		return -1; // s waits until older collectives complete
	bool has_unread_data = s->phase_index + 1 < s->phases || s->segments_written == NBC_DIRECT ||
			       s->segments_written < gompi_nbc_segments(s);
	int n = 0;
	for (int i = 0; i < b->n; i++) {
		bool needed = gompi_nbc_reads_from(s, i) || (has_unread_data && gompi_nbc_is_read_by(s, i));
		// Acquire: pairs with the release in publish_phase.
		if (!needed || gompi_load_acquire(&gompi_nbc_header(b, i, s->number)->number) >= (s->number & ~1ULL))
			continue;
		n++;
		if (i < 64 * words)
			missing[i / 64] |= 1ULL << i % 64;
	}
	return n;
}

void gompi_nbc_op_complete(struct gompi_nbc_op *s) {
	struct gompi_request *r = s->request;
	if (s->mismatch.rank >= 0)
		s->error.class = gompi_go_callbacks.mismatch_text(&s->mismatch, s->error.text);
	else if (s->reduce_error != 0)
		gompi_set_error(&s->error, s->reduce_error,
				"cannot reduce the data of two ranks; the error class states the reason");
	else if (s->error.class == MPI_SUCCESS && s->argument_error.class != MPI_SUCCESS)
		s->error = s->argument_error;
	if (s->idup != NULL)
		complete_idup(s);
	r->result = (struct gompi_result){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG, .class = s->error.class};
	gompi_request_complete(r);
}
