// Info objects as the calls that only ask see them: copies of what core/info has. C learns one when it is asked about
// it first, and forgets it when it changes or is freed.
#ifndef GOMPI_INFO_H
#define GOMPI_INFO_H

#include "base/known.h"

#pragma GCC visibility push(hidden)

// Who changes an object or frees it has C forget it before anybody else can tell C of it.
extern struct gompi_known gompi_infos;

// Keeps n pairs for a handle: in so many bytes the key, a 0, the value and a 0 of each. false: there is no memory.
bool gompi_info_put(uintptr_t handle, int n, const char *pairs, size_t bytes);

#pragma GCC visibility pop
#endif
