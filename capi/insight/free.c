// Interposed free, realloc and munmap. If a program has several threads, freed memory may be reused by another thread
// without visible synchronization. So earlier loads and stores of the program in it are forgotten. Freed memory must
// not be part of a window.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "insight/given.h"
#include "insight/threads.h"

#define CALLED __attribute__((visibility("default")))

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
static inline bool watches_memory(void) {
	return __builtin_expect(gompi_load(&gompi_given_windows) != 0, 0) || gompi_threads_share_memory();
}

static void give_memory_back(void *memory) {
	if (memory == NULL)
		return;
	size_t size = malloc_usable_size(memory);
	gompi_given_back((uintptr_t)memory, size, true);
	if (gompi_threads_share_memory())
		gompi_threads_free((uintptr_t)memory, size);
}

CALLED void free(void *memory) {
	void (*next)(void *) = gompi_load(&next_free);
	if (__builtin_expect(next == NULL, 0)) {
		find_next_free();
		if ((next = gompi_load(&next_free)) == NULL)
			return; // called from within dlsym: the memory is leaked
	}
	if (watches_memory())
		give_memory_back(memory);
	next(memory);
}

CALLED void *realloc(void *memory, size_t size) {
	void *(*next)(void *, size_t) = gompi_load(&next_realloc);
	if (__builtin_expect(next == NULL, 0)) {
		find_next_free();
		if ((next = gompi_load(&next_realloc)) == NULL)
			return NULL;
	}
	if (watches_memory())
		give_memory_back(memory);
	return next(memory, size);
}

CALLED int munmap(void *memory, size_t size) {
	if (__builtin_expect(gompi_load(&gompi_given_windows) != 0, 0))
		gompi_given_back((uintptr_t)memory, size, false);
	return GOMPI_REAL(munmap, NULL)(memory, size);
}
