#include "message/remote.h"

#include <stdlib.h>

struct gompi_room gompi_remote_reserve(struct gompi_lane *l, struct gompi_link *p, int64_t n,
				       enum gompi_fabric_wait wait, int *class) {
	struct gompi_record *r =
		(struct gompi_record *)(void *)gompi_fabric_reserve(p->world, FABRIC_MESSAGES, (size_t)n, wait, class);
	return (struct gompi_room){r, (uint64_t)(l - l->home->lane)};
}

void gompi_remote_send(struct gompi_link *p, struct gompi_room room, uint64_t word, enum gompi_urgency urgency) {
	room.record->seal = room.seal;
	room.record->word = word;
	gompi_fabric_commit(p->world, (size_t)gompi_record_length(word), urgency);
}

// Minimum number of bytes for a remote read. Smaller data is sent in fragments: a read begins later than the first
// fragment, and requires registered memory.
enum { READ_FROM = 16 << 10 };

bool gompi_remote_register(struct gompi_request *r) {
	if (!r->registered && r->buf.type == NULL && r->buf.size >= READ_FROM)
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

static void give_read(struct gompi_lane *l, struct gompi_read *d) {
	d->next = l->spare_read;
	l->spare_read = d;
}

struct gompi_request *gompi_remote_read_over(struct gompi_transfer *t) {
	struct gompi_read *d = (struct gompi_read *)(void *)t;
	gompi_lane_take(d->request->lane);
	struct gompi_request *r = d->request;
	give_read(r->lane, d);
	return r;
}

void gompi_remote_read(struct gompi_lane *l, struct gompi_request *r,
		       void (*done)(struct gompi_transfer *t, int class)) {
	struct gompi_read *d = l->spare_read;
	if (d != NULL)
		l->spare_read = d->next;
	else
		d = gompi_must_have(sizeof *d);
	d->request = r;
	d->transfer = (struct gompi_transfer){.done = done,
					      .local = r->buf.at,
					      .bytes = (uint64_t)r->want,
					      .region = r->matched->region,
					      .peer = r->matched->from};
	if (l->reads == NULL)
		gompi_add_total(&l->backlog, 1); // so that gompi_lane_ready reports work
	d->next = l->reads;
	l->reads = d;
	l->must_flush = true;
}

// Removes the read at *at from the queued reads.
static struct gompi_read *take_read(struct gompi_lane *l, struct gompi_read **at) {
	struct gompi_read *d = *at;
	*at = d->next;
	if (l->reads == NULL)
		gompi_sub_total(&l->backlog, 1);
	return d;
}

bool gompi_remote_start_reads(struct gompi_lane *l) {
	if (__builtin_expect(l->reads == NULL, 1))
		return false;
	while (l->reads != NULL) {
		struct gompi_read *d = take_read(l, &l->reads);
		gompi_lane_let_go(l); // the transfer may complete immediately, and done acquires the lock
		gompi_fabric_transfer(&d->transfer);
		gompi_lane_take(l);
	}
	return true;
}

bool gompi_remote_abandon(struct gompi_lane *l, struct gompi_request *r) {
	for (struct gompi_read **at = &l->reads; *at != NULL; at = &(*at)->next)
		if ((*at)->request == r) {
			give_read(l, take_read(l, at));
			return true;
		}
	return false;
}

void gompi_remote_close(struct gompi_lane *l) {
	for (struct gompi_read *d = l->spare_read, *next; d != NULL; d = next) {
		next = d->next;
		free(d);
	}
}
