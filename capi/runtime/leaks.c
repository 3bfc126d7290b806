#include "runtime/leaks.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/auxv.h>

extern void __lsan_register_root_region(const void *from, size_t bytes) __attribute__((weak));

void gompi_lsan_register_heap(uintptr_t object) {
	// The runtime reserves its heap in adjacent arenas whose size and alignment are 64 MiB. The library's objects
	// need less than one arena. But Go 1.26 begins the heap at a random place in the first arena, so that they may
	// extend into the next one, and `object` may already be there. The arena before that of `object` and those
	// after it may also be other mappings. LeakSanitizer reads these too, and would end with SIGBUS at the kernel's
	// clock pages, which are directly in front of the vdso.
	const uintptr_t arena = (uintptr_t)64 << 20, start = object / arena * arena;
	const uintptr_t vdso = (uintptr_t)getauxval(AT_SYSINFO_EHDR);
	const bool is_near = vdso > start - arena && vdso < start + 3 * arena;
	if (__lsan_register_root_region != NULL)
		__lsan_register_root_region((const void *)(is_near ? start : start - arena),
					    is_near ? arena : 3 * arena);
}
