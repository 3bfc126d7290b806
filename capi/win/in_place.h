// Converts private memory of this process to shared memory at the same address, and back. core/rma/in_place.go selects
// the memory. This file makes the system calls. It also handles other threads, signal handlers and fork() of the
// program, which may run at any moment. Only one thread at a time may call these functions.
#ifndef GOMPI_IN_PLACE_H
#define GOMPI_IN_PLACE_H

#include <stddef.h>
#include <stdint.h>

// Shares [address, address + size), which must be whole, private, readable and writable pages. Copies the bytes into
// the file `fd` at the offset `image` + `address`. Then maps these bytes of the file, shared, at the same address.
// Threads that read concurrently see no gap; threads that write wait. Returns 0 or errno. After an error the memory is
// private again.
int gompi_in_place_share(int fd, uint64_t image, uintptr_t address, size_t size);

// Makes the shared pages of [address, address + size) private again, with their contents, at every address where this
// process maps them. Releases the file's memory. Ranges that the program has unmapped or remapped remain unchanged.
// Returns 0 or errno. After an error some pages remain shared, with valid contents.
int gompi_in_place_unshare(uintptr_t address, size_t size);

#endif
