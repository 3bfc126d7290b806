// What LeakSanitizer is told where the program has it; base/sanitizer.h is about ThreadSanitizer.
#ifndef GOMPI_LEAKS_H
#define GOMPI_LEAKS_H

#include <stdint.h>

// Notes that pointers in Go's heap, of which this is an object's address, are references.
__attribute__((visibility("hidden"))) void gompi_tell_heap(uintptr_t object);

#endif
