package main

/*
#include <stdlib.h>
#include "base/error_status.h"
#include "message/go_request.h"
*/
import "C"

import (
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
)

// noRequest returns the error for a request that cannot be created.
func noRequest() error {
	return mpierr.New(abi.MPI_ERR_NO_MEM, "out of memory for a request, or too many requests are active")
}

// goRequest is the request of an operation that Go executes.
type goRequest struct{ c *C.struct_gompi_request }

// openRequest creates the request of an operation on the communicator c, and stores the request's handle at an address.
func openRequest(c *comm.Comm, at uintptr) (goRequest, error) {
	r := goRequest{C.gompi_go_request_open(C.uintptr_t(c.Handle), C.uint64_t(c.Context(comm.PointToPoint)),
		out[C.uintptr_t](at))}
	if r.c == nil {
		return r, noRequest()
	}
	return r, nil
}

// complete completes a request with the error of its operation.
func (r goRequest) complete(err error) {
	var text *C.char
	if err != nil {
		text = cText(err.Error())
	}
	C.gompi_go_request_complete(r.c, C.int(mpierr.ClassOf(err)), text)
}

// storeText stores the text of an error at `at`, the address of the field `text` of an error status. It truncates the
// text to the size of this field.
func storeText(at uintptr, err error) {
	const room = len(C.struct_gompi_error_status{}.text)
	b := slice[byte](at, room)
	b[min(copy(b, err.Error()), room-1)] = 0
}
