// Copies of blocks, inlined into packing (pack.c) and into copies between two layouts (copy.c).
#ifndef GOMPI_BLOCK_COPY_H
#define GOMPI_BLOCK_COPY_H

#include <stdint.h>
#include <string.h>

#include "datatype/memory.h"

// Copies a block of n bytes. For up to 64 bytes it calls no function and uses overlapping loads and stores.
static inline void copy_one(char *restrict d, const char *restrict s, int64_t n) {
	struct bytes16 {
		char b[16];
	} a, b, c, e;
	uint64_t x, y;
	if (n > 64) {
		gompi_copy_small(d, s, (uint64_t)n);
	} else if (n > 32) {
		memcpy(&a, s, 16);
		memcpy(&b, s + 16, 16);
		memcpy(&c, s + n - 32, 16);
		memcpy(&e, s + n - 16, 16);
		memcpy(d, &a, 16);
		memcpy(d + 16, &b, 16);
		memcpy(d + n - 32, &c, 16);
		memcpy(d + n - 16, &e, 16);
	} else if (n >= 16) {
		memcpy(&a, s, 16);
		memcpy(&b, s + n - 16, 16);
		memcpy(d, &a, 16);
		memcpy(d + n - 16, &b, 16);
	} else if (n >= 8) {
		memcpy(&x, s, 8);
		memcpy(&y, s + n - 8, 8);
		memcpy(d, &x, 8);
		memcpy(d + n - 8, &y, 8);
	} else if (n >= 4) {
		memcpy(&x, s, 4);
		memcpy(&y, s + n - 4, 4);
		memcpy(d, &x, 4);
		memcpy(d + n - 4, &y, 4);
	} else {
		for (int64_t i = 0; i < n; i++)
			d[i] = s[i];
	}
}

// Expands the macro `loop` with a constant size for the most frequent block sizes, so that each block is copied with
// one load and one store. The macro's arguments are the copy function and the block size.
#define COPY_SIZES(block, loop)        \
	switch (block) {               \
	case 1:                        \
		loop(memcpy, 1);       \
		break;                 \
	case 2:                        \
		loop(memcpy, 2);       \
		break;                 \
	case 4:                        \
		loop(memcpy, 4);       \
		break;                 \
	case 8:                        \
		loop(memcpy, 8);       \
		break;                 \
	case 16:                       \
		loop(memcpy, 16);      \
		break;                 \
	default:                       \
		loop(copy_one, block); \
		break;                 \
	}

// Copies n blocks of `block` bytes each. The blocks begin sstride bytes apart in s and dstride bytes apart in d.
static inline __attribute__((always_inline)) void copy_blocks(char *restrict d, int64_t dstride, const char *restrict s,
							      int64_t sstride, int64_t block, int64_t n) {
#define STRIDED(copy, size)             \
	for (int64_t i = 0; i < n; i++) \
	copy(d + i * dstride, s + i * sstride, size)
	COPY_SIZES(block, STRIDED)
#undef STRIDED
}

#endif
