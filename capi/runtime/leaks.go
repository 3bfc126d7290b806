package runtime

/*
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>

extern void __lsan_register_root_region(const void *from, size_t bytes) __attribute__((weak));

// Registers the first arenas of the Go heap as a root region of LeakSanitizer, if the program is linked with
// LeakSanitizer. So LeakSanitizer does not report memory that only Go references. The argument `object` is the address
// of any object in the Go heap.
static inline void gompi_lsan_register_heap(uintptr_t object) {
	// The runtime reserves its heap in adjacent arenas whose size and alignment are 64 MiB. The library's objects
	// need less than one arena. But Go 1.26 begins the heap at a random place in the first arena, so that they may
	// extend into the next one, and `object` may already be there. The arena before that of `object` and those
	// after it may also be other mappings. LeakSanitizer reads these too, and would end with SIGBUS at the kernel's
	// clock pages (vvar), which are directly in front of the vDSO.
	const uintptr_t arena = (uintptr_t)64 << 20, start = object / arena * arena;
	const uintptr_t vdso = (uintptr_t)getauxval(AT_SYSINFO_EHDR);
	const bool is_near = vdso > start - arena && vdso < start + 3 * arena;
	if (__lsan_register_root_region != NULL)
		__lsan_register_root_region((const void *)(is_near ? start : start - arena),
					    is_near ? arena : 3 * arena);
}
*/
import "C"

import "unsafe"

// heapObject is an object in Go's heap.
var heapObject *int

func init() {
	heapObject = new(int)
	C.gompi_lsan_register_heap(C.uintptr_t(uintptr(unsafe.Pointer(heapObject))))
}
