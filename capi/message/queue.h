// The matching queues of one context of a communicator: posted receives and unexpected messages. A message matches the
// oldest posted receive that accepts it, and a receive the oldest unexpected message that it accepts.
#ifndef GOMPI_MESSAGE_QUEUE_H
#define GOMPI_MESSAGE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc_or_abort.h"
#include "base/tool_counts.h"

struct gompi_fifo;

// A posted receive or unexpected message as a member of a list. An entry is in at most one list. It is the first field
// of struct gompi_request and struct gompi_message.
struct gompi_entry {
	int32_t source, tag; // a receive may have MPI_ANY_SOURCE and MPI_ANY_TAG
	uint64_t seq;        // sequence number in the list: older entries have lower numbers
	// Links in the list; if the list has an index, links in the fifo of the entry's own source and tag.
	struct gompi_entry_link {
		struct gompi_entry *prev, *next;
		struct gompi_fifo *fifo;
	} list_link;
};

// In an index, a message is linked into one fifo for each of the four patterns (source or wildcard, tag or wildcard)
// that can receive it. If its send has an id, the message is also in the fifo for this id.
enum { GOMPI_PATTERNS = 4, GOMPI_ENTRY_LINKS };

// The first fields of struct gompi_message. A list accesses only these fields.
struct gompi_listed_message {
	struct gompi_entry entry;
	// [GOMPI_ENTRY_LINKS - 1]: links 1 and higher of the entry; link 0 is entry.list_link. NULL until the message
	// is first in an index; the array stays allocated as long as the message.
	struct gompi_entry_link *index_links;
	uint64_t id;  // id of its send; 0 if the send expects no answer
	int32_t from; // process number of the sender (base/process.h)
};

// Entries in order of arrival: either the whole list, or the entries with one key in an index.
struct gompi_fifo {
	struct gompi_entry *first, *last;
	int32_t source, tag;
	int link_index;          // index of the link that this fifo uses in each of its entries
	struct gompi_fifo *next; // next in the same bucket of an index, or in the free list
};

// A list in order of arrival. A search begins at the front. A search that passes GOMPI_INDEX_THRESHOLD entries builds
// an index, which the list keeps until it is empty. With an index, a search among thousands of entries costs no more
// than a search among a few:
//
// - A receive has one key: its own source and tag, wildcards included. A message is looked up under the four patterns
//   that can receive it, and matches the oldest receive found.
// - A message has four keys, the patterns of the receives that it can match, and a fifth key for the id of its send.
struct gompi_list {
	struct gompi_fifo entries; // used while there is no index
	int64_t count;
	uint64_t seq;      // sequence number of the newest entry
	bool has_messages; // true: list of messages; false: list of receives
	struct gompi_index *index;
};

enum { GOMPI_INDEX_THRESHOLD = 24 };

#pragma GCC visibility push(hidden)

void gompi_list_add_indexed(struct gompi_list *l, struct gompi_entry *e);
void gompi_list_remove_indexed(struct gompi_list *l, struct gompi_entry *e);

static inline void gompi_fifo_append(struct gompi_fifo *f, struct gompi_entry *e, struct gompi_entry_link *p,
				     struct gompi_entry_link *last) {
	p->prev = f->last;
	p->next = NULL;
	p->fifo = f;
	if (f->last != NULL)
		last->next = e;
	else
		f->first = e;
	f->last = e;
}

static inline void gompi_list_add(struct gompi_list *l, struct gompi_entry *e) {
	e->seq = ++l->seq;
	l->count++;
	if (__builtin_expect(l->index != NULL, 0)) {
		gompi_list_add_indexed(l, e);
		return;
	}
	struct gompi_entry *last = l->entries.last;
	gompi_fifo_append(&l->entries, e, &e->list_link, last != NULL ? &last->list_link : NULL);
}

static inline void gompi_list_remove(struct gompi_list *l, struct gompi_entry *e) {
	l->count--;
	if (__builtin_expect(l->index != NULL, 0)) {
		gompi_list_remove_indexed(l, e);
		return;
	}
	if (e->list_link.prev != NULL)
		e->list_link.prev->list_link.next = e->list_link.next;
	else
		l->entries.first = e->list_link.next;
	if (e->list_link.next != NULL)
		e->list_link.next->list_link.prev = e->list_link.prev;
	else
		l->entries.last = e->list_link.prev;
}

// gompi_list_find_receive returns the oldest receive in l that matches a message with this source and tag.
// gompi_list_find_message returns the oldest message in l that matches a receive with this source and tag. Both return
// NULL if no entry matches.
struct gompi_entry *gompi_list_find_receive(struct gompi_list *l, int32_t source, int32_t tag);
struct gompi_entry *gompi_list_find_message(struct gompi_list *l, int32_t source, int32_t tag);

// Returns the oldest entry of a list of messages, or NULL.
struct gompi_entry *gompi_list_oldest(struct gompi_list *l);

// Returns the message that process `from` has sent with this send id, or NULL if the list of messages l does not
// contain it.
struct gompi_entry *gompi_list_find_send(struct gompi_list *l, int32_t from, uint64_t id);

// The matching queues of one context.
struct gompi_queue {
	uint64_t context;
	struct gompi_list posted, unexpected;
	struct gompi_leaders *leaders; // the group whose messages have this context (leaders.h), or NULL
	bool is_closing; // the communicator has been freed: the queue is freed when no posted receive is left
	struct gompi_queue *next;
	// struct gompi_queue_counts; NULL unless a tool has asked for them
	struct gompi_tool_counts *_Atomic tool_counts;
};

// Counters of a queue for the tool information interface.
struct gompi_queue_counts {
	struct gompi_tool_counts head;
	gompi_a64 unexpected_arrived; // up to the last gompi_queue_store_counts
};

// The queues of a VCI.
struct gompi_queues {
	struct gompi_queue **bucket, *last; // last: most recently used queue
	uint32_t mask, n;
	struct gompi_queue *free_list;
};

struct gompi_queue *gompi_queue_find(struct gompi_queues *qs, uint64_t context);
struct gompi_queue *gompi_queue_slow(struct gompi_queues *qs, uint64_t context);
// Returns the queue of a context. Creates the queue if the context has none yet.
static inline struct gompi_queue *gompi_queue_of(struct gompi_queues *qs, uint64_t context) {
	struct gompi_queue *q = qs->last;
	return __builtin_expect(q != NULL && q->context == context, 1) ? q : gompi_queue_slow(qs, context);
}
// Stores the counters of a queue that has tool_counts.
static inline void gompi_queue_store_counts(const struct gompi_queue *q) {
	struct gompi_queue_counts *c = (struct gompi_queue_counts *)gompi_load(&q->tool_counts);
	if (c != NULL)
		gompi_store(&c->unexpected_arrived, q->unexpected.seq);
}
// Stores the counters of all queues.
void gompi_queues_store_counts(const struct gompi_queues *qs);
// Frees an empty queue.
void gompi_queue_free(struct gompi_queues *qs, struct gompi_queue *q);
void gompi_queues_close(struct gompi_queues *qs);

#pragma GCC visibility pop
#endif
