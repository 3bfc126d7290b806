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

// A checked access of this process. A failed check of a collective call leaves an access of no bytes, with the error.
struct gompi_file_transfer_desc {
	struct gompi_file *f;
	const char *call;
	bool write, collective;
	int64_t pos;           // position in the view's stream
	int64_t bytes;         // bytes in the file
	struct gompi_buffer b; // in memory
	MPI_Datatype datatype; // of the buffer; for conversions
	MPI_Count count;
	const void *buf;
	int64_t done_bytes;              // result: bytes of the buffer that have been transferred
	struct gompi_error_status error; // result; class MPI_SUCCESS if there is none
};

#pragma GCC visibility push(hidden)

// Execute a blocking, a nonblocking, and a split collective access. Return what the call returns.
int gompi_file_run(const struct gompi_file_access *a, MPI_Status *status);
int gompi_file_start(const struct gompi_file_access *a, MPI_Request *request);
int gompi_file_begin(const struct gompi_file_access *a);
// Ends the split collective that the function named begin has begun.
int gompi_file_end(const char *call, const char *begin, MPI_File fh, MPI_Status *status);

// Transfers the bytes of d, with conversion, under a lock in atomic mode. For a collective access all processes of the
// file call it, and agree on the result. Blocks.
void gompi_file_execute(struct gompi_file_transfer_desc *d);

// The shared file pointer (shared_pointer.c), in etypes. fetch_add returns the former value. All return MPI_SUCCESS or
// the error class in v.
int gompi_file_shared_fetch_add(struct gompi_file *f, int64_t etypes, int64_t *was, struct gompi_error_status *v);
int gompi_file_shared_get(struct gompi_file *f, int64_t *value, struct gompi_error_status *v);
int gompi_file_shared_set(struct gompi_file *f, int64_t value, struct gompi_error_status *v);
// Reserves the places of an ordered access: *first is that of this process. Collective.
int gompi_file_shared_ordered(struct gompi_file *f, int64_t etypes, int64_t *first, struct gompi_error_status *v);

// Bytes in the file of count copies of a type in memory, and the conversion itself (datarep.c).
int gompi_datarep_file_bytes(const struct gompi_file *f, MPI_Datatype datatype, int64_t count, int64_t *bytes,
			     struct gompi_error_status *v);
int gompi_datarep_transfer(struct gompi_file_transfer_desc *d, int64_t *done, struct gompi_error_status *v);

// Queues an access for the file's background threads, which call done(arg) after gompi_file_execute. Collective accesses
// keep their order. Returns false if out of memory.
bool gompi_file_enqueue(struct gompi_file_transfer_desc *d, void (*done)(struct gompi_file_transfer_desc *d, void *arg),
			void *arg);
// Returns true if collective accesses are queued or running, which later ones must follow.
bool gompi_file_has_queued_collectives(struct gompi_file *f);
// Waits until no nonblocking access of the file is queued or running.
void gompi_file_finish_queues(struct gompi_file *f);

#pragma GCC visibility pop
#endif
