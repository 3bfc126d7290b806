// Copies of application memory: buffers of calls, and windows. All such copies use these functions, so that support for
// another kind of memory, such as a device's, is added in one place. The new kind needs a value of enum gompi_memory,
// which the argument checks store in struct gompi_buffer, and a case in each of these functions:
//
//     contiguous data          gompi_copy_out, gompi_copy_out_later, gompi_copy_out_shared, gompi_copy_in,
//                              gompi_copy_between, gompi_copy_word, gompi_copy_bytes
//     a buffer's data          gompi_buffer_pack, gompi_buffer_unpack, gompi_buffer_copy (buffer.h)
//     data with a datatype     gompi_typed_copy, _pack, _unpack, gompi_cursor_pack, _unpack, gompi_copy_blocks
//     elements                 the kernels of operations (op.h, atomic.h)
//     other processes' memory  gompi_cma_move (transport/cma.h), cma_read_data (message/rendezvous.c),
//                              copy_piece (base/assisted_copy.c)
//
// In the packages that call these functions, memcpy is reserved for the library's own structures (TestLintMemcpy).
#ifndef GOMPI_MEMORY_H
#define GOMPI_MEMORY_H

#include <stdint.h>
#include <string.h>

// Kinds of application memory.
enum gompi_memory { GOMPI_MEMORY_HOST };

// Copies n bytes of the library's own data. It is fastest for 8 and 4 bytes. Source and destination do not overlap.
static inline void gompi_copy_small(void *to, const void *from, uint64_t n) {
	if (__builtin_expect(n == 8, 1))
		memcpy(to, from, 8);
	else if (n == 4)
		memcpy(to, from, 4);
	else if (n != 0)
		memcpy(to, from, n);
}

// Copies n bytes of application memory to the library's memory: shared buffers, records, packets, bounce buffers.
// Returns `to`.
static inline char *gompi_copy_out(char *to, const void *from, uint64_t n) {
	gompi_copy_small(to, from, n);
	return to;
}

// The least number of bytes for which gompi_copy_out_later is faster than gompi_copy_out.
enum { GOMPI_COPY_LATER_BYTES = 8 << 10 };

// Does what gompi_copy_out does, for data that another process will read while this process writes further data. The
// stores bypass the caches, so they need not wait until the reader's core has given up the memory. Two processes on two
// cores then move a stream of data twice as fast. But a reader that waits for the data gets it 8 % later.
__attribute__((visibility("hidden"))) char *gompi_copy_out_later(char *to, const void *from, uint64_t n);

// Does what gompi_copy_out does, for data for which other processes wait. From 2 * GOMPI_COPY_LATER_BYTES bytes on,
// stores that bypass the caches are faster in this case, too.
static inline char *gompi_copy_out_shared(char *to, const void *from, uint64_t n) {
	return n < 2 * GOMPI_COPY_LATER_BYTES ? gompi_copy_out(to, from, n) : gompi_copy_out_later(to, from, n);
}

// Copies n bytes of the library's memory to application memory.
static inline void gompi_copy_in(void *to, const void *from, uint64_t n) { gompi_copy_small(to, from, n); }

// Copies n bytes within application memory. The ranges may overlap, and either may be the library's memory.
static inline void gompi_copy_between(void *to, const void *from, uint64_t n) {
	if (__builtin_expect(n == 8, 1))
		memmove(to, from, 8);
	else if (n != 0 && to != from)
		memmove(to, from, n);
}

// Copies 8 bytes within application memory. gompi_copy_bytes copies any number of bytes and returns MPI_SUCCESS, so
// that a fast path can end with a tail call of it. The fast path then needs no stack frame.
static inline void gompi_copy_word(void *to, const void *from) { memcpy(to, from, 8); }
__attribute__((visibility("hidden"))) int gompi_copy_bytes(void *to, const void *from, int64_t bytes);

#endif
