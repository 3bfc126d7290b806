// Info objects as the calls that only ask see them: copies of what core/info has. C learns one when it is asked about
// it first, and forgets it when it changes or is freed.
#ifndef GOMPI_INFO_H
#define GOMPI_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Keeps n pairs for a handle that has none: in so many bytes the key, a 0, the value and a 0 of each. false: there is
// no memory. gompi_info_forget takes them away; who changes an object calls it before anybody else can tell C of it.
bool gompi_info_put(uintptr_t handle, int n, const char *pairs, size_t bytes);
void gompi_info_forget(uintptr_t handle);

#pragma GCC visibility pop
#endif
