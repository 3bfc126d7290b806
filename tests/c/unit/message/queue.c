/* Proves: lookups in a list of receives or of messages (message/queue.h) find the same entries as a search of a plain
 * array: with and without an index, after any additions and removals, and with all wildcards. The number of steps of a
 * lookup does not depend on the length of the list. Queues are found by their context and are reused.
 *
 * sanitizer: address (one thread)
 */
#include "../unit.h"

#include "message/messages.h"
#include "message/queue.h"

enum { SOURCES = 4, TAGS = 5, MAX_ENTRIES = 400, STEPS = 60000 };

static uint32_t state = 1;
static int below(int n) { return (int)((state = state * 1664525 + 1013904223) >> 8) % n; }

/* The plain array: the n entries of the list, oldest first. */
static struct gompi_entry *plain[MAX_ENTRIES];
static int n;

static int matches(bool messages, const struct gompi_entry *e, int source, int tag) {
	if (messages) /* the lookup has source and tag of a receive, which may be wildcards */
		return (source == MPI_ANY_SOURCE || e->source == source) && (tag == MPI_ANY_TAG || e->tag == tag);
	return (e->source == MPI_ANY_SOURCE || e->source == source) && (e->tag == MPI_ANY_TAG || e->tag == tag);
}

static struct gompi_entry *first(bool messages, int source, int tag) {
	for (int i = 0; i < n; i++)
		if (matches(messages, plain[i], source, tag))
			return plain[i];
	return NULL;
}

/* Returns the message that a lookup by the sender and the send id of `e` finds. Half of the messages have an id. */
static struct gompi_entry *of_send(struct gompi_list *l, const struct gompi_entry *e) {
	const struct gompi_message *m = (const struct gompi_message *)e;
	return gompi_list_find_send(l, m->from, m->id);
}

static void compare_with_array(bool messages) {
	/* Each entry is a member of a message, as in the engine. */
	static struct gompi_message messages_memory[MAX_ENTRIES];
	struct gompi_list l = {.has_messages = messages};
	struct gompi_entry *free_ones[MAX_ENTRIES];
	int free_count = MAX_ENTRIES, indexed = 0;
	memset(messages_memory, 0, sizeof messages_memory);
	n = 0;
	for (int i = 0; i < MAX_ENTRIES; i++) {
		free_ones[i] = &messages_memory[i].entry;
		messages_memory[i].from = i % 2;
		messages_memory[i].id =
			i % 4 < 2 ? 0
				  : (uint64_t)(i % 3) << 32 | (uint64_t)(i / 4 + 1); /* some ids have the same hash */
	}
	for (int step = 0; step < STEPS; step++) {
		/* Makes the list grow and become empty repeatedly. */
		int target_count = step / 500 % 4 == 3 ? 0 : step / 500 % 4 == 1 ? MAX_ENTRIES : 40;
		int source = below(SOURCES), tag = below(TAGS);
		if (n < target_count && free_count > 0 && below(3) > 0) {
			struct gompi_entry *e = free_ones[--free_count];
			e->source = !messages && below(4) == 0 ? MPI_ANY_SOURCE : source;
			e->tag = !messages && below(4) == 0 ? MPI_ANY_TAG : tag;
			gompi_list_add(&l, e);
			plain[n++] = e;
		} else if (n > 0) {
			if (messages && below(3) == 0)
				source = MPI_ANY_SOURCE;
			if (messages && below(3) == 0)
				tag = MPI_ANY_TAG;
			struct gompi_entry *e = messages ? gompi_list_find_message(&l, source, tag)
							 : gompi_list_find_receive(&l, source, tag);
			CHECK(e == first(messages, source, tag), "step %d: other than the plain list", step);
			if (e == NULL || below(4) == 0)
				e = plain[below(n)]; /* removes any entry, as a cancel does */
			struct gompi_message *m = (struct gompi_message *)(void *)e;
			bool numbered = messages && m->id != 0;
			CHECK(!messages || of_send(&l, e) == (numbered ? e : NULL), "step %d: a send's message", step);
			if (below(3) == 0 && numbered) { /* resets the id first, as if no acknowledgement were needed */
				uint64_t id = m->id;
				m->id = 0;
				gompi_list_remove(&l, e);
				m->id = id;
			} else {
				gompi_list_remove(&l, e);
			}
			CHECK(!numbered || of_send(&l, e) == NULL, "step %d: a removed message is found", step);
			int at = 0;
			while (plain[at] != e)
				at++;
			memmove(plain + at, plain + at + 1, (size_t)(--n - at) * sizeof *plain);
			free_ones[free_count++] = e;
		}
		if (messages)
			CHECK(gompi_list_oldest(&l) == (n > 0 ? plain[0] : NULL), "step %d: the oldest", step);
		CHECK(l.count == n, "step %d: %d entries, not %d", step, (int)l.count, n);
		indexed += l.index != NULL;
	}
	CHECK(indexed > STEPS / 10 && indexed < STEPS * 9 / 10, "%d of %d steps had an index", indexed, STEPS);
	while (n > 0)
		gompi_list_remove(&l, plain[--n]);
	CHECK(l.index == NULL, "an empty list has an index");
	for (int i = 0; i < MAX_ENTRIES; i++)
		free(messages_memory[i].index_links);
}

