// Requests of operations that Go performs.
#ifndef GOMPI_MESSAGE_GO_REQUEST_H
#define GOMPI_MESSAGE_GO_REQUEST_H

#include "message/engine.h"

#pragma GCC visibility push(hidden)

// Creates a request for an operation on a communicator (comm is 0 if none), in the VCI of a context. The request is
// inactive if it is persistent. object is passed to gompi_go_callbacks.control_request; 0 means that the operation is
// already complete. Stores the handle in *handle. Returns NULL if out of memory or if too many requests are live.
struct gompi_request *gompi_go_request_open(uintptr_t object, uintptr_t comm, uint64_t context, bool persistent,
					    uintptr_t *handle);
// Completes such a request. text describes the error if the result's class is not 0.
void gompi_go_request_complete(struct gompi_request *r, const struct gompi_engine_result *result, const char *text);

#pragma GCC visibility pop
#endif
