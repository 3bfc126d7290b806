#include "message/queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "base/table.h"

// The index of a list: a hash table of fifos. The key of a fifo is a source and a tag.
struct gompi_index {
	uint32_t mask, fifo_count; // mask: number of buckets - 1
	struct gompi_fifo **bucket;
	struct gompi_fifo *free_list;
};

enum { BUCKETS = 64 };

static struct gompi_entry_link *link_at(struct gompi_entry *e, int i) {
	return i == 0 ? &e->list_link : &((struct gompi_listed_message *)e)->index_links[i - 1];
}

// Changes an envelope to its pattern i: bit 0 of i replaces the tag by MPI_ANY_TAG, bit 1 the source by MPI_ANY_SOURCE.
static void apply_pattern(int i, int32_t *source, int32_t *tag) {
	if (i & 2)
		*source = MPI_ANY_SOURCE;
	if (i & 1)
		*tag = MPI_ANY_TAG;
}

// Stores the key of the fifo that contains the message of the send with this id. No receive has this key, because the
// key's source is neither a rank nor MPI_ANY_SOURCE. Sends whose ids differ only above bit 31 share a fifo.
static void send_key(int32_t from, uint64_t id, int32_t *source, int32_t *tag) {
	*source = INT32_MIN + from;
	*tag = (int32_t)(uint32_t)id;
}

static uint32_t bucket_of(const struct gompi_index *x, int32_t source, int32_t tag) {
	uint64_t h = ((uint64_t)(uint32_t)source << 32 | (uint32_t)tag) * 0x9e3779b97f4a7c15ULL;
	return (uint32_t)(h >> 32) & x->mask;
}

static struct gompi_fifo *find_fifo(const struct gompi_index *x, int32_t source, int32_t tag) {
	struct gompi_fifo *f = x->bucket[bucket_of(x, source, tag)];
	while (f != NULL && (f->source != source || f->tag != tag))
		f = f->next;
	return f;
}

static void grow_index(struct gompi_index *x) {
	struct gompi_fifo **old = x->bucket;
	uint32_t buckets = x->mask + 1;
	struct gompi_fifo **larger = calloc(2 * buckets, sizeof *larger);
	if (larger == NULL)
		return; // out of memory: the table keeps its size, so searches are slower
	x->bucket = larger;
	x->mask = 2 * buckets - 1;
	for (uint32_t i = 0; i < buckets; i++)
		for (struct gompi_fifo *f = old[i], *next; f != NULL; f = next) {
			next = f->next;
			struct gompi_fifo **to = &x->bucket[bucket_of(x, f->source, f->tag)];
			f->next = *to;
			*to = f;
		}
	free(old);
}

static struct gompi_fifo *fifo_of(struct gompi_index *x, int32_t source, int32_t tag, int link_index) {
	struct gompi_fifo *f = find_fifo(x, source, tag);
	if (f != NULL)
		return f;
	if (++x->fifo_count > x->mask)
		grow_index(x);
	f = x->free_list;
	if (f != NULL)
		x->free_list = f->next;
	else
		f = gompi_alloc_or_abort(sizeof *f);
	struct gompi_fifo **to = &x->bucket[bucket_of(x, source, tag)];
	*f = (struct gompi_fifo){.source = source, .tag = tag, .link_index = link_index, .next = *to};
	*to = f;
	return f;
}

static void free_fifo(struct gompi_index *x, struct gompi_fifo *f) {
	struct gompi_fifo **at = &x->bucket[bucket_of(x, f->source, f->tag)];
	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
	f->next = x->free_list;
	x->free_list = f;
	x->fifo_count--;
}

static void add_to_fifo(struct gompi_list *l, struct gompi_entry *e, int32_t source, int32_t tag, int i) {
	struct gompi_fifo *f = fifo_of(l->index, source, tag, i);
	gompi_fifo_append(f, e, link_at(e, i), f->last != NULL ? link_at(f->last, i) : NULL);
}

