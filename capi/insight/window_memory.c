#define _GNU_SOURCE
#include "insight/window_memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <string.h>
#include <time.h>

#include "insight/threads.h"

enum { MAX_WINDOW_RANGES = 64 };
static struct {
	gompi_a64 win, low, high; // high is 0 if the entry is free
} window_ranges[MAX_WINDOW_RANGES];
gompi_a32 gompi_win_memory_count;

void gompi_win_memory_add(uint64_t win, uint64_t low, uint64_t size) {
	for (int i = 0; i < MAX_WINDOW_RANGES && size > 0; i++)
		if (gompi_load(&window_ranges[i].high) == 0) {
			gompi_store(&window_ranges[i].win, win);
			gompi_store(&window_ranges[i].low, low);
			gompi_store(&window_ranges[i].high, low + size);
			gompi_add(&gompi_win_memory_count, 1);
			return;
		}
}

void gompi_win_memory_remove(uint64_t win, uint64_t low) {
	for (int i = 0; i < MAX_WINDOW_RANGES; i++)
		if (gompi_load(&window_ranges[i].high) != 0 && gompi_load(&window_ranges[i].win) == win &&
		    (low == 0 || gompi_load(&window_ranges[i].low) == low)) {
			gompi_store(&window_ranges[i].high, 0);
			gompi_add(&gompi_win_memory_count, -1);
		}
}

// A window of at least this size is larger than any memory: the program has declared that it contains all addresses
// after its base. Only the first byte certainly belongs to it.
#define UNBOUNDED_BYTES ((uint64_t)1 << 40)

// Returns the window that overlaps the memory, or 0.
static uint64_t window_overlapping(uintptr_t low, uintptr_t size, bool is_malloc_block) {
	for (int i = 0; i < MAX_WINDOW_RANGES; i++) {
		uint64_t begin = gompi_load(&window_ranges[i].low), end = gompi_load(&window_ranges[i].high);
		bool is_inside = !is_malloc_block && end - begin < UNBOUNDED_BYTES && low < end;
		if (end != 0 && begin < low + size && (low <= begin || is_inside))
			return gompi_load(&window_ranges[i].win);
	}
	return 0;
}

// Returns the address in the program that frees memory. Skips frames of the C++ library, which implements delete.
static uintptr_t freeing_address(void) {
	static const char own[] = "libgompirma-insight", cxx[] = "libstdc++";
	void *at[12];
	int n = backtrace(at, sizeof at / sizeof *at);
	for (int i = 0; i < n; i++) {
		Dl_info of;
		if (dladdr(at[i], &of) != 0 && of.dli_fname != NULL && strstr(of.dli_fname, own) == NULL &&
		    strstr(of.dli_fname, cxx) == NULL)
			return (uintptr_t)at[i];
	}
	return 0;
}

void gompi_win_memory_freed(uintptr_t low, uintptr_t size, bool is_malloc_block) {
	uint64_t win = window_overlapping(low, size, is_malloc_block);
	if (win == 0 || !gompi_threads_is_checked())
		return;
	int error = errno;
	struct gompi_insight_thread *t = gompi_insight_begin();
	if (t == NULL)
		return; // MPI itself frees the memory
	uintptr_t caller = freeing_address();
	gompi_insight_add_object(t, caller);
	t->truncated = false;
	t->used_words = GOMPI_INSIGHT_HEAD_WORDS;
	t->words[0] = GOMPI_INSIGHT_THREAD_EVENTS;
	t->words[1] = t->number;
	t->words[2] = t->words[3] = gompi_insight_now(CLOCK_MONOTONIC);
	t->words[4] = caller;
	t->words[5] = win;
	gompi_insight_add_word(t, GOMPI_INSIGHT_FREE_WINDOW | (uint64_t)size << 8);
	gompi_insight_add_word(t, low);
	gompi_insight_write_words(t);
	gompi_insight_end(t);
	errno = error;
}
