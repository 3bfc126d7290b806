// The tool information interface, for its stubs.
#ifndef GOMPI_TOOL_H
#define GOMPI_TOOL_H

#pragma GCC visibility push(hidden)

// Returns an error code of the tool interface, or MPI_T_ERR_NOT_INITIALIZED before MPI_T_init_thread.
int gompi_tool_refuse(int code);

#pragma GCC visibility pop
#endif
