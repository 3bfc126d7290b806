// The Go heap and LeakSanitizer.
#ifndef GOMPI_LEAKS_H
#define GOMPI_LEAKS_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

// Registers the Go heap as a root region of LeakSanitizer, if the program is linked with LeakSanitizer. So it does not
// report memory that only Go references. The argument `object` is the address of any object in the Go heap.
void gompi_lsan_register_heap(uintptr_t object);

#pragma GCC visibility pop
#endif
