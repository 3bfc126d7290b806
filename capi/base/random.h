// Random bytes from the system.
#ifndef GOMPI_RANDOM_H
#define GOMPI_RANDOM_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

// Fills memory of at most 256 bytes. Returns false, with errno set, if getrandom(2) and /dev/urandom are denied.
bool gompi_random(void *to, size_t bytes);

#pragma GCC visibility pop
#endif
