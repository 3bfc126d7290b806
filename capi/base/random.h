// Random bytes from the system.
#ifndef GOMPI_RANDOM_H
#define GOMPI_RANDOM_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

// Stores `bytes` random bytes, at most 256, at address `to`. Returns false, with errno set, if getrandom(2) and
// /dev/urandom are denied.
bool gompi_random(void *to, size_t bytes);

#pragma GCC visibility pop
#endif