static void add_to_index(struct gompi_list *l, struct gompi_entry *e) {
	struct gompi_listed_message *m = (struct gompi_listed_message *)e;
	int32_t source, tag;
	if (l->has_messages && m->index_links == NULL)
		m->index_links = gompi_alloc_or_abort((GOMPI_ENTRY_LINKS - 1) * sizeof *m->index_links);
	for (int i = 0; i < (l->has_messages ? GOMPI_PATTERNS : 1); i++) {
		source = e->source, tag = e->tag;
		apply_pattern(i, &source, &tag);
		add_to_fifo(l, e, source, tag, i);
	}
	if (!l->has_messages)
		return;
	link_at(e, GOMPI_PATTERNS)->fifo = NULL;
	if (m->id != 0) {
		send_key(m->from, m->id, &source, &tag);
		add_to_fifo(l, e, source, tag, GOMPI_PATTERNS);
	}
}

// Builds the index of a list. Returns false if out of memory; the list then stays without an index.
static __attribute__((noinline)) bool make_index(struct gompi_list *l) {
	struct gompi_index *x = calloc(1, sizeof *x);
	struct gompi_fifo **bucket = calloc(BUCKETS, sizeof *bucket);
	if (x == NULL || bucket == NULL) {
		free(x);
		free(bucket);
		return false;
	}
	x->bucket = bucket;
	x->mask = BUCKETS - 1;
	l->index = x;
	for (struct gompi_entry *e = l->entries.first, *next; e != NULL; e = next) {
		next = e->list_link.next;
		add_to_index(l, e);
	}
	l->entries.first = l->entries.last = NULL;
	return true;
}

static void free_index(struct gompi_list *l) {
	struct gompi_index *x = l->index;
	gompi_free_all(x->free_list, offsetof(struct gompi_fifo, next));
	free(x->bucket);
	free(x);
	l->index = NULL;
}

void gompi_list_add_indexed(struct gompi_list *l, struct gompi_entry *e) { add_to_index(l, e); }

void gompi_list_remove_indexed(struct gompi_list *l, struct gompi_entry *e) {
	for (int i = 0; i < (l->has_messages ? GOMPI_ENTRY_LINKS : 1); i++) {
		struct gompi_entry_link *p = link_at(e, i);
		struct gompi_fifo *f = p->fifo;
		if (f == NULL)
			continue;
		if (p->prev != NULL)
			link_at(p->prev, i)->next = p->next;
		else
			f->first = p->next;
		if (p->next != NULL)
			link_at(p->next, i)->prev = p->prev;
		else
			f->last = p->prev;
		if (f->first == NULL)
			free_fifo(l->index, f);
	}
	if (l->count == 0)
		free_index(l);
}

// Returns true if a receive with this source and tag matches a message with message_source and message_tag.
static inline bool receive_matches(int32_t source, int32_t tag, int32_t message_source, int32_t message_tag) {
	return (source == message_source || source == MPI_ANY_SOURCE) && (tag == message_tag || tag == MPI_ANY_TAG);
}

struct gompi_entry *gompi_list_find_receive(struct gompi_list *l, int32_t source, int32_t tag) {
	if (__builtin_expect(l->index == NULL, 1)) {
		int passed = 0;
		for (struct gompi_entry *e = l->entries.first; e != NULL; e = e->list_link.next, passed++) {
			if (receive_matches(e->source, e->tag, source, tag))
				return e;
			if (passed == GOMPI_INDEX_THRESHOLD && make_index(l))
				return gompi_list_find_receive(l, source, tag);
		}
		return NULL;
	}
	struct gompi_entry *oldest = NULL;
	for (int i = 0; i < GOMPI_PATTERNS; i++) {
		int32_t s = source, t = tag;
		apply_pattern(i, &s, &t);
		const struct gompi_fifo *f = find_fifo(l->index, s, t);
		if (f != NULL && (oldest == NULL || f->first->seq < oldest->seq))
			oldest = f->first;
	}
	return oldest;
}

struct gompi_entry *gompi_list_find_message(struct gompi_list *l, int32_t source, int32_t tag) {
	if (__builtin_expect(l->index == NULL, 1)) {
		int passed = 0;
		for (struct gompi_entry *e = l->entries.first; e != NULL; e = e->list_link.next, passed++) {
			if (receive_matches(source, tag, e->source, e->tag))
				return e;
			if (passed == GOMPI_INDEX_THRESHOLD && make_index(l))
				return gompi_list_find_message(l, source, tag);
		}
		return NULL;
	}
	const struct gompi_fifo *f = find_fifo(l->index, source, tag);
	return f != NULL ? f->first : NULL;
}

struct gompi_entry *gompi_list_oldest(struct gompi_list *l) {
	if (l->index == NULL)
		return l->entries.first;
	const struct gompi_fifo *f = find_fifo(l->index, MPI_ANY_SOURCE, MPI_ANY_TAG);
	return f != NULL ? f->first : NULL;
}

