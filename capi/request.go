package main

/*
#include <stdlib.h>
#include "base/go_callbacks.h"
#include "base/error_status.h"
#include "message/go_request.h"
*/
import "C"

import (
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
	"gompirma/core/p2p"
	"gompirma/core/request"
)

// Requests of operations that Go executes. C completes, frees, cancels and starts them (capi/message/wait_calls.c,
// request_calls.c), like all other requests.

// goRequests holds the requests that C refers to, by handle.
var goRequests = handle.NewTable[request.Request](handle.Request)

// storeRequest stores a handle of r at an address. It returns MPI_ERR_NO_MEM if out of memory or if too many requests
// are live.
func storeRequest(r *request.Request, at uintptr) error {
	if r == request.Completed {
		*out[uintptr](at) = request.Done
		return nil
	}
	h, ok := p2p.HandleOf(r)
	if !ok {
		h = openRequest(r)
	}
	if h == 0 {
		r.Free()
		return mpierr.New(abi.MPI_ERR_NO_MEM, "out of memory for a request, or too many requests are active")
	}
	*out[uintptr](at) = h
	return nil
}

// openRequest creates the C request of r and returns its handle, or 0 if that fails.
func openRequest(r *request.Request) uintptr {
	var on uintptr
	var context uint64
	if c, ok := r.Owner.(*comm.Comm); ok {
		on, context = c.Handle, c.Context(comm.PointToPoint)
	}
	// A completed collective needs no handle in Go: C needs only its result. A completed message needs one, because
	// MPI_Cancel may still be called for it.
	over := r.Kind == request.Collective && r.IsComplete() && !r.Persistent
	var object uintptr
	if !over {
		var ok bool
		if object, ok = goRequests.Add(r); !ok {
			return 0
		}
	}
	var h C.uintptr_t
	c := C.gompi_go_request_open(C.uintptr_t(object), C.uintptr_t(on), C.uint64_t(context),
		C.bool(r.Persistent), &h)
	if c == nil {
		if !over {
			goRequests.Remove(object)
		}
		return 0
	}
	r.OnComplete(func() {
		st := &r.Status
		result := C.struct_gompi_engine_result{source: C.int32_t(st.Source), tag: C.int32_t(st.Tag),
			cancelled: C.bool(st.Cancelled), bytes: C.int64_t(st.Bytes)}
		var text *C.char
		if r.Err != nil {
			result.class, text = C.int32_t(mpierr.ClassOf(r.Err)), cText(r.Err.Error())
		}
		C.gompi_go_request_complete(c, &result, text)
	})
	if over {
		r.Free()
	}
	return uintptr(h)
}

// gompi_control_request applies an enum gompi_request_action to the request of an operation that Go executes. It
// returns 0 or an error class; text, of sizeof ((struct gompi_error_status *)0)->text bytes, then holds the detail.
//
//gompi:callback int (uintptr_t object, int action, char *text)
//export gompi_control_request
func gompi_control_request(object uintptr, what int32, text uintptr) (rc int32) {
	defer guard("a request", 0, 0, &rc)
	r := goRequests.Get(object)
	var err error
	switch what {
	case C.GOMPI_REQUEST_START:
		r.SetInactive()
		err = r.Op.Start()
	case C.GOMPI_REQUEST_CANCEL:
		err = r.Op.Cancel()
	case C.GOMPI_REQUEST_RELEASE:
		goRequests.Remove(object)
		err = r.Op.Release()
	}
	if err == nil {
		return abi.MPI_SUCCESS
	}
	storeText(text, err)
	return mpierr.ClassOf(err)
}

// storeText stores the text of an error at the address of the text of an error status.
func storeText(at uintptr, err error) {
	const capacity = len(C.struct_gompi_error_status{}.text)
	b := slice[byte](at, capacity)
	b[min(copy(b, err.Error()), capacity-1)] = 0
}
