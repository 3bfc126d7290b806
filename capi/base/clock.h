// Monotonic time.
#ifndef GOMPI_CLOCK_H
#define GOMPI_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t gompi_now_ns(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

#endif
