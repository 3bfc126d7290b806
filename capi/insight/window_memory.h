// Detects that a program frees memory that is part of a window. The records of calls determine which memory of the
// program belongs to windows. While no memory belongs to a window, a check costs one load.
#ifndef GOMPI_INSIGHT_WINDOW_MEMORY_H
#define GOMPI_INSIGHT_WINDOW_MEMORY_H

#include "insight/record.h"

// gompi_win_memory_add adds memory of a window. gompi_win_memory_remove removes the memory that begins at `low` or, if
// `low` is 0, all memory of the window. Only one thread at a time may call these functions.
void gompi_win_memory_add(uint64_t win, uint64_t low, uint64_t size);
void gompi_win_memory_remove(uint64_t win, uint64_t low);

extern gompi_a32 gompi_win_memory_count; // number of ranges of window memory that are in use

// Writes a record if the freed memory overlaps a window. is_malloc_block is true if the memory is a block of malloc. A
// block is reported only if the window begins in it. A program may declare a window larger than its memory, so that the
// window seems to contain later blocks.
void gompi_win_memory_freed(uintptr_t low, uintptr_t size, bool is_malloc_block);

#endif
