#include "message/remote.h"

#include <stdlib.h>

struct gompi_reservation gompi_remote_reserve(struct gompi_vci *l, struct gompi_link *p, int64_t n,
					      enum gompi_fabric_wait wait, int *class) {
	struct gompi_record *r =
		(struct gompi_record *)(void *)gompi_fabric_reserve(p->world, FABRIC_MESSAGES, (size_t)n, wait, class);
	return (struct gompi_reservation){r, (uint64_t)(l - l->messages->vci)};
}

void gompi_remote_commit(struct gompi_link *p, struct gompi_reservation space, uint64_t word,
			 enum gompi_urgency urgency) {
	space.record->valid_flag = space.valid_flag;
	space.record->word = word;
	gompi_fabric_commit(p->world, (size_t)gompi_record_length(word), urgency);
}

// Minimum number of bytes for a remote read. Smaller data is sent in fragments: the first fragment arrives before a
// read could begin, and a read requires registered memory.
enum { MIN_READ_BYTES = 16 << 10 };

bool gompi_remote_register(struct gompi_request *r) {
	if (!r->registered && r->buf.type == NULL && r->buf.size >= MIN_READ_BYTES)
		r->registered =
			gompi_fabric_register(r->buf.at, (uint64_t)r->buf.size, false, &r->region) == MPI_SUCCESS;
	return r->registered;
}

void gompi_remote_unregister(struct gompi_request *r) {
	r->registered = false;
	gompi_fabric_unregister(&r->region);
}

// A remote read of a message's data.
struct gompi_read {
	struct gompi_transfer transfer;
	struct gompi_request *request;
	struct gompi_read *next;
};

static void free_read(struct gompi_vci *l, struct gompi_read *d) {
	d->next = l->free_reads;
	l->free_reads = d;
}

struct gompi_request *gompi_remote_read_end(struct gompi_transfer *t) {
	struct gompi_read *d = (struct gompi_read *)(void *)t;
	gompi_vci_lock(d->request->vci);
	struct gompi_request *r = d->request;
	free_read(r->vci, d);
	return r;
}

void gompi_remote_read(struct gompi_vci *l, struct gompi_request *r,
		       void (*done)(struct gompi_transfer *t, int class)) {
	struct gompi_read *d = l->free_reads;
	if (d != NULL)
		l->free_reads = d->next;
	else
		d = gompi_alloc_or_abort(sizeof *d);
	d->request = r;
	d->transfer = (struct gompi_transfer){.done = done,
					      .local = r->buf.at,
					      .bytes = (uint64_t)r->transfer_bytes,
					      .region = r->matched->region,
					      .peer = r->matched->from};
	if (l->queued_reads == NULL)
		gompi_add_seq_cst(&l->pending_links, 1); // so that gompi_vci_has_work reports work
	d->next = l->queued_reads;
	l->queued_reads = d;
	l->must_flush = true;
}

// Removes the read `*at` from the queued reads. The argument `at` is the address of the link to this read.
static struct gompi_read *dequeue_read(struct gompi_vci *l, struct gompi_read **at) {
	struct gompi_read *d = *at;
	*at = d->next;
	if (l->queued_reads == NULL)
		gompi_sub_seq_cst(&l->pending_links, 1);
	return d;
}

bool gompi_remote_start_reads(struct gompi_vci *l) {
	if (__builtin_expect(l->queued_reads == NULL, 1))
		return false;
	while (l->queued_reads != NULL) {
		struct gompi_read *d = dequeue_read(l, &l->queued_reads);
		gompi_vci_unlock_wake(l); // if the transfer completes at once, its function `done` acquires the lock
		gompi_fabric_transfer(&d->transfer);
		gompi_vci_lock(l);
	}
	return true;
}

bool gompi_remote_cancel_read(struct gompi_vci *l, struct gompi_request *r) {
	for (struct gompi_read **at = &l->queued_reads; *at != NULL; at = &(*at)->next)
		if ((*at)->request == r) {
			free_read(l, dequeue_read(l, at));
			return true;
		}
	return false;
}

void gompi_remote_close(struct gompi_vci *l) { gompi_free_all(l->free_reads, offsetof(struct gompi_read, next)); }
