// Declares the function that tool.c and the generated stubs of the tool information interface share.
#ifndef GOMPI_TOOL_H
#define GOMPI_TOOL_H

#pragma GCC visibility push(hidden)

// Returns code, or MPI_T_ERR_NOT_INITIALIZED if MPI_T_init_thread has not been called.
int gompi_tool_error(int code);

#pragma GCC visibility pop
#endif
