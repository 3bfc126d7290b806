#include "message/inbox.h"

#include "base/minmax.h"

// Distance of the prefetch for the next records, and the most bytes that it fetches: as many as this record has. The
// prefetch is needed because the owner's core still has these lines in its cache: fetching one of them takes as long as
// sending a small message.
enum { PREFETCH_BYTES = 4 * GOMPI_CACHE_LINE, MAX_PREFETCHED_BYTES = 8 * GOMPI_CACHE_LINE };

struct gompi_reservation gompi_inbox_reserve(struct gompi_inbox *b, gompi_a64 *head, int64_t n) {
	uint64_t need = (uint64_t)gompi_round_to_lines(n), tail = gompi_load(&b->tail), key = gompi_load(&b->key),
		 place, pad, end;
	do {
		place = tail % INBOX_DATA;
		pad = place + need > INBOX_DATA ? INBOX_DATA - place : 0;
		end = tail + pad + need;
		// acquire: pairs with the release in gompi_inbox_release: the owner has finished reading this space
		if (end - gompi_load_acquire(head) > INBOX_DATA) {
			gompi_store_release(head, gompi_load_acquire(&b->head));
			if (end - gompi_load_acquire(head) > INBOX_DATA)
				return (struct gompi_reservation){0};
		}
	} while (!gompi_cas_weak_acq_rel(&b->tail, &tail, end));
	if (__builtin_expect(pad > 0, 0)) {
		struct gompi_reservation padding = {(struct gompi_record *)(b->data + place), key + tail};
		gompi_inbox_publish(padding, gompi_record_word(RECORD_PAD, 0, (int64_t)pad));
		place = 0;
	}
	uint64_t next = place + need + PREFETCH_BYTES, prefetch_end = next + gompi_min_u64(need, MAX_PREFETCHED_BYTES);
	for (; prefetch_end <= INBOX_DATA && next < prefetch_end; next += GOMPI_CACHE_LINE)
		gompi_prefetch_write(b->data + next);
	return (struct gompi_reservation){(struct gompi_record *)(b->data + place), key + tail + pad};
}

bool gompi_inbox_register_waiter(struct gompi_inbox *b, int me) {
	uint64_t bit = 1ULL << (me % 64);
	if (gompi_or_seq_cst(&b->waiters[me / 64], bit) & bit)
		return false;
	gompi_store_seq_cst(&b->has_waiters, 1);
	return true;
}

int gompi_inbox_next_waiter(struct gompi_inbox *b, int i, int n) {
	if (i == 0)
		gompi_store_seq_cst(&b->has_waiters, 0);
	for (; i < n; i++) {
		gompi_a64 *word = &b->waiters[i / 64];
		uint64_t bit = 1ULL << (i % 64);
		if (i % 64 == 0 && gompi_load_seq_cst(word) == 0) {
			i += 63;
			continue;
		}
		if ((gompi_load_seq_cst(word) & bit) != 0 && (gompi_and_seq_cst(word, ~bit) & bit) != 0)
			return i;
	}
	return -1;
}

void gompi_inbox_clear(struct gompi_inbox *b) {
	gompi_store(&b->head, gompi_load(&b->tail));
	gompi_store(&b->has_waiters, 0);
	gompi_store(&b->flow, FLOW_EAGER);
	for (int i = 0; i < GOMPI_MAX_NODE_PROCESSES / 64; i++)
		gompi_store(&b->waiters[i], 0);
}
