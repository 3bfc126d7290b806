// Requests of operations that Go performs.
#ifndef GOMPI_MESSAGE_GO_REQUEST_H
#define GOMPI_MESSAGE_GO_REQUEST_H

#include "message/engine.h"

#pragma GCC visibility push(hidden)

// Creates a request for an operation on a communicator, in the VCI of a context, and stores its handle. Returns NULL if
// out of memory or if too many requests are live.
struct gompi_request *gompi_go_request_open(uintptr_t comm, uint64_t context, uintptr_t *handle);
// Completes a request of gompi_go_request_open with an empty status. The argument `text` describes the error if `class`
// is not 0.
void gompi_go_request_complete(struct gompi_request *r, int class, const char *text);

#pragma GCC visibility pop
#endif
