// Detects that a program frees memory that is part of a window. The records of calls tell which of the program's memory
// windows use. Without such memory a check costs one load.
#ifndef GOMPI_INSIGHT_GIVEN_H
#define GOMPI_INSIGHT_GIVEN_H

#include "insight/record.h"

// gompi_given_begin records that memory belongs to a window; gompi_given_end that it no longer does (all memory of the
// window if low is 0). One thread at a time calls them.
void gompi_given_begin(uint64_t win, uint64_t low, uint64_t size);
void gompi_given_end(uint64_t win, uint64_t low);

extern gompi_a32 gompi_given_windows; // number of ranges

// Writes a record if the freed memory overlaps a window. block: the memory comes from malloc. Then it belongs to the
// window only if the window begins in it: a window may be declared larger than its memory, and other blocks may follow
// it.
void gompi_given_back(uintptr_t low, uintptr_t size, bool block);

#endif
