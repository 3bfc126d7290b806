// Minimum and maximum of two integers.
#ifndef GOMPI_MINMAX_H
#define GOMPI_MINMAX_H

#include <stdint.h>

static inline int64_t gompi_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t gompi_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
static inline uint64_t gompi_min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t gompi_max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }

#endif
