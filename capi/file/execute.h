// Execution of a prepared access.
#ifndef GOMPI_FILE_EXECUTE_H
#define GOMPI_FILE_EXECUTE_H

#include "file/access.h"

#pragma GCC visibility push(hidden)

// Transfers the bytes of d, with conversion, under a lock in atomic mode. For a collective access all processes of the
// file call it, and agree on the result. Blocks.
void gompi_file_execute(struct gompi_file_transfer_desc *d);

// Transfers the bytes of d like gompi_file_execute, but without the agreement, if the access is short and needs neither
// other processes nor the device. Returns false if it may take longer; then it has done nothing.
bool gompi_file_execute_short(struct gompi_file_transfer_desc *d);

#pragma GCC visibility pop
#endif
