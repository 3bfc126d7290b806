// Reads and writes: what the calls of all kinds have in common.
#ifndef GOMPI_FILE_ACCESS_H
#define GOMPI_FILE_ACCESS_H

#include "file/file.h"

// Where an access begins.
enum gompi_file_pointer { GOMPI_FILE_EXPLICIT, GOMPI_FILE_INDIVIDUAL, GOMPI_FILE_SHARED };

// The arguments of a call that reads or writes.
struct gompi_file_access {
	const char *call;
	MPI_File fh;
	bool write, collective;
	enum gompi_file_pointer pointer;
	int64_t offset; // GOMPI_FILE_EXPLICIT: in etypes
	void *buf;
	MPI_Count count;
	MPI_Datatype datatype;
};

// A checked access of this process. If a check of a collective call has failed, the access has no bytes, and `error`
// describes the failure.
struct gompi_file_transfer_desc {
	struct gompi_file *f;
	const char *call;
	bool write, collective;
	int64_t pos;           // position in the view's stream
	int64_t bytes;         // bytes in the file
	struct gompi_buffer b; // the buffer in memory
	MPI_Datatype datatype; // datatype of the buffer; used if the view has a datarep
	MPI_Count count;
	const void *buf;
	int64_t done_bytes;              // result: bytes of the buffer that have been transferred
	struct gompi_error_status error; // result; class MPI_SUCCESS if there is none
	// The request and the next access in the queue, for a nonblocking access.
	struct gompi_request *request;
	struct gompi_file_transfer_desc *next;
};

#pragma GCC visibility push(hidden)

// Each function returns the value that the MPI call must return.

// Executes a blocking access.
int gompi_file_run(const struct gompi_file_access *a, MPI_Status *status);
// Starts a nonblocking access.
int gompi_file_start(const struct gompi_file_access *a, MPI_Request *request);
// Begins a split collective access.
int gompi_file_begin(const struct gompi_file_access *a);
// Ends the split collective access that the MPI function with the name `begin` has begun.
int gompi_file_end(const char *call, const char *begin, MPI_File fh, MPI_Status *status);

#pragma GCC visibility pop
#endif