/* Checks that a lookup in a long list visits only matching entries: all other entries lie in memory that is
 * inaccessible during the lookup. */
static void long_list(bool messages) {
	enum { LONG = 3000, PAGE = 4096 };
	char *guarded = unit_memory((size_t)LONG * PAGE);
	static struct gompi_message last;
	struct gompi_list l = {.has_messages = messages};
	for (int i = 0; i < LONG; i++) {
		struct gompi_entry *e = &((struct gompi_message *)(void *)(guarded + (size_t)i * PAGE))->entry;
		e->source = 1, e->tag = i;
		((struct gompi_message *)(void *)(guarded + (size_t)i * PAGE))->id = (uint64_t)i + 1;
		gompi_list_add(&l, e);
	}
	last.entry.source = 2, last.entry.tag = 7, last.id = LONG + 1;
	gompi_list_add(&l, &last.entry);
	/* the first lookup builds the index, while all entries are accessible */
	CHECK((messages ? gompi_list_find_message(&l, 2, 7) : gompi_list_find_receive(&l, 2, 7)) == &last.entry,
	      "not found");
	CHECK(l.index != NULL, "no index");
	mprotect(guarded, (size_t)LONG * PAGE, PROT_NONE);
	for (int i = 0; i < 3; i++) {
		struct gompi_entry *e = messages ? gompi_list_find_message(&l, 2, i == 1 ? MPI_ANY_TAG : 7)
						 : gompi_list_find_receive(&l, 2, 7);
		CHECK(e == &last.entry, "not found among many");
		CHECK(!messages || of_send(&l, &last.entry) == &last.entry, "not found among many");
		CHECK((messages ? gompi_list_find_message(&l, 3, 7) : gompi_list_find_receive(&l, 3, 7)) == NULL,
		      "found what is not there");
	}
	mprotect(guarded, (size_t)LONG * PAGE, PROT_READ | PROT_WRITE);
	for (int i = 0; i < LONG; i++) {
		struct gompi_message *m = (struct gompi_message *)(void *)(guarded + (size_t)i * PAGE);
		gompi_list_remove(&l, &m->entry);
		free(m->index_links);
	}
	gompi_list_remove(&l, &last.entry);
	free(last.index_links);
	last.index_links = NULL;
	CHECK(l.index == NULL, "an empty list has an index");
}

static void queues(void) {
	enum { CONTEXTS = 3000 };
	struct gompi_queues qs = {0};
	struct gompi_queue *q[CONTEXTS];
	CHECK(gompi_queue_find(&qs, 5) == NULL, "a queue that is not there");
	for (int turn = 0; turn < 2; turn++) {
		for (int i = 0; i < CONTEXTS; i++) {
			q[i] = gompi_queue_of(&qs, (uint64_t)i * 16);
			CHECK(q[i]->context == (uint64_t)i * 16 && q[i]->posted.count == 0 &&
				      q[i]->unexpected.has_messages,
			      "queue %d", i);
		}
		CHECK(qs.n == CONTEXTS, "%u queues", qs.n);
		for (int i = 0; i < CONTEXTS; i++) {
			CHECK(gompi_queue_of(&qs, (uint64_t)i * 16) == q[i], "another queue %d", i);
			CHECK(gompi_queue_find(&qs, (uint64_t)i * 16) == q[i], "another queue %d", i);
		}
		for (int i = 0; i < CONTEXTS; i++) {
			gompi_queue_free(&qs, q[(i * 7) % CONTEXTS]);
			CHECK(gompi_queue_find(&qs, (uint64_t)(i * 7 % CONTEXTS) * 16) == NULL, "queue %d stays", i);
		}
		CHECK(qs.n == 0, "%u queues", qs.n);
	}
	gompi_queue_of(&qs, 1);
	gompi_queues_close(&qs);
}

int main(void) {
	for (int messages = 0; messages < 2; messages++) {
		compare_with_array(messages);
		long_list(messages);
	}
	queues();
	return unit_end();
}
