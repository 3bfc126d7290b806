// Copies of application memory: of the buffers of calls, and of windows. They go through these functions alone, so that
// memory of another kind, such as a device's, is added in one place: as a value of gompi_memory, which the checks of
// calls fill in (struct gompi_buffer), and as a case here:
//
//	what lies together       gompi_copy_out, gompi_copy_in, gompi_copy_between, gompi_copy_word, gompi_copy_bytes
//	a buffer's data          gompi_buffer_pack, gompi_buffer_unpack, gompi_buffer_copy (buffer.h)
//	what datatypes describe  gompi_typed_copy, _pack, _unpack, gompi_cursor_pack, _unpack, gompi_copy_blocks
//	elements                 the kernels of operations (op.h, atomic.h)
//	another process' memory  gompi_cma_move (transport/cma.h), read_data (message/rendezvous.c)
//
// In the rooms that call them memcpy is for the library's own structures (TestLintCopies).
#ifndef GOMPI_MEMORY_H
#define GOMPI_MEMORY_H

#include <stdint.h>
#include <string.h>

// Kinds of application memory.
enum gompi_memory { GOMPI_MEMORY_HOST };

// Copies n bytes of the library's own data, often few of them. The two do not overlap.
static inline void gompi_copy_few(void *to, const void *from, uint64_t n) {
	if (__builtin_expect(n == 8, 1))
		memcpy(to, from, 8);
	else if (n == 4)
		memcpy(to, from, 4);
	else if (n != 0)
		memcpy(to, from, n);
}

// Copies n bytes out of application memory to the library's own: slots, records, packets, bounce buffers. Returns to.
static inline char *gompi_copy_out(char *to, const void *from, uint64_t n) {
	gompi_copy_few(to, from, n);
	return to;
}

// Copies n bytes of the library's own into application memory.
static inline void gompi_copy_in(void *to, const void *from, uint64_t n) { gompi_copy_few(to, from, n); }

// Copies n bytes between two places in application memory, which may overlap; either may be the library's own.
static inline void gompi_copy_between(void *to, const void *from, uint64_t n) {
	if (__builtin_expect(n == 8, 1))
		memmove(to, from, 8);
	else if (n != 0 && to != from)
		memmove(to, from, n);
}

// The same for 8 bytes, and for any number as a tail call that returns MPI_SUCCESS: a fast path that ends with it needs
// no stack frame.
static inline void gompi_copy_word(void *to, const void *from) { memcpy(to, from, 8); }
__attribute__((visibility("hidden"))) int gompi_copy_bytes(void *to, const void *from, int64_t bytes);

#endif
