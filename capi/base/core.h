// The core that a waiting thread runs on.
#ifndef GOMPI_CORE_H
#define GOMPI_CORE_H

#include <stdint.h>

// A waiting thread has offered its core at a time, and somebody else ran on it before it came back; or nobody did.
void gompi_core_taken(int64_t now);
void gompi_core_kept(void);

#endif
