// Ordinary memory of this process that becomes shared memory where it lies, and ordinary again. core/rma/in_place.go
// decides which; the system calls and what must be ready at any moment for the program's other threads, its handlers of
// signals and fork() are here. One thread at a time calls what stands here.
#ifndef GOMPI_IN_PLACE_H
#define GOMPI_IN_PLACE_H

#include <stddef.h>
#include <stdint.h>

// Puts the bytes of [address, address + size), whole private, readable and writable pages, into the file fd at image +
// address, and maps them from there, shared, at the address where they were. Threads that read meanwhile see no gap;
// threads that write wait. 0 or errno; then everything is as before.
int gompi_in_place_share(int fd, uint64_t image, uintptr_t address, size_t size);

// Makes what is still mapped of [address, address + size) of the image private again, with its contents, wherever in
// this process it is mapped by now, and gives the file's memory back. What the program has unmapped or mapped anew
// stays as it is. 0 or errno: some of it stays shared, contents and all.
int gompi_in_place_unshare(uintptr_t address, size_t size);

#endif
