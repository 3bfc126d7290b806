// Execution of a prepared access.
#ifndef GOMPI_FILE_EXECUTE_H
#define GOMPI_FILE_EXECUTE_H

#include "base/tool_counts.h"
#include "file/access.h"

#pragma GCC visibility push(hidden)

// Executes the prepared access d and stores its result in d. Converts the data if the view has a data representation.
// In atomic mode, locks the range of the file during the transfer. For a collective access, all processes of the file
// call the function, and agree on the error. Blocks.
void gompi_file_execute(struct gompi_file_transfer_desc *d);

// Transfers the bytes of d like gompi_file_execute, but without the agreement, if the access is short and needs neither
// other processes nor the device. Returns false if it may take longer; then it has done nothing.
bool gompi_file_execute_short(struct gompi_file_transfer_desc *d);

// Counters of the tool information interface: the accesses of this process to one file, or those to all files. They
// count while a tool requests it.
struct gompi_file_counts {
	struct gompi_tool_counts head;
	struct {
		gompi_a64 calls, bytes;
	} access[2]; // [0] reads, [1] writes
};
extern struct gompi_file_counts gompi_all_file_counts;
extern gompi_a32 gompi_file_counting; // number of requests

#pragma GCC visibility pop
#endif
