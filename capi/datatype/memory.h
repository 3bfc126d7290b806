// Copies of application memory: buffers of calls, and windows. All such copies use these functions, so that support for
// another kind of memory, such as a device's, is added in one place. The new kind needs a value of enum gompi_memory,
// which the argument checks store in struct gompi_buffer, and a case in each of these functions:
//
//     contiguous data          gompi_copy_out, gompi_copy_out_long, gompi_copy_in, gompi_copy_between,
//                              gompi_copy_long, gompi_copy_word, gompi_copy_bytes
//     a buffer's data          gompi_buffer_pack, gompi_buffer_unpack, gompi_buffer_copy (buffer.h)
//     data with a datatype     gompi_typed_copy, _pack, _unpack, gompi_cursor_pack, _unpack, gompi_copy_blocks
//     elements                 the kernels of operations (op.h, atomic.h)
//     other processes' memory  gompi_cma_move (transport/cma.h), cma_read_data (message/rendezvous.c),
//                              copy_piece (base/assisted_copy.c)
//
// In the packages that call these functions, memcpy is reserved for the library's own structures (TestLintMemcpy).
#ifndef GOMPI_MEMORY_H
#define GOMPI_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/atomics.h"

// Kinds of application memory.
enum gompi_memory { GOMPI_MEMORY_HOST };

// Copies n bytes like memmove. The functions below call it for at least GOMPI_LONG_COPY_BYTES bytes (memory.c).
enum { GOMPI_LONG_COPY_BYTES = 2 << 10 };
__attribute__((visibility("hidden"))) void gompi_copy_long(void *to, const void *from, uint64_t n);

// Copies n bytes of the library's own data. It is fastest for 8 and 4 bytes. Source and destination do not overlap.
static inline void gompi_copy_small(void *to, const void *from, uint64_t n) {
	if (__builtin_expect(n == 8, 1))
		memcpy(to, from, 8);
	else if (n == 4)
		memcpy(to, from, 4);
	else if (__builtin_expect(n >= GOMPI_LONG_COPY_BYTES, 0))
		gompi_copy_long(to, from, n);
	else if (n != 0)
		memcpy(to, from, n);
}

// Copies n bytes of application memory to the library's memory: shared buffers, records, packets, bounce buffers.
// Returns `to`.
static inline char *gompi_copy_out(char *to, const void *from, uint64_t n) {
	gompi_copy_small(to, from, n);
	return to;
}

// Does what gompi_copy_out does, for a destination in shared memory from which another process reads the data. Through
// the caches, each store waits until the reader's core has given up the cache line, which it read when it got earlier
// data. So the stores of a long copy bypass the caches. Between near cores this pays from GOMPI_BYPASS_BYTES bytes on.
// Between distant cores, which share no cache, it pays from GOMPI_BYPASS_DISTANT_BYTES bytes on: 4 KiB arrive after 1.0
// us instead of 2.5 us, 16 KiB after 2.1 us instead of 8.4.
enum { GOMPI_BYPASS_BYTES = 16 << 10, GOMPI_BYPASS_DISTANT_BYTES = 1 << 10 };

// Does what gompi_copy_out_shared does, for at least GOMPI_BYPASS_DISTANT_BYTES bytes. The stores bypass the caches if
// `bypass` is true, or if the cores are distant.
__attribute__((visibility("hidden"))) char *gompi_copy_out_long(char *to, const void *from, uint64_t n, bool bypass);

// gompi_cores_are_distant is true if this process' core is distant from the readers' cores. A thread measures it again
// after gompi_copies_until_sample long copies (memory.c).
extern _Atomic bool gompi_cores_are_distant __attribute__((visibility("hidden")));
extern _Thread_local uint32_t gompi_copies_until_sample
	__attribute__((visibility("hidden"), tls_model("initial-exec")));

// Copies between near cores inline, because a further call would cost 20 ns.
static inline char *gompi_copy_out_shared(char *to, const void *from, uint64_t n) {
	if (__builtin_expect(n == 8, 1)) {
		memcpy(to, from, 8);
		return to;
	}
	if (__builtin_expect(n >= GOMPI_BYPASS_DISTANT_BYTES, 0)) {
		if (n >= GOMPI_BYPASS_BYTES || gompi_copies_until_sample == 0 || gompi_load(&gompi_cores_are_distant))
			return gompi_copy_out_long(to, from, n, n >= GOMPI_BYPASS_BYTES);
		gompi_copies_until_sample--;
	}
	gompi_copy_small(to, from, n);
	return to;
}

// Does what gompi_copy_out_shared does, for data of a stream: successive copies have different destinations. The stores
// bypass the caches from GOMPI_BYPASS_STREAM_BYTES bytes on, which moves a stream twice as fast. Copies to the same
// buffers in turn, as in collectives, are twice as fast through the caches at this size.
enum { GOMPI_BYPASS_STREAM_BYTES = 8 << 10 };
static inline char *gompi_copy_out_stream(char *to, const void *from, uint64_t n) {
	return n >= GOMPI_BYPASS_STREAM_BYTES ? gompi_copy_out_long(to, from, n, true)
					      : gompi_copy_out_shared(to, from, n);
}

// Copies n bytes of the library's memory to application memory.
static inline void gompi_copy_in(void *to, const void *from, uint64_t n) { gompi_copy_small(to, from, n); }

// Copies n bytes within application memory. The ranges may overlap, and either may be the library's memory.
static inline void gompi_copy_between(void *to, const void *from, uint64_t n) {
	if (__builtin_expect(n == 8, 1))
		memmove(to, from, 8);
	else if (__builtin_expect(n >= GOMPI_LONG_COPY_BYTES, 0))
		gompi_copy_long(to, from, n);
	else if (n != 0 && to != from)
		memmove(to, from, n);
}

// Copies 8 bytes within application memory. gompi_copy_bytes copies any number of bytes and returns MPI_SUCCESS, so
// that a fast path can end with a tail call of it. The fast path then needs no stack frame.
static inline void gompi_copy_word(void *to, const void *from) { memcpy(to, from, 8); }
__attribute__((visibility("hidden"))) int gompi_copy_bytes(void *to, const void *from, int64_t bytes);

#endif
