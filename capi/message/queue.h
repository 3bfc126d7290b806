// What one context of a communicator still has to match: receives that wait for messages, and messages that wait for
// receives. Messages match receives in the order in which either came.
#ifndef GOMPI_MESSAGE_QUEUE_H
#define GOMPI_MESSAGE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/must_have.h"

struct gompi_fifo;

// A receive or a message in a list; it is in one at most, and the first thing in its struct.
struct gompi_entry {
	int32_t source, tag; // of a receive they may be MPI_ANY_SOURCE and MPI_ANY_TAG
	uint64_t seq;
	// its place in the list; once that has an index, in the fifo of its own source and tag
	struct gompi_entry_place {
		struct gompi_entry *before, *after;
		struct gompi_fifo *in;
	} place;
};

// A message has places in the other fifos of an index, too: those of the four patterns that receive it, and, if its
// send has a number, one for that.
enum { GOMPI_PATTERNS = 4, GOMPI_PLACES };

// The beginning of a message, as far as a list needs it.
struct gompi_listed {
	struct gompi_entry entry;
	struct gompi_entry_place *more; // [GOMPI_PLACES - 1], all places but the first; they stay with the message
	uint64_t id;                    // number of its send, 0 if it has none
	int32_t from;                   // process of the sender
};

// Entries in order of arrival: all of a list, or those of one key.
struct gompi_fifo {
	struct gompi_entry *first, *last;
	int32_t source, tag;
	int which;               // of its entries' places is for it
	struct gompi_fifo *next; // of the same bucket of an index, or of those to be used again
};

// A list in order of arrival. It is searched from the front. Once a search has passed GOMPI_LONG entries it gets an
// index, which it keeps until it is empty, so that thousands of entries cost no more than few:
//
//   - a receive is found by one key: its own source and tag, wildcards included. A message looks under the four
//     patterns that can receive it and takes the oldest.
//   - a message is found by four keys, the patterns of receives that it can match, and by its send.
struct gompi_list {
	struct gompi_fifo all; // while there is no index
	int64_t n;
	uint64_t seq;
	bool messages; // a list of messages, not of receives
	struct gompi_index *index;
};

enum { GOMPI_LONG = 24 };

#pragma GCC visibility push(hidden)

void gompi_list_add_indexed(struct gompi_list *l, struct gompi_entry *e);
void gompi_list_remove_indexed(struct gompi_list *l, struct gompi_entry *e);

static inline void gompi_fifo_append(struct gompi_fifo *f, struct gompi_entry *e, struct gompi_entry_place *p,
				     struct gompi_entry_place *last) {
	p->before = f->last;
	p->after = NULL;
	p->in = f;
	if (f->last != NULL)
		last->after = e;
	else
		f->first = e;
	f->last = e;
}

// Appends e.
static inline void gompi_list_add(struct gompi_list *l, struct gompi_entry *e) {
	e->seq = ++l->seq;
	l->n++;
	if (__builtin_expect(l->index != NULL, 0)) {
		gompi_list_add_indexed(l, e);
		return;
	}
	struct gompi_entry *last = l->all.last;
	gompi_fifo_append(&l->all, e, &e->place, last != NULL ? &last->place : NULL);
}

// Takes e out.
static inline void gompi_list_remove(struct gompi_list *l, struct gompi_entry *e) {
	l->n--;
	if (__builtin_expect(l->index != NULL, 0)) {
		gompi_list_remove_indexed(l, e);
		return;
	}
	if (e->place.before != NULL)
		e->place.before->place.after = e->place.after;
	else
		l->all.first = e->place.after;
	if (e->place.after != NULL)
		e->place.after->place.before = e->place.before;
	else
		l->all.last = e->place.before;
}

// The oldest receive in l that takes a message from a source with a tag, and the oldest message in l that a receive of
// that pattern takes; NULL if there is none.
struct gompi_entry *gompi_list_receiver(struct gompi_list *l, int32_t source, int32_t tag);
struct gompi_entry *gompi_list_message(struct gompi_list *l, int32_t source, int32_t tag);

// The first entry of a list of messages; NULL if there is none.
struct gompi_entry *gompi_list_oldest(struct gompi_list *l);

// Returns the message of the send with the number id of process from in a list of messages, or NULL.
struct gompi_entry *gompi_list_of_send(struct gompi_list *l, int32_t from, uint64_t id);

// The queue of a context.
struct gompi_queue {
	uint64_t context;
	struct gompi_list posted, unexpected;
	bool closing; // the communicator is freed: the queue goes when no receive is left
	struct gompi_queue *next;
};

// The queues of a lane.
struct gompi_queues {
	struct gompi_queue **bucket, *last; // last: the one looked up last
	uint32_t mask, n;
	struct gompi_queue *spare; // to be used again
};

struct gompi_queue *gompi_queue_find(struct gompi_queues *qs, uint64_t context);
struct gompi_queue *gompi_queue_slow(struct gompi_queues *qs, uint64_t context);
// The queue of a context, which is made if there is none.
static inline struct gompi_queue *gompi_queue_of(struct gompi_queues *qs, uint64_t context) {
	struct gompi_queue *q = qs->last;
	return __builtin_expect(q != NULL && q->context == context, 1) ? q : gompi_queue_slow(qs, context);
}
// Ends an empty queue.
void gompi_queue_drop(struct gompi_queues *qs, struct gompi_queue *q);
void gompi_queues_close(struct gompi_queues *qs);

#pragma GCC visibility pop
#endif
