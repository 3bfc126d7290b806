// Memory that a program gives back while it is a window's. What windows have of the program's own memory is known here
// from the records of calls; what is asked costs a look at one word as long as there is none.
#ifndef GOMPI_INSIGHT_GIVEN_H
#define GOMPI_INSIGHT_GIVEN_H

#include "insight/record.h"

// The memory is a window's from now on, or no longer: all of the window's, if low is 0. One at a time.
void gompi_given_begin(uint64_t win, uint64_t low, uint64_t size);
void gompi_given_end(uint64_t win, uint64_t low);

extern gompi_a32 gompi_given_windows; // how many pieces there are

// Writes down that memory is given back if some of it is a window's. block: it is from malloc, and a window's if the
// window begins in it. A window may be given more bytes than are there, and others' blocks lie behind.
void gompi_given_back(uintptr_t low, uintptr_t size, bool block);

#endif
