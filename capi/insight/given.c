#define _GNU_SOURCE
#include "insight/given.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <string.h>
#include <time.h>

#include "insight/threads.h"

enum { PIECES = 64 };
static struct {
	gompi_a64 win, low, high; // high is 0 if the entry is free
} given_pieces[PIECES];
gompi_a32 gompi_given_windows;

void gompi_given_begin(uint64_t win, uint64_t low, uint64_t size) {
	for (int i = 0; i < PIECES && size > 0; i++)
		if (gompi_load(&given_pieces[i].high) == 0) {
			gompi_store(&given_pieces[i].win, win);
			gompi_store(&given_pieces[i].low, low);
			gompi_store(&given_pieces[i].high, low + size);
			gompi_add(&gompi_given_windows, 1);
			return;
		}
}

void gompi_given_end(uint64_t win, uint64_t low) {
	for (int i = 0; i < PIECES; i++)
		if (gompi_load(&given_pieces[i].high) != 0 && gompi_load(&given_pieces[i].win) == win &&
		    (low == 0 || gompi_load(&given_pieces[i].low) == low)) {
			gompi_store(&given_pieces[i].high, 0);
			gompi_add(&gompi_given_windows, -1);
		}
}

// Larger than any memory: such a window covers everything after its base address, of which only the first byte
// certainly belongs to it.
#define NO_SIZE ((uint64_t)1 << 40)

// Returns the window that contains some of the memory, or 0.
static uint64_t window_with(uintptr_t low, uintptr_t size, bool block) {
	for (int i = 0; i < PIECES; i++) {
		uint64_t begin = gompi_load(&given_pieces[i].low), end = gompi_load(&given_pieces[i].high);
		bool behind = !block && end - begin < NO_SIZE && low < end;
		if (end != 0 && begin < low + size && (low <= begin || behind))
			return gompi_load(&given_pieces[i].win);
	}
	return 0;
}

// Returns the address in the program that frees memory. Skips the C++ library, which is between for `delete`.
static uintptr_t program_address(void) {
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

void gompi_given_back(uintptr_t low, uintptr_t size, bool block) {
	uint64_t win = window_with(low, size, block);
	if (win == 0 || !gompi_threads_checked())
		return;
	int error = errno;
	struct gompi_insight_thread *t = gompi_insight_begin();
	if (t == NULL)
		return; // MPI itself frees it
	uintptr_t caller = program_address();
	gompi_insight_object_of(t, caller);
	t->truncated = false;
	t->used = GOMPI_INSIGHT_HEAD_WORDS;
	t->words[0] = GOMPI_INSIGHT_ORDERS;
	t->words[1] = t->number;
	t->words[2] = t->words[3] = gompi_insight_now(CLOCK_MONOTONIC);
	t->words[4] = caller;
	t->words[5] = win;
	gompi_insight_word(t, GOMPI_INSIGHT_GIVE | (uint64_t)size << 8);
	gompi_insight_word(t, low);
	gompi_insight_write_words(t);
	gompi_insight_end(t);
	errno = error;
}
