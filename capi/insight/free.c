// Interposed free, realloc and munmap. If a program has several threads, freed memory may be reused by another thread
// without visible synchronization. So earlier loads and stores of the program in freed memory are discarded. If a
// program frees memory of a window, that is recorded as an error.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "insight/window_memory.h"
#include "insight/threads.h"

#define EXPORTED __attribute__((visibility("default")))

static void (*_Atomic next_free)(void *);
static void *(*_Atomic next_realloc)(void *, size_t);

// Guards against recursion: dlsym may call free itself.
static __attribute__((tls_model("initial-exec"))) _Thread_local bool finding_next;

__attribute__((constructor)) static void find_next_free(void) {
	if (finding_next)
		return;
	finding_next = true;
	gompi_store(&next_realloc, (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc"));
	gompi_store(&next_free, (void (*)(void *))dlsym(RTLD_NEXT, "free"));
	finding_next = false;
}

// Returns true if freed memory must be checked.
static inline bool is_watching_memory(void) {
	return __builtin_expect(gompi_load(&gompi_win_memory_count) != 0, 0) || gompi_threads_share_memory();
}

static void report_freed(void *memory) {
	if (memory == NULL)
		return;
	size_t size = malloc_usable_size(memory);
	gompi_win_memory_freed((uintptr_t)memory, size, true);
	if (gompi_threads_share_memory())
		gompi_threads_free_memory((uintptr_t)memory, size);
}

EXPORTED void free(void *memory) {
	void (*next)(void *) = gompi_load(&next_free);
	if (__builtin_expect(next == NULL, 0)) {
		find_next_free();
		if ((next = gompi_load(&next_free)) == NULL)
			return; // a call by dlsym: the memory is leaked
	}
	if (is_watching_memory())
		report_freed(memory);
	next(memory);
}

EXPORTED void *realloc(void *memory, size_t size) {
	void *(*next)(void *, size_t) = gompi_load(&next_realloc);
	if (__builtin_expect(next == NULL, 0)) {
		find_next_free();
		if ((next = gompi_load(&next_realloc)) == NULL)
			return NULL;
	}
	if (is_watching_memory())
		report_freed(memory);
	return next(memory, size);
}

EXPORTED int munmap(void *memory, size_t size) {
	if (__builtin_expect(gompi_load(&gompi_win_memory_count) != 0, 0))
		gompi_win_memory_freed((uintptr_t)memory, size, false);
	return GOMPI_REAL(munmap, NULL)(memory, size);
}
