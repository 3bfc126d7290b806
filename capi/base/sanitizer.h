// Annotations for ThreadSanitizer, if the program is linked with it. The library's C code is compiled without
// ThreadSanitizer. So ThreadSanitizer sees which memory the library copies, allocates and frees, but not the atomic
// operations that order these accesses. In a program without ThreadSanitizer the symbols are NULL.
#ifndef GOMPI_SANITIZER_H
#define GOMPI_SANITIZER_H

#include <stdbool.h>
#include <stddef.h>

extern void __tsan_acquire(void *what) __attribute__((weak));
extern void __tsan_release(void *what) __attribute__((weak));
extern void __tsan_ignore_thread_begin(void) __attribute__((weak));
extern void __tsan_ignore_thread_end(void) __attribute__((weak));

// Returns true if the program is linked with ThreadSanitizer and this code is compiled without it.
static inline bool gompi_tsan_is_linked(void) {
#ifdef __SANITIZE_THREAD__
	return false;
#else
	return __tsan_acquire != NULL && __tsan_release != NULL && __tsan_ignore_thread_begin != NULL &&
	       __tsan_ignore_thread_end != NULL;
#endif
}

// Starts a section in which ThreadSanitizer ignores the accesses of the calling thread; gompi_tsan_ignore_end ends it.
// Other threads of the application access the same memory. The library orders these accesses by atomic operations that
// ThreadSanitizer does not see, so without this section it would report races.
static inline void gompi_tsan_ignore_begin(void) {
	if (gompi_tsan_is_linked())
		__tsan_ignore_thread_begin();
}
static inline void gompi_tsan_ignore_end(void) {
	if (gompi_tsan_is_linked())
		__tsan_ignore_thread_end();
}

#endif
