// See leaks.h.
#include "leaks.h"

#include <stddef.h>

extern void __lsan_register_root_region(const void *from, size_t bytes) __attribute__((weak));

void gompi_tell_heap(uintptr_t object) {
	// The runtime's heap grows from the beginning of this range. Nothing else is mapped there, and LeakSanitizer
	// reads only mapped pages.
	const uintptr_t range = (uintptr_t)1 << 38;
	if (__lsan_register_root_region != NULL)
		__lsan_register_root_region((const void *)(object / range * range), range);
}
