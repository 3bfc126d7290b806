// Execution of a prepared access.
#ifndef GOMPI_FILE_EXECUTE_H
#define GOMPI_FILE_EXECUTE_H

#include "file/access.h"

#pragma GCC visibility push(hidden)

// Transfers the bytes of d, with conversion, under a lock in atomic mode. For a collective access all processes of the
// file call it, and agree on the result. Blocks.
void gompi_file_execute(struct gompi_file_transfer_desc *d);

#pragma GCC visibility pop
#endif
