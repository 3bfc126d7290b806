#include "runtime/leaks.h"

#include <stddef.h>
#include <sys/auxv.h>

extern void __lsan_register_root_region(const void *from, size_t bytes) __attribute__((weak));

void gompi_lsan_register_heap(uintptr_t object) {
	// The runtime reserves its heap in adjacent arenas of 64 MiB. Go 1.26 begins the heap at a random place in the
	// first arena, so that it may extend into the next one, and `object` may already be there. The library's
	// objects need a few MiB, so they are all within 32 MiB of `object`. A larger region could contain other
	// mappings. LeakSanitizer would read these too, and end with SIGBUS at the kernel's clock pages, which are
	// directly in front of the vdso.
	const uintptr_t distance = (uintptr_t)32 << 20, margin = (uintptr_t)1 << 20;
	const uintptr_t vdso = (uintptr_t)getauxval(AT_SYSINFO_EHDR);
	uintptr_t start = object - distance, end = object + distance;
	if (vdso > object && vdso - margin < end)
		end = vdso - margin;
	else if (vdso != 0 && vdso <= object && vdso + margin > start)
		start = vdso + margin;
	if (__lsan_register_root_region != NULL && start < end)
		__lsan_register_root_region((const void *)start, end - start);
}
