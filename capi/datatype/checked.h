// Arithmetic with 64-bit integers that records whether a result has overflowed.
#ifndef GOMPI_CHECKED_H
#define GOMPI_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

// Each function returns the result. A branch that is never taken costs less than a store to the flag.

// Returns the sum.
static inline int64_t gompi_checked_add(int64_t x, int64_t y, bool *overflow) {
	int64_t sum;
	if (__builtin_expect(__builtin_add_overflow(x, y, &sum), 0))
		*overflow = true;
	return sum;
}

static inline int64_t gompi_checked_sub(int64_t x, int64_t y, bool *overflow) {
	int64_t difference;
	if (__builtin_expect(__builtin_sub_overflow(x, y, &difference), 0))
		*overflow = true;
	return difference;
}

static inline int64_t gompi_checked_mul(int64_t x, int64_t y, bool *overflow) {
	int64_t product;
	if (__builtin_expect(__builtin_mul_overflow(x, y, &product), 0))
		*overflow = true;
	return product;
}

#endif
