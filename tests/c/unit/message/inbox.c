/* Proves: records that several threads append to the ring of an inbox (message/inbox.h) arrive complete. The records of
 * each thread arrive in order, although the ring is not cleared between records. The records in the ring never exceed
 * its size. A record that does not fit before the end of the ring is preceded by padding. A producer that found no
 * space is notified when space is free. An invalid first word of a record is rejected. The fields of the inbox and of
 * records have the documented offsets. */
#include "../unit.h"

#include "message/inbox.h"

static struct gompi_inbox *inbox(void) { return (struct gompi_inbox *)(void *)unit_memory(GOMPI_INBOX_SIZE); }

_Static_assert(offsetof(struct gompi_inbox, tail) == 0 && offsetof(struct gompi_inbox, head) == 64 &&
		       offsetof(struct gompi_inbox, has_waiters) == 72 && offsetof(struct gompi_inbox, flow) == 128 &&
		       offsetof(struct gompi_inbox, probe_address) == 136 &&
		       offsetof(struct gompi_inbox, probe_value) == 144 && offsetof(struct gompi_inbox, key) == 152 &&
		       offsetof(struct gompi_inbox, waiters) == 192 && offsetof(struct gompi_inbox, data) == 704,
	       "a process of another build would look elsewhere");
_Static_assert(offsetof(struct gompi_record, valid_flag) == 0 && offsetof(struct gompi_record, word) == 8 &&
		       offsetof(struct gompi_record, context) == 16 && offsetof(struct gompi_record, source) == 24 &&
		       offsetof(struct gompi_record, tag) == 28 && offsetof(struct gompi_record, from) == 32 &&
		       offsetof(struct gompi_record, class) == 36 && offsetof(struct gompi_record, size) == 40 &&
		       offsetof(struct gompi_record, id) == 48,
	       "a process of another build would read something else");
enum { MAX_RECORD_BYTES = RECORD_LINE + RECORD_MAX_DATA };
_Static_assert(sizeof(struct gompi_inbox) + INBOX_DATA <= GOMPI_INBOX_SIZE && INBOX_DATA % GOMPI_CACHE_LINE == 0 &&
		       INBOX_DATA >= 2 * MAX_RECORD_BYTES,
	       "the data ends inside");

/* --- Several producers, one owner */

enum { PRODUCERS = 4, EACH = 30000, LONGEST = 3000 };
static const uint64_t KEY = 0x123456789abcdec0;

static struct gompi_inbox *shared;
static gompi_a32 notified[PRODUCERS + 1]; /* [i] is 1 if the owner has notified producer i of free space */
static gompi_a64 wait_count;

static uint32_t next(uint32_t *x) { return (*x = *x * 1664525 + 1013904223) >> 8; }

static int64_t length_of(int producer, int i) {
	uint32_t x = (uint32_t)(producer * EACH + i) * 2654435761U;
	return RECORD_SIZE + (next(&x) % 16 == 0 ? next(&x) % LONGEST : next(&x) % 100);
}

static void produce(int me) {
	gompi_a64 head = 0;
	for (int i = 0; i < EACH; i++) {
		int64_t n = length_of(me, i);
		struct gompi_reservation reservation;
		for (bool registered = false; (reservation = gompi_inbox_reserve(shared, &head, n)).record == NULL;) {
			if (!registered) { /* registers, then retries, because space may have become free meanwhile */
				gompi_store(&notified[me], 0);
				gompi_inbox_register_waiter(shared, me);
				registered = true;
				continue;
			}
			gompi_add(&wait_count, 1);
			UNIT_UNTIL(gompi_load_acquire(&notified[me]) != 0);
			registered = false;
		}
		CHECK(gompi_load(&shared->tail) - gompi_load(&shared->head) <= INBOX_DATA, "overfilled");
		struct gompi_record *r = reservation.record;
		CHECK((uintptr_t)r % GOMPI_CACHE_LINE == 0 && (char *)r >= shared->data &&
			      (char *)r + gompi_round_to_lines(n) <= shared->data + INBOX_DATA,
		      "a record of %d bytes in the wrong place", (int)n);
		r->from = me, r->tag = i;
		memset(r + 1, me * 16 + i % 16, (size_t)(n - RECORD_SIZE));
		gompi_inbox_publish(reservation, gompi_record_word(RECORD_EAGER, (unsigned)(i % 16), n));
	}
}

