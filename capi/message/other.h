// Requests of operations that Go carries out.
#ifndef GOMPI_MESSAGE_OTHER_H
#define GOMPI_MESSAGE_OTHER_H

#include "message/engine.h"

#pragma GCC visibility push(hidden)

// Makes a request of an operation on a communicator (0: none), in the lane of a context, inactive if it is persistent;
// object is what gompi_up.request is told, 0 if that is nothing: the operation is over. Its handle is stored. NULL:
// there is no memory, or too many are live.
struct gompi_request *gompi_other_open(uintptr_t object, uintptr_t comm, uint64_t context, bool persistent,
				       uintptr_t *handle);
// Completes it; text says what is wrong if the result's class is not 0.
void gompi_other_complete(struct gompi_request *r, const struct gompi_engine_result *result, const char *text);

#pragma GCC visibility pop
#endif
