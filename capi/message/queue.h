// The matching queues of one context of a communicator: posted receives and unexpected messages. Messages match
// receives in the order in which each side arrived.
#ifndef GOMPI_MESSAGE_QUEUE_H
#define GOMPI_MESSAGE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/must_have.h"

struct gompi_fifo;

// A receive or message in a list. It is in at most one list, and is the first member of its struct.
struct gompi_entry {
	int32_t source, tag; // a receive may have MPI_ANY_SOURCE and MPI_ANY_TAG
	uint64_t seq;
	// Links in the list; if the list has an index, links in the fifo of the entry's own source and tag.
	struct gompi_entry_place {
		struct gompi_entry *before, *after;
		struct gompi_fifo *in;
	} place;
};

// A message is linked into further fifos of an index: those of the four patterns that can receive it and, if its send
// has a number, the fifo for that number.
enum { GOMPI_PATTERNS = 4, GOMPI_PLACES };

// The first fields of a message, which are all that a list accesses.
struct gompi_listed {
	struct gompi_entry entry;
	// [GOMPI_PLACES - 1], all links but the first; the array stays allocated with the message
	struct gompi_entry_place *more;
	uint64_t id;  // number of its send; 0 if none
	int32_t from; // process of the sender
};

// Entries in order of arrival: either the whole list, or those with one key.
struct gompi_fifo {
	struct gompi_entry *first, *last;
	int32_t source, tag;
	int which;               // index of the entries' link that this fifo uses
	struct gompi_fifo *next; // next in the same bucket of an index, or in the free list
};

// A list in order of arrival. A search begins at the front. A search that passes GOMPI_LONG entries builds an index,
// which the list keeps until it is empty. With it, thousands of entries cost no more than a few:
//
// - A receive has one key: its own source and tag, wildcards included. A message is looked up under the four patterns
//   that can receive it, and matches the oldest receive found.
// - A message has four keys, the patterns of receives that it can match, and one for the number of its send.
struct gompi_list {
	struct gompi_fifo all; // used while there is no index
	int64_t n;
	uint64_t seq;
	bool messages; // true: list of messages; false: list of receives
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

// Removes e.
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

// gompi_list_receiver returns the oldest receive in l that matches a message with this source and tag.
// gompi_list_message returns the oldest message in l that matches a receive with this source and tag. Both return NULL
// if there is none.
struct gompi_entry *gompi_list_receiver(struct gompi_list *l, int32_t source, int32_t tag);
struct gompi_entry *gompi_list_message(struct gompi_list *l, int32_t source, int32_t tag);

// Returns the oldest entry of a list of messages, or NULL.
struct gompi_entry *gompi_list_oldest(struct gompi_list *l);

// Returns the message of the send with the number id of process from in a list of messages, or NULL.
struct gompi_entry *gompi_list_of_send(struct gompi_list *l, int32_t from, uint64_t id);

// The matching queues of one context.
struct gompi_queue {
	uint64_t context;
	struct gompi_list posted, unexpected;
	bool closing; // the communicator is freed: the queue is freed when no receive is left
	struct gompi_queue *next;
};

// The queues of a lane.
struct gompi_queues {
	struct gompi_queue **bucket, *last; // last: most recently used queue
	uint32_t mask, n;
	struct gompi_queue *spare; // free list
};

struct gompi_queue *gompi_queue_find(struct gompi_queues *qs, uint64_t context);
struct gompi_queue *gompi_queue_slow(struct gompi_queues *qs, uint64_t context);
// Returns the queue of a context. Creates it if there is none.
static inline struct gompi_queue *gompi_queue_of(struct gompi_queues *qs, uint64_t context) {
	struct gompi_queue *q = qs->last;
	return __builtin_expect(q != NULL && q->context == context, 1) ? q : gompi_queue_slow(qs, context);
}
// Frees an empty queue.
void gompi_queue_drop(struct gompi_queues *qs, struct gompi_queue *q);
void gompi_queues_close(struct gompi_queues *qs);

#pragma GCC visibility pop
#endif
