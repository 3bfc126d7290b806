// The header of the standard's ABI as the library's own C sees it: its functions are what the library shows, all else
// is hidden. First in every file, since other headers take the ABI's as they find it.
#ifndef GOMPI_ABI_H
#define GOMPI_ABI_H

#pragma GCC visibility push(default)
#include "mpi_rma.h"
#pragma GCC visibility pop

#endif
