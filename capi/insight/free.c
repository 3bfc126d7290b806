// Memory that a program gives back while it has several threads may be another thread's next, and nothing that is seen
// orders the two. So the program's own loads and stores there do not count any longer.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>

#include "insight/threads.h"

#define CALLED __attribute__((visibility("default")))

static void (*_Atomic next_free)(void *);
static void *(*_Atomic next_realloc)(void *, size_t);

// dlsym may free something itself.
static __attribute__((tls_model("initial-exec"))) _Thread_local bool finding_next;

__attribute__((constructor)) static void find_next_free(void) {
	if (finding_next)
		return;
	finding_next = true;
	gompi_store(&next_realloc, (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc"));
	gompi_store(&next_free, (void (*)(void *))dlsym(RTLD_NEXT, "free"));
	finding_next = false;
}

static void give_memory_back(void *memory) {
	if (memory != NULL)
		gompi_threads_free((uintptr_t)memory, malloc_usable_size(memory));
}

CALLED void free(void *memory) {
	void (*next)(void *) = gompi_load(&next_free);
	if (__builtin_expect(next == NULL, 0)) {
		find_next_free();
		if ((next = gompi_load(&next_free)) == NULL)
			return; // it is lost, from within dlsym
	}
	if (gompi_threads_share_memory())
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
	if (gompi_threads_share_memory())
		give_memory_back(memory);
	return next(memory, size);
}
