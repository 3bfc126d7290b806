// Execution of a prepared access.
#ifndef GOMPI_FILE_EXECUTE_H
#define GOMPI_FILE_EXECUTE_H

#include "base/atomics.h"
#include "file/access.h"

#pragma GCC visibility push(hidden)

// Executes the prepared access d and stores its result in d. Converts the data if the view has a data representation.
// In atomic mode, locks the range of the file during the transfer. For a collective access, all processes of the file
// call the function, and agree on the error. Blocks.
void gompi_file_execute(struct gompi_file_transfer_desc *d);

// Transfers the bytes of d like gompi_file_execute, but without the agreement, if the access is short and needs neither
// other processes nor the device. Returns false if it may take longer; then it has done nothing.
bool gompi_file_execute_short(struct gompi_file_transfer_desc *d);

// The reads [0] and writes [1] of this process, and their bytes, counted while a tool requests it.
struct gompi_file_counts {
	gompi_a64 calls, bytes;
};
extern struct gompi_file_counts gompi_file_counts[2];
extern gompi_a32 gompi_file_counting; // number of requests

#pragma GCC visibility pop
#endif