struct gompi_entry *gompi_list_find_send(struct gompi_list *l, int32_t from, uint64_t id) {
	if (id == 0)
		return NULL;
	if (l->index == NULL && l->count > GOMPI_INDEX_THRESHOLD)
		make_index(l);
	const struct gompi_fifo *f = &l->entries;
	if (l->index != NULL) {
		int32_t source, tag;
		send_key(from, id, &source, &tag);
		if ((f = find_fifo(l->index, source, tag)) == NULL)
			return NULL;
	}
	for (struct gompi_entry *e = f->first; e != NULL; e = link_at(e, f->link_index)->next) {
		const struct gompi_listed_message *m = (const struct gompi_listed_message *)e;
		if (m->from == from && m->id == id)
			return e;
	}
	return NULL;
}

static uint32_t queue_bucket(const struct gompi_queues *qs, uint64_t context) {
	return (uint32_t)((context * 0x9e3779b97f4a7c15ULL) >> 32) & qs->mask;
}

struct gompi_queue *gompi_queue_find(struct gompi_queues *qs, uint64_t context) {
	if (qs->bucket == NULL)
		return NULL;
	struct gompi_queue *q = qs->bucket[queue_bucket(qs, context)];
	while (q != NULL && q->context != context)
		q = q->next;
	return q;
}

static void grow_queues(struct gompi_queues *qs) {
	struct gompi_queue **old = qs->bucket;
	uint32_t buckets = old != NULL ? qs->mask + 1 : 0, new_size = old != NULL ? 2 * buckets : 16;
	struct gompi_queue **bucket =
		old != NULL ? calloc(new_size, sizeof *bucket) : gompi_alloc_or_abort(new_size * sizeof *bucket);
	if (bucket == NULL)
		return; // out of memory: the table keeps its size, so searches are slower
	qs->bucket = bucket;
	qs->mask = new_size - 1;
	for (uint32_t i = 0; i < buckets; i++)
		for (struct gompi_queue *q = old[i], *next; q != NULL; q = next) {
			next = q->next;
			struct gompi_queue **to = &qs->bucket[queue_bucket(qs, q->context)];
			q->next = *to;
			*to = q;
		}
	free(old);
}

struct gompi_queue *gompi_queue_slow(struct gompi_queues *qs, uint64_t context) {
	struct gompi_queue *q = gompi_queue_find(qs, context);
	if (q == NULL) {
		qs->n++;
		if (qs->bucket == NULL || qs->n > qs->mask)
			grow_queues(qs);
		q = qs->free_list;
		if (q != NULL)
			qs->free_list = q->next;
		else
			q = gompi_alloc_or_abort(sizeof *q);
		struct gompi_queue **to = &qs->bucket[queue_bucket(qs, context)];
		*q = (struct gompi_queue){.context = context, .unexpected = {.has_messages = true}, .next = *to};
		*to = q;
	}
	qs->last = q;
	return q;
}

void gompi_queues_store_counts(const struct gompi_queues *qs) {
	for (uint32_t i = 0; qs->bucket != NULL && i <= qs->mask; i++)
		for (const struct gompi_queue *q = qs->bucket[i]; q != NULL; q = q->next)
			gompi_queue_store_counts(q);
}

static void release_counts(struct gompi_queue *q) {
	gompi_queue_store_counts(q);
	gompi_tool_counts_release(gompi_load(&q->tool_counts));
}

void gompi_queue_free(struct gompi_queues *qs, struct gompi_queue *q) {
	release_counts(q);
	struct gompi_queue **at = &qs->bucket[queue_bucket(qs, q->context)];
	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
	qs->n--;
	qs->last = NULL;
	q->next = qs->free_list;
	qs->free_list = q;
}

void gompi_queues_close(struct gompi_queues *qs) {
	for (uint32_t i = 0; qs->bucket != NULL && i <= qs->mask; i++) {
		for (struct gompi_queue *q = qs->bucket[i]; q != NULL; q = q->next)
			release_counts(q);
		gompi_free_all(qs->bucket[i], offsetof(struct gompi_queue, next));
	}
	gompi_free_all(qs->free_list, offsetof(struct gompi_queue, next));
	free(qs->bucket);
	*qs = (struct gompi_queues){0};
}
