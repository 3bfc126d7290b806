// Memory that a program gives back while it is a window's. What windows have of the program's own memory is known here
// from the records of calls; what is asked costs a look at one word as long as there is none.
#ifndef GOMPI_INSIGHT_GIVEN_H
#define GOMPI_INSIGHT_GIVEN_H

#include "insight/record.h"

// The memory is a window's from now on, or no longer: all of the window's, if low is 0. One at a time.
void gompi_given_begin(uint64_t win, uint64_t low, uint64_t size);
void gompi_given_end(uint64_t win, uint64_t low);

extern gompi_a32 gompi_given_windows; // how many pieces there are

// Writes down that memory is given back if some of it is a window's.
void gompi_given_back(uintptr_t low, uintptr_t size);

#endif