static void consume(void) {
	uint64_t head = gompi_load(&shared->head), last = head;
	int seen[PRODUCERS] = {0}, pads = 0;
	char *at = gompi_inbox_at(shared, head);
	for (int total = 0; total < PRODUCERS * EACH;) {
		if (!gompi_inbox_has_record(at, KEY + head)) {
			if (last == head) {
				sched_yield();
				continue;
			}
		} else {
			uint64_t word = ((struct gompi_record *)(void *)at)->word;
			CHECK(!gompi_inbox_is_damaged(shared, word, at), "word %#llx at %llu is damaged",
			      (unsigned long long)word, (unsigned long long)head);
			int64_t n = gompi_record_length(word);
			if (gompi_record_kind(word) == RECORD_PAD) {
				pads++;
				CHECK(head % INBOX_DATA + (uint64_t)n == INBOX_DATA, "padding of %d bytes", (int)n);
			} else {
				struct gompi_record *r = (struct gompi_record *)(void *)at;
				int from = r->from;
				if (from < 0 || from >= PRODUCERS)
					abort();
				int i = seen[from]++;
				CHECK(r->tag == i && n == length_of(from, i) &&
					      gompi_record_kind(word) == RECORD_EAGER &&
					      gompi_record_flags(word) == (unsigned)(i % 16),
				      "record %d of %d is number %d, of %d bytes", i, from, r->tag, (int)n);
				for (char *c = (char *)(r + 1); c < at + n; c++)
					if (*c != (char)(from * 16 + i % 16)) {
						CHECK(0, "record %d of %d has other data", i, from);
						break;
					}
				total++;
			}
			at = gompi_inbox_next_record(shared, at, n);
			head += (uint64_t)gompi_round_to_lines(n);
			CHECK(at == gompi_inbox_at(shared, head), "the next record is at another place");
			if (head - last < INBOX_DATA / 4)
				continue;
		}
		last = head;
		gompi_inbox_release(shared, head);
		gompi_full_fence();
		if (gompi_inbox_should_notify(shared))
			for (int i = -1; (i = gompi_inbox_next_waiter(shared, i + 1, PRODUCERS)) >= 0;)
				gompi_store_release(&notified[i], 1);
	}
	CHECK(pads > 0, "nothing was padded");
	CHECK(head == gompi_load(&shared->tail), "%llu of %llu bytes", (unsigned long long)head,
	      (unsigned long long)gompi_load(&shared->tail));
}

static void producer_or_owner(int i) {
	if (i < PRODUCERS)
		produce(i);
	else
		consume();
}

/* --- One thread */

static void fill_from_each_position(void) {
	struct gompi_inbox *b = inbox();
	gompi_a64 head = 0;
	/* From each of many start positions, appends records until none fits. Then all cache lines of the ring must be
	 * reserved. */
	for (int start = 0; start < 3 * INBOX_DATA / GOMPI_CACHE_LINE; start += 97) {
		int n = 0;
		uint64_t at = gompi_load(&b->tail), end;
		while (gompi_inbox_reserve(b, &head, MAX_RECORD_BYTES).record != NULL)
			n++;
		CHECK(n >= 2 && n <= INBOX_DATA / MAX_RECORD_BYTES, "%d of the longest fit", n);
		while (gompi_inbox_reserve(b, &head, RECORD_SIZE).record != NULL)
			n++;
		end = gompi_load(&b->tail);
		CHECK(end - at == INBOX_DATA, "%d bytes were reserved", (int)(end - at));
		gompi_inbox_release(b, end);
		for (int i = 0; i < start % 1009; i++) { /* advances to the next start position */
			CHECK(gompi_inbox_reserve(b, &head, RECORD_SIZE).record != NULL, "no space for a record");
			gompi_inbox_release(b, end += GOMPI_CACHE_LINE);
		}
	}
}

