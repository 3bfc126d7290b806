// A record is built in memory of its thread, and copied to the ring when it is complete.

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "insight/record.h"

const char gompi_insight_absent[1];

// Words that lists and texts leave free for the words that follow them.
#define SPARE 64

void gompi_insight_start(struct gompi_insight_thread *t, uint32_t function, void *caller) {
	uintptr_t address = (uintptr_t)caller;
	if (t->mode & GOMPI_INSIGHT_MODE_ACCESSES && gompi_insight_own.pass_on != NULL)
		gompi_insight_own.pass_on(t);
	if (__builtin_expect(address - t->low >= t->size, 0))
		address = gompi_insight_caller(t, address);
	t->truncated = false;
	t->used = GOMPI_INSIGHT_HEAD_WORDS;
	t->words[0] = function;
	t->words[1] = t->number;
	t->words[3] = 0;
	t->words[4] = address;
	t->words[5] = 0;
	t->words[2] = gompi_insight_now(CLOCK_MONOTONIC);
}

static void list_head(struct gompi_insight_thread *t, uint64_t state, uint64_t n) {
	t->words[t->used++] = state << 32 | n;
	t->truncated |= state == GOMPI_INSIGHT_STATE_TRUNCATED;
}

// Returns true if a pointer refers to memory. Otherwise writes its special value to the record.
static bool points(struct gompi_insight_thread *t, const void *pointer) {
	uintptr_t address = (uintptr_t)pointer;
	if (address >= 4096)
		return true;
	if (address == 0) {
		list_head(t, GOMPI_INSIGHT_STATE_NULL, 0);
	} else {
		list_head(t, GOMPI_INSIGHT_STATE_SPECIAL, 1);
		t->words[t->used++] = address;
	}
	return false;
}

void gompi_insight_list(struct gompi_insight_thread *t, const void *elements, int64_t n, size_t size) {
	if (n < 0) {
		list_head(t, GOMPI_INSIGHT_STATE_ABSENT, 0);
		return;
	}
	if (!points(t, elements))
		return;
	int64_t words = size <= 8 ? 1 : size / 8, room = GOMPI_INSIGHT_MAX_RECORD - SPARE - (int64_t)t->used;
	int64_t most = room / words < GOMPI_INSIGHT_ELEMENTS ? room / words : GOMPI_INSIGHT_ELEMENTS;
	most = most < 0 ? 0 : most;
	list_head(t, n > most ? GOMPI_INSIGHT_STATE_TRUNCATED : GOMPI_INSIGHT_STATE_GIVEN, n > most ? most : n);
	n = n > most ? most : n;
	uint64_t *to = t->words + t->used;
	if (size == sizeof(int)) {
		for (int64_t i = 0; i < n; i++)
			to[i] = ((const int *)elements)[i];
	} else {
		memcpy(to, elements, n * words * sizeof *to);
	}
	t->used += n * words;
}

void gompi_insight_text(struct gompi_insight_thread *t, const char *text) {
	if (text == gompi_insight_absent) {
		list_head(t, GOMPI_INSIGHT_STATE_ABSENT, 0);
		return;
	}
	if (!points(t, text))
		return;
	int64_t room = 8 * (GOMPI_INSIGHT_MAX_RECORD - SPARE - (int64_t)t->used);
	size_t most = room < 0 ? 0 : room < GOMPI_INSIGHT_ELEMENTS ? room : GOMPI_INSIGHT_ELEMENTS;
	size_t n = strnlen(text, most + 1), words = ((n > most ? most : n) + 7) / 8;
	list_head(t, n > most ? GOMPI_INSIGHT_STATE_TRUNCATED : GOMPI_INSIGHT_STATE_GIVEN, n > most ? most : n);
	if (words > 0) {
		t->words[t->used + words - 1] = 0;
		memcpy(t->words + t->used, text, n > most ? most : n);
	}
	t->used += words;
}

void gompi_insight_returned(struct gompi_insight_thread *t, int64_t result) {
	t->words[3] = gompi_insight_now(CLOCK_MONOTONIC);
	t->words[5] = result;
}

bool gompi_insight_found(struct gompi_insight_thread *t, int rc, const int *flag) {
	if (rc != MPI_SUCCESS || flag == NULL || *flag || t->mode & GOMPI_INSIGHT_MODE_POLLS)
		return true;
	gompi_add(&gompi_insight_part->polls, 1);
	return false;
}

