#include "message/inbox.h"

// Prefetch distance for writing. The owner has read these lines, and to fetch one from its core takes as long as a
// small message itself.
enum { AHEAD = 4 * GOMPI_LINE };

static inline void want_line(const void *p) {
#if defined(__x86_64__)
	__asm__ __volatile__("prefetchw %0" ::"m"(*(const char *)p));
#else
	__builtin_prefetch(p, 1);
#endif
}

struct gompi_room gompi_inbox_reserve(struct gompi_inbox *b, gompi_a64 *head, int64_t n) {
	uint64_t need = (uint64_t)gompi_lines(n), tail = gompi_load(&b->tail), key = gompi_load(&b->key), place, pad,
		 end;
	do {
		place = tail % INBOX_DATA;
		pad = place + need > INBOX_DATA ? INBOX_DATA - place : 0;
		end = tail + pad + need;
		// acquire: pairs with the release in gompi_inbox_announce: the owner has finished reading this space
		if (end - gompi_load_acquire(head) > INBOX_DATA) {
			gompi_store_release(head, gompi_load_acquire(&b->head));
			if (end - gompi_load_acquire(head) > INBOX_DATA)
				return (struct gompi_room){0};
		}
	} while (!gompi_change_acq_rel(&b->tail, &tail, end));
	if (__builtin_expect(pad > 0, 0)) {
		struct gompi_room padding = {(struct gompi_record *)(b->data + place), key + tail};
		gompi_inbox_publish(padding, gompi_record_word(RECORD_PAD, 0, (int64_t)pad));
		place = 0;
	}
	uint64_t next = place + need + AHEAD;
	if (next < INBOX_DATA)
		want_line(b->data + next);
	return (struct gompi_room){(struct gompi_record *)(b->data + place), key + tail + pad};
}

bool gompi_inbox_want(struct gompi_inbox *b, int me) {
	uint64_t bit = 1ULL << (me % 64);
	if (gompi_or_total(&b->waiters[me / 64], bit) & bit)
		return false;
	gompi_store_total(&b->wanted, 1);
	return true;
}

int gompi_inbox_waiting(struct gompi_inbox *b, int i, int n) {
	if (i == 0)
		gompi_store_total(&b->wanted, 0);
	for (; i < n; i++) {
		gompi_a64 *word = &b->waiters[i / 64];
		uint64_t bit = 1ULL << (i % 64);
		if (i % 64 == 0 && gompi_load_total(word) == 0) {
			i += 63;
			continue;
		}
		if ((gompi_load_total(word) & bit) != 0 && (gompi_and_total(word, ~bit) & bit) != 0)
			return i;
	}
	return -1;
}
