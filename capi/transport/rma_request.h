// Pending parts of operations with requests (MPI_Rput and similar calls). A part is a read, write or result that
// accesses the application's own buffer after the call has returned. An operation without such parts is complete when
// its call returns, and needs no pending request.
#ifndef GOMPI_RMA_REQUEST_H
#define GOMPI_RMA_REQUEST_H

#include "base/atomics.h"
#include "win/operation.h"
#include "win/win.h"
#include "win/error_detail.h"

struct gompi_stream;

struct gompi_rma_request {
	gompi_a32 pending_parts;                // parts in progress, plus 1 until the call has sent its last part
	gompi_a32 error_class;                  // error class of the first part that has failed
	struct gompi_error_detail error_detail; // error detail of that part
	int ring_process;                       // process of this node whose ring has received parts; -1 if none
	bool is_notified;                       // the doorbell of ring_process has been rung since the parts were sent
	struct gompi_stream *stream;            // stream on which parts wait for answers; NULL if there is none
	bool is_dynamic;                        // the window is dynamic; the text of an error depends on this
	struct gompi_request *request;          // the MPI request; NULL until the call has sent all parts
	struct gompi_rma_request *next;         // next in the list of pending operations (rma_request_completion.c)
};

#pragma GCC visibility push(hidden)

extern gompi_a32 gompi_rma_request_event; // 1 if the last part of an operation has ended since the last check

// Returns the state of an operation's pending parts. Creates this state at first use. Returns NULL if the operation may
// not leave parts pending, or if out of memory. If it returns NULL, the MPI call must wait for its parts.
struct gompi_rma_request *gompi_rma_request_get(const struct gompi_win *w, const struct gompi_operation *o);

// Adds a part before it is sent through the ring of a process of this node. The next two functions do the same for a
// part that is sent as a record of a stream, or as a read or write of registered memory.
void gompi_rma_request_add_ring(struct gompi_rma_request *g, int process);
void gompi_rma_request_add_stream(struct gompi_rma_request *g, struct gompi_stream *s);
void gompi_rma_request_add_rdma(struct gompi_rma_request *g);
// Ends a part after its data has been stored. The argument `detail` is the part's error, or NULL. The caller must not
// use g afterwards, and must wake the waiting threads of this process.
void gompi_rma_request_end_part(struct gompi_rma_request *g, const struct gompi_error_detail *detail);
// Ends all parts that expect answers of a stream that is being freed.
void gompi_rma_request_end_stream(const struct gompi_stream *s);

// Finishes a call with a request after it has sent all parts. The argument rc is the result of the call until now (0 or
// an error class). The argument g may be NULL. If parts of g are pending, creates a request for them in *o->request;
// otherwise stores a completed request. Returns 0 or an error class, whose detail is stored for this thread. Returns
// GOMPI_RMA_REQUEST_WAIT if there is no memory for a request. The caller then waits for the parts and calls this
// function again.
enum { GOMPI_RMA_REQUEST_WAIT = -1 };
int gompi_rma_request_finish(struct gompi_rma_request *g, struct gompi_win *w, const struct gompi_operation *o, int rc);

// Registers the service by which every wait completes requests whose parts have ended.
void gompi_rma_request_open(void);

#pragma GCC visibility pop
#endif
