// Annotations for LeakSanitizer, if the program is linked with it. Those for ThreadSanitizer are in base/sanitizer.h.
#ifndef GOMPI_LEAKS_H
#define GOMPI_LEAKS_H

#include <stdint.h>

// Registers Go's heap as a root region, so that memory to which only Go points is not reported as leaked. object is the
// address of any object in that heap.
__attribute__((visibility("hidden"))) void gompi_tell_heap(uintptr_t object);

#endif
