package runtime

/*
#include <stddef.h>
#include <stdint.h>

extern void __lsan_register_root_region(const void *from, size_t bytes) __attribute__((weak));

// Registers the first arena of the Go heap as a root region of LeakSanitizer, if the program is linked with
// LeakSanitizer. So LeakSanitizer does not report memory that only Go references. The argument `object` is the address
// of any object in the Go heap.
static inline void gompi_lsan_register_heap(uintptr_t object) {
	// The runtime reserves its heap in arenas whose size and alignment are 64 MiB, so an arena contains no other
	// mapping. The library's objects fit into the first arena. Go 1.26 places the heap at a random address, so a
	// range larger than one arena could contain other mappings. LeakSanitizer would read these too, and end with
	// SIGBUS at the kernel's clock pages (vvar).
	const uintptr_t range = (uintptr_t)64 << 20;
	if (__lsan_register_root_region != NULL)
		__lsan_register_root_region((const void *)(object / range * range), range);
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
