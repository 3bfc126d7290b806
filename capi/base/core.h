// The core that a waiting thread runs on.
#ifndef GOMPI_CORE_H
#define GOMPI_CORE_H

#include <stdint.h>

enum { GOMPI_TAKEN_NS = 2000 }; // that an offered core stays away at least if somebody has taken it

// A waiting thread has offered its core at the time before, and come back now.
void gompi_core_offered(int64_t before, int64_t now);

#endif
