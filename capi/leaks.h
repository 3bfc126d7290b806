// Annotations for LeakSanitizer, if the program is linked with it. base/sanitizer.h has those for ThreadSanitizer.
#ifndef GOMPI_LEAKS_H
#define GOMPI_LEAKS_H

#include <stdint.h>

// Registers the first arena of the Go heap as a root region: LeakSanitizer does not report memory that only Go
// references. object is the address of any object in that heap.
__attribute__((visibility("hidden"))) void gompi_lsan_register_heap(uintptr_t object);

#endif
