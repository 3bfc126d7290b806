// A buffer argument of a call: the argument check fills it in, and copy functions use it.
#ifndef GOMPI_BUFFER_H
#define GOMPI_BUFFER_H

#include <sys/uio.h>

#include "base/error_status.h"
#include "datatype/datatype.h"
#include "datatype/memory.h"
#include "datatype/predefined.h"

// A buffer with `size` bytes of data. If `type` is NULL, the data is contiguous and begins at the address `at`. Else
// the data is that of `count` copies of `type` at the address `at`, without the first skip_bytes bytes.
struct gompi_buffer {
	union {
		char *at;
		// If this process has not mapped the target memory: the offset in the window or, for a dynamic window,
		// the address in the target's process.
		uint64_t offset;
	};
	int64_t size; // bytes of data
	int64_t count;
	const struct gompi_type *type; // NULL if the data is contiguous
	int64_t skip_bytes;
	// true if the request that owns the buffer has acquired a reference to the type in another way. Then
	// gompi_buffer_retain and gompi_buffer_release do not change the reference count
	bool type_held_by_owner;
	uint8_t memory; // enum gompi_memory; always GOMPI_MEMORY_HOST at present
};

#pragma GCC visibility push(hidden)

// Fills in *b for a buffer of count copies of a committed datatype. The argument no_data is true if the call transfers
// no data, as with MPI_PROC_NULL. The address is then not checked. Returns 0 or the error class in v: MPI_ERR_COUNT,
// MPI_ERR_TYPE, MPI_ERR_BUFFER, MPI_ERR_VALUE_TOO_LARGE.
int gompi_buffer_check(struct gompi_buffer *b, const void *at, int64_t count, MPI_Datatype type, bool no_data,
		       struct gompi_error_status *v);

// Fills in *b and returns true if the data has a predefined type without gaps, a count that fits an int, and an address
// from 4096 to 2^62. Otherwise returns false, and the caller calls gompi_buffer_check. This is the fast path for most
// messages.
static inline bool gompi_buffer_simple(struct gompi_buffer *b, const void *at, int64_t count, MPI_Datatype type) {
	int64_t size = gompi_simple_bytes(type);
	if (__builtin_expect(size == 0 || (uint64_t)count > INT32_MAX || (uintptr_t)at - 4096 >= 1ULL << 62, 0))
		return false;
	b->at = (char *)(uintptr_t)at;
	b->size = size * count;
	b->type = NULL;
	b->skip_bytes = 0;
	return true;
}

void gompi_buffer_pack_typed(const struct gompi_buffer *b, char *to, int64_t from, int64_t n);
void gompi_buffer_unpack_typed(const struct gompi_buffer *b, int64_t to, const char *from, int64_t n);
void gompi_buffer_copy_typed(const struct gompi_buffer *to, const struct gompi_buffer *from, int64_t n);

// Copies bytes [from, from + n) of the buffer's data to the memory at `to`.
static inline void gompi_buffer_pack(const struct gompi_buffer *b, char *to, int64_t from, int64_t n) {
	if (__builtin_expect(b->type == NULL, 1))
		gompi_copy_out(to, b->at + from, (uint64_t)n);
	else
		gompi_buffer_pack_typed(b, to, from, n);
}

// Does what gompi_buffer_pack does. Another process waits for the data (gompi_copy_out_shared).
static inline void gompi_buffer_pack_shared(const struct gompi_buffer *b, char *to, int64_t from, int64_t n) {
	if (__builtin_expect(b->type == NULL, 1))
		gompi_copy_out_shared(to, b->at + from, (uint64_t)n);
	else
		gompi_buffer_pack_typed(b, to, from, n);
}

// Does what gompi_buffer_pack_shared does, for data of a stream (gompi_copy_out_stream).
static inline void gompi_buffer_pack_stream(const struct gompi_buffer *b, char *to, int64_t from, int64_t n) {
	if (__builtin_expect(b->type == NULL, 1))
		gompi_copy_out_stream(to, b->at + from, (uint64_t)n);
	else
		gompi_buffer_pack_typed(b, to, from, n);
}

// Copies n bytes from the memory at `from` to bytes [to, to + n) of the buffer's data.
static inline void gompi_buffer_unpack(const struct gompi_buffer *b, int64_t to, const char *from, int64_t n) {
	if (__builtin_expect(b->type == NULL, 1))
		gompi_copy_in(b->at + to, from, (uint64_t)n);
	else
		gompi_buffer_unpack_typed(b, to, from, n);
}

// Stores up to `max` contiguous ranges of the data in the array `out`, in order, beginning with byte `from` of the
// data. Returns the number of ranges. If the number is less than `max`, the array has all ranges.
int gompi_buffer_runs(const struct gompi_buffer *b, int64_t from, struct iovec *out, int max);

// Copies the first n bytes of data from the buffer `from` to the buffer `to`.
static inline void gompi_buffer_copy(const struct gompi_buffer *to, const struct gompi_buffer *from, int64_t n) {
	if (from->type == NULL && to->type == NULL)
		// the ranges may overlap: some programs send a buffer to themselves
		gompi_copy_between(to->at, from->at, (uint64_t)n);
	else
		gompi_buffer_copy_typed(to, from, n);
}

// Acquires a reference to a buffer's type for a request; gompi_buffer_release releases it.
void gompi_buffer_retain(const struct gompi_buffer *b);
void gompi_buffer_release(const struct gompi_buffer *b);

#pragma GCC visibility pop
#endif
