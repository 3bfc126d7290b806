// Nonblocking accesses.
#ifndef GOMPI_FILE_QUEUE_H
#define GOMPI_FILE_QUEUE_H

#include "file/access.h"

#pragma GCC visibility push(hidden)

// Starts a copy of a prepared access, and stores its request: executes a short independent access, and queues another
// access for the library's threads. Collective accesses are executed in the order in which they are queued. Returns
// what the call must return.
int gompi_file_enqueue(const struct gompi_file_transfer_desc *prepared, MPI_Request *request);
// Waits until no collective access is queued or running, and all processes have agreed on the result of a split
// collective access. Each MPI call that uses the file's communicator calls the function first, because the thread of
// the queue uses this communicator, too, and all processes must call its collectives in the same order.
void gompi_file_await_collectives(struct gompi_file *f, const char *call);
// Waits until no thread of the library uses the file. Precondition: the application has completed all accesses.
void gompi_file_finish_queues(struct gompi_file *f);

#pragma GCC visibility pop
#endif
