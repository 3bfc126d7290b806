// Builds records. A record is built in memory of its thread and copied to the ring when it is complete.

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "insight/record.h"

const char gompi_insight_absent[1];

// Number of 8-byte words that lists and texts leave free in a record for the data that follows them.
#define RESERVED_WORDS 64

void gompi_insight_begin_record(struct gompi_insight_thread *t, uint32_t function, void *caller) {
	uintptr_t address = (uintptr_t)caller;
	if (t->mode & GOMPI_INSIGHT_MODE_ACCESSES && gompi_insight_hooks.before_call != NULL)
		gompi_insight_hooks.before_call(t);
	if (__builtin_expect(address - t->object_low >= t->object_bytes, 0))
		address = gompi_insight_app_caller(t, address);
	t->truncated = false;
	t->used_words = GOMPI_INSIGHT_HEAD_WORDS;
	t->words[0] = function;
	t->words[1] = t->number;
	t->words[3] = 0;
	t->words[4] = address;
	t->words[5] = 0;
	t->words[2] = gompi_insight_now(CLOCK_MONOTONIC);
}

static void write_list_head(struct gompi_insight_thread *t, uint64_t state, uint64_t n) {
	t->words[t->used_words++] = state << 32 | n;
	t->truncated |= state == GOMPI_INSIGHT_STATE_TRUNCATED;
}

// Returns true if a pointer refers to memory. Otherwise writes to the record that the pointer is NULL or, for an MPI
// constant, its value.
static bool points_to_memory(struct gompi_insight_thread *t, const void *pointer) {
	uintptr_t address = (uintptr_t)pointer;
	if (address >= 4096)
		return true;
	if (address == 0) {
		write_list_head(t, GOMPI_INSIGHT_STATE_NULL, 0);
	} else {
		write_list_head(t, GOMPI_INSIGHT_STATE_SPECIAL, 1);
		t->words[t->used_words++] = address;
	}
	return false;
}

void gompi_insight_add_list(struct gompi_insight_thread *t, const void *elements, int64_t n, size_t size) {
	if (n < 0) {
		write_list_head(t, GOMPI_INSIGHT_STATE_ABSENT, 0);
		return;
	}
	if (!points_to_memory(t, elements))
		return;
	int64_t words = size <= 8 ? 1 : size / 8,
		free_words = GOMPI_INSIGHT_MAX_RECORD - RESERVED_WORDS - (int64_t)t->used_words;
	int64_t max_count =
		free_words / words < GOMPI_INSIGHT_MAX_ELEMENTS ? free_words / words : GOMPI_INSIGHT_MAX_ELEMENTS;
	max_count = max_count < 0 ? 0 : max_count;
	write_list_head(t, n > max_count ? GOMPI_INSIGHT_STATE_TRUNCATED : GOMPI_INSIGHT_STATE_PRESENT,
			n > max_count ? max_count : n);
	n = n > max_count ? max_count : n;
	uint64_t *to = t->words + t->used_words;
	if (size == sizeof(int)) {
		for (int64_t i = 0; i < n; i++)
			to[i] = ((const int *)elements)[i];
	} else {
		memcpy(to, elements, n * words * sizeof *to);
	}
	t->used_words += n * words;
}

void gompi_insight_add_text(struct gompi_insight_thread *t, const char *text) {
	if (text == gompi_insight_absent) {
		write_list_head(t, GOMPI_INSIGHT_STATE_ABSENT, 0);
		return;
	}
	if (!points_to_memory(t, text))
		return;
	int64_t free_bytes = 8 * (GOMPI_INSIGHT_MAX_RECORD - RESERVED_WORDS - (int64_t)t->used_words);
	size_t max_bytes = free_bytes < 0                            ? 0
			   : free_bytes < GOMPI_INSIGHT_MAX_ELEMENTS ? free_bytes
								     : GOMPI_INSIGHT_MAX_ELEMENTS;
	size_t n = strnlen(text, max_bytes + 1), words = ((n > max_bytes ? max_bytes : n) + 7) / 8;
	write_list_head(t, n > max_bytes ? GOMPI_INSIGHT_STATE_TRUNCATED : GOMPI_INSIGHT_STATE_PRESENT,
			n > max_bytes ? max_bytes : n);
	if (words > 0) {
		t->words[t->used_words + words - 1] = 0;
		memcpy(t->words + t->used_words, text, n > max_bytes ? max_bytes : n);
	}
	t->used_words += words;
}

void gompi_insight_set_result(struct gompi_insight_thread *t, int64_t result) {
	t->words[3] = gompi_insight_now(CLOCK_MONOTONIC);
	t->words[5] = result;
}

bool gompi_insight_must_record(struct gompi_insight_thread *t, int rc, const int *flag) {
	if (rc != MPI_SUCCESS || flag == NULL || *flag || t->mode & GOMPI_INSIGHT_MODE_FAILED_TESTS)
		return true;
	gompi_add(&gompi_insight_part->failed_tests, 1);
	return false;
}

