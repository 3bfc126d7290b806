// The host of this process.
#ifndef GOMPI_HOST_H
#define GOMPI_HOST_H

#include <stdint.h>

// Returns a hash of the identifier of this boot of the kernel, which differs between hosts.
uint64_t gompi_boot_identity(void);

// Combines a hash of this kind with a number (FNV-1a).
static inline uint64_t gompi_identity_add(uint64_t hash, uint64_t number) { return (hash ^ number) * 0x100000001b3; }

#endif