static void damaged_words(void) {
	struct gompi_inbox *b = inbox();
	static const struct {
		int kind;
		int64_t n;
		uint64_t left; /* number of bytes from the beginning of the record to the end of the ring */
		bool damaged;
	} cases[] = {
		{RECORD_EAGER, RECORD_SIZE, INBOX_DATA, false},
		{RECORD_EAGER, RECORD_SIZE - 1, INBOX_DATA, true},
		{RECORD_EAGER, 0, INBOX_DATA, true},
		{RECORD_EAGER, MAX_RECORD_BYTES, MAX_RECORD_BYTES, false},
		{RECORD_EAGER, MAX_RECORD_BYTES, MAX_RECORD_BYTES - GOMPI_CACHE_LINE, true},
		{RECORD_EAGER, 65, GOMPI_CACHE_LINE, true},
		{RECORD_EAGER, UINT32_MAX, INBOX_DATA, true},
		{RECORD_PAD, GOMPI_CACHE_LINE, GOMPI_CACHE_LINE, false},
		{RECORD_PAD, 2 * GOMPI_CACHE_LINE, GOMPI_CACHE_LINE, true},
		{RECORD_PAD, 0, GOMPI_CACHE_LINE, true},
		{0, RECORD_SIZE, INBOX_DATA, true},
		{RECORD_KIND_COUNT, RECORD_SIZE, INBOX_DATA, true},
		{RECORD_KIND_COUNT - 1, RECORD_SIZE, INBOX_DATA, false},
		{255, RECORD_SIZE, INBOX_DATA, true},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t word = (uint64_t)cases[i].kind << 32 | (uint64_t)cases[i].n;
		const char *at = b->data + INBOX_DATA - cases[i].left;
		CHECK(gompi_inbox_is_damaged(b, word, at) == cases[i].damaged, "case %d", (int)i);
	}
}

static void waiting(void) {
	struct gompi_inbox *b = inbox();
	static const int producers[] = {0, 63, 64, 200, GOMPI_MAX_NODE_PROCESSES - 1};
	for (int round = 0; round < 2; round++) {
		CHECK(gompi_inbox_next_waiter(b, 0, GOMPI_MAX_NODE_PROCESSES) == -1, "nobody waits");
		for (int i = 0; i < 5; i++) {
			CHECK(gompi_inbox_register_waiter(b, producers[i]), "%d asks for the first time", producers[i]);
			CHECK(!gompi_inbox_register_waiter(b, producers[i]), "%d has asked already", producers[i]);
		}
		int i = -1;
		for (int k = 0; k < 5; k++) {
			i = gompi_inbox_next_waiter(b, i + 1, GOMPI_MAX_NODE_PROCESSES);
			CHECK(i == producers[k], "%d waits, not %d", producers[k], i);
		}
		CHECK(gompi_inbox_next_waiter(b, i + 1, GOMPI_MAX_NODE_PROCESSES) == -1, "nobody else waits");
	}
	/* Waiting producers are notified when half of the ring is free, not before. */
	gompi_a64 head = 0;
	gompi_inbox_register_waiter(b, 3);
	while (gompi_inbox_reserve(b, &head, RECORD_SIZE).record != NULL)
		;
	gompi_inbox_release(b, INBOX_DATA / 4 / GOMPI_CACHE_LINE * GOMPI_CACHE_LINE);
	CHECK(!gompi_inbox_should_notify(b), "a quarter is free");
	gompi_inbox_release(b, (INBOX_DATA / 2 / GOMPI_CACHE_LINE + 1) * GOMPI_CACHE_LINE);
	CHECK(gompi_inbox_should_notify(b), "half of it is free");
}

int main(void) {
	shared = inbox();
	gompi_store(&shared->key, KEY);
	unit_threads(PRODUCERS + 1, producer_or_owner);
	CHECK(gompi_load(&wait_count) > 0, "no sender had to wait for space");
	fill_from_each_position();
	damaged_words();
	waiting();
	return unit_end();
}