static void wake_futex(gompi_a32 *word) {
	gompi_add_seq_cst(word, 1);
	syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void wake_reader(void) {
	if (gompi_load(&gompi_insight_job->reader_asleep) && gompi_swap_seq_cst(&gompi_insight_job->reader_asleep, 0))
		wake_futex(&gompi_insight_job->doorbell);
}

bool gompi_insight_await_reader(struct gompi_insight_wait *w, gompi_a64 *position, uint64_t seen, gompi_a32 *doorbell,
				gompi_a32 *wait_flag) {
	const int64_t max_wait_ns = INT64_C(10) * 1000000000;
	const struct timespec poll_interval = {.tv_nsec = 20 * 1000 * 1000};
	int64_t start_ns = gompi_insight_now(CLOCK_MONOTONIC);
	if (gompi_load(&w->gave_up_at) == seen + 1)
		return false;
	while (gompi_load_acquire(position) == seen) { // pairs with the stores in core/insight
		uint32_t ticket = gompi_load_seq_cst(doorbell);
		gompi_store_seq_cst(wait_flag, 1);
		wake_reader();
		if (gompi_load_seq_cst(position) != seen)
			break;
		syscall(SYS_futex, doorbell, FUTEX_WAIT, ticket, &poll_interval, NULL, 0);
		if (gompi_insight_now(CLOCK_MONOTONIC) - start_ns > max_wait_ns) {
			gompi_store(&w->gave_up_at, seen + 1);
			return false;
		}
	}
	return true;
}

// Waits until gompirun has read records from the ring. Returns false if it has not read for a long time.
static bool await_ring_space(struct gompi_insight_part *part, uint64_t tail) {
	static struct gompi_insight_wait wait;
	return gompi_insight_await_reader(&wait, &part->tail, tail, &part->space_futex, &part->space_wanted);
}

// Copies the record to the ring. If records may be dropped, a quarter of the ring is reserved for records that are not
// droppable, because other records depend on them.
static void copy_to_ring(struct gompi_insight_thread *t, uint32_t flags, bool is_droppable) {
	struct gompi_insight_part *part = gompi_insight_part;
	uint64_t size = gompi_insight_job->ring_size / 8, n = t->used_words, head = gompi_load(&part->head), tail;
	uint64_t usable_words = is_droppable && !(t->mode & GOMPI_INSIGHT_MODE_WAITS) ? size - size / 4 : size;
	for (;;) {
		tail = gompi_load_acquire(&part->tail); // gompirun has set the space that it has read to zero
		if (head + n - tail > usable_words) {
			if (!(t->mode & GOMPI_INSIGHT_MODE_WAITS) || !await_ring_space(part, tail)) {
				// now, so that gompirun learns of the loss before it reads a later record
				if (!is_droppable)
					gompi_add(&part->essential_lost, 1);
				// not again for the entry record, so that each call counts once
				if (!(flags & GOMPI_INSIGHT_FLAG_ENTRY))
					gompi_add(&part->dropped, 1);
				t->record_end = 0;
				return;
			}
			head = gompi_load(&part->head);
		} else if (gompi_cas_weak(&part->head, &head, head + n)) {
			break;
		}
	}
	t->record_end = head + n;
	gompi_a64 *to = part->ring + (head & (size - 1));
	flags |= t->truncated ? GOMPI_INSIGHT_FLAG_TRUNCATED : 0;
	memcpy((void *)(to + 1), t->words + 1, (n - 1) * sizeof *to);
	// release: a reader that sees the first word sees the whole record; pairs with its load in core/insight
	gompi_store_release(to, (t->words[0] & 0xffff) | flags << 16 | n << 32);
	if (__builtin_expect(head + n - tail > size / 4, 0))
		wake_reader();
}

void gompi_insight_write_entry(struct gompi_insight_thread *t) {
	if (t->mode & GOMPI_INSIGHT_MODE_ENTRIES)
		copy_to_ring(t, GOMPI_INSIGHT_FLAG_ENTRY, false);
}

void gompi_insight_write_op_entry(struct gompi_insight_thread *t) {
	if (gompi_insight_awaits_check(t))
		copy_to_ring(t, GOMPI_INSIGHT_FLAG_ENTRY, false);
}

void gompi_insight_write_words(struct gompi_insight_thread *t) { copy_to_ring(t, 0, false); }

static void write_call(struct gompi_insight_thread *t, bool is_droppable) {
	copy_to_ring(t, 0, is_droppable);
	if (t->mode & GOMPI_INSIGHT_MODE_ACCESSES && gompi_insight_hooks.after_record != NULL)
		gompi_insight_hooks.after_record(t);
}

void gompi_insight_write(struct gompi_insight_thread *t) { write_call(t, false); }

void gompi_insight_write_may_drop(struct gompi_insight_thread *t) { write_call(t, true); }