static void wake(gompi_a32 *word) {
	gompi_add_total(word, 1);
	syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void call_reader(void) {
	if (gompi_load(&gompi_insight_job->sleeping) && gompi_swap_total(&gompi_insight_job->sleeping, 0))
		wake(&gompi_insight_job->bell);
}

bool gompi_insight_await(struct gompi_insight_wait *w, gompi_a64 *position, uint64_t seen, gompi_a32 *bell,
			 gompi_a32 *waits) {
	const int64_t patience = INT64_C(10) * 1000000000;
	const struct timespec moment = {.tv_nsec = 20 * 1000 * 1000};
	int64_t since = gompi_insight_now(CLOCK_MONOTONIC);
	if (gompi_load(&w->given_up) == seen + 1)
		return false;
	while (gompi_load_acquire(position) == seen) { // pairs with the stores in core/insight
		uint32_t rung = gompi_load_total(bell);
		gompi_store_total(waits, 1);
		call_reader();
		if (gompi_load_total(position) != seen)
			break;
		syscall(SYS_futex, bell, FUTEX_WAIT, rung, &moment, NULL, 0);
		if (gompi_insight_now(CLOCK_MONOTONIC) - since > patience) {
			gompi_store(&w->given_up, seen + 1);
			return false;
		}
	}
	return true;
}

// Waits until gompirun has read a part of the ring. Returns false if it has not read for a long time.
static bool await_reader(struct gompi_insight_part *part, uint64_t tail) {
	static struct gompi_insight_wait wait;
	return gompi_insight_await(&wait, &part->tail, tail, &part->room, &part->full);
}

// Copies the record to the ring. If records may be dropped, a quarter of the ring is reserved for records that are not
// `alone`, since others depend on them.
static void to_ring(struct gompi_insight_thread *t, uint32_t flags, bool alone) {
	struct gompi_insight_part *part = gompi_insight_part;
	uint64_t size = gompi_insight_job->ring_size / 8, n = t->used, head = gompi_load(&part->head), tail;
	uint64_t room = alone && !(t->mode & GOMPI_INSIGHT_MODE_WAITS) ? size - size / 4 : size;
	for (;;) {
		tail = gompi_load_acquire(&part->tail); // space that has been read is zero again
		if (head + n - tail > room) {
			if (!(t->mode & GOMPI_INSIGHT_MODE_WAITS) || !await_reader(part, tail)) {
				if (!alone) // before any later record
					gompi_add(&part->broken, 1);
				if (!(flags & GOMPI_INSIGHT_FLAG_ENTRY)) // each call once
					gompi_add(&part->dropped, 1);
				t->ends = 0;
				return;
			}
			head = gompi_load(&part->head);
		} else if (gompi_change(&part->head, &head, head + n)) {
			break;
		}
	}
	t->ends = head + n;
	gompi_a64 *to = part->ring + (head & (size - 1));
	flags |= t->truncated ? GOMPI_INSIGHT_FLAG_TRUNCATED : 0;
	memcpy((void *)(to + 1), t->words + 1, (n - 1) * sizeof *to);
	// Release: a reader that sees the first word sees the whole record; pairs with its load in core/insight.
	gompi_store_release(to, (t->words[0] & 0xffff) | flags << 16 | n << 32);
	if (__builtin_expect(head + n - tail > size / 4, 0))
		call_reader();
}

void gompi_insight_entered(struct gompi_insight_thread *t) {
	if (t->mode & GOMPI_INSIGHT_MODE_ENTRIES)
		to_ring(t, GOMPI_INSIGHT_FLAG_ENTRY, false);
}

void gompi_insight_operates(struct gompi_insight_thread *t) {
	if (gompi_insight_asks(t))
		to_ring(t, GOMPI_INSIGHT_FLAG_ENTRY, false);
}

void gompi_insight_write_words(struct gompi_insight_thread *t) { to_ring(t, 0, false); }

static void write_call(struct gompi_insight_thread *t, bool alone) {
	to_ring(t, 0, alone);
	if (t->mode & GOMPI_INSIGHT_MODE_ACCESSES && gompi_insight_own.learn != NULL)
		gompi_insight_own.learn(t);
}

void gompi_insight_write(struct gompi_insight_thread *t) { write_call(t, false); }

void gompi_insight_write_alone(struct gompi_insight_thread *t) { write_call(t, true); }
