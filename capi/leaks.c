// See leaks.h.
#include "leaks.h"

#include <stddef.h>

extern void __lsan_register_root_region(const void *from, size_t bytes) __attribute__((weak));

void gompi_lsan_register_heap(uintptr_t object) {
	// The runtime reserves its heap in arenas of this size, aligned to it, so nothing else is mapped in the range.
	// The library's objects fit into the first arena. A larger range may contain other mappings, because Go 1.26
	// places the heap at a random address, and LeakSanitizer ends with SIGBUS when it reads the clock pages of the
	// kernel.
	const uintptr_t range = (uintptr_t)64 << 20;
	if (__lsan_register_root_region != NULL)
		__lsan_register_root_region((const void *)(object / range * range), range);
}
