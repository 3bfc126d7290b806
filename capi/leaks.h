// Annotations for LeakSanitizer, which work if the program is linked with it. base/sanitizer.h has those for
// ThreadSanitizer.
#ifndef GOMPI_LEAKS_H
#define GOMPI_LEAKS_H

#include <stdint.h>

// Registers Go's heap as a root region, so that LeakSanitizer does not report memory that is referenced only from Go.
// object is the address of any object in that heap.
__attribute__((visibility("hidden"))) void gompi_tell_heap(uintptr_t object);

#endif
