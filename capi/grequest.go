package main

/*
#include "grequest.h"
*/
import "C"

import (
	"unsafe"

	"gompirma/core"
	"gompirma/core/abi"
	"gompirma/core/mpierr"
	"gompirma/core/request"
)

// Generalized requests (MPI-5.0 13.2). Their functions are called by the thread that completes, frees or cancels the
// request, from inside that call.

// generalized is the Operation of a generalized request.
type generalized struct {
	request.Request
	query, free, cancel uintptr // functions of the application
	extra               uintptr
	handle              uintptr
	started             request.None
}

// Start implements request.Operation.
func (g *generalized) Start() error { return g.started.Start() }

// Query implements request.Operation.
func (g *generalized) Query(st *request.Status) error {
	var c C.MPI_Status
	at := uintptr(unsafe.Pointer(&c))
	request.StoreEmpty(at)
	rc := C.gompi_call_query(C.uintptr_t(g.query), C.uintptr_t(g.extra), &c)
	*st = request.LoadStatus(at)
	return userError("query", int32(rc))
}

// Release implements request.Operation. A request that was freed before it was complete has kept its handle for
// MPI_Grequest_complete until now.
func (g *generalized) Release() error {
	request.Handles.Remove(g.handle)
	return userError("free", int32(C.gompi_call_free(C.uintptr_t(g.free), C.uintptr_t(g.extra))))
}

// Cancel implements request.Operation.
func (g *generalized) Cancel() error {
	done := C.int(0)
	if g.IsComplete() {
		done = 1
	}
	return userError("cancel", int32(C.gompi_call_cancel(C.uintptr_t(g.cancel), C.uintptr_t(g.extra), done)))
}

// userError makes the code that a function of a generalized request returned an error.
func userError(which string, code int32) error {
	if code == abi.MPI_SUCCESS {
		return nil
	}
	return mpierr.New(code, "the %s function of a generalized request returned %d", which, code)
}

//export gompi_grequest_start
func gompi_grequest_start(query, free, cancel, extra, at uintptr) (rc int32) {
	defer guard("MPI_Grequest_start", 0, 0, &rc)
	err := needRunning()
	if err == nil {
		err = null(at)
	}
	if err == nil && (query == 0 || free == 0 || cancel == 0) {
		err = mpierr.New(abi.MPI_ERR_ARG, "a function is NULL")
	}
	if err == nil {
		g := &generalized{query: query, free: free, cancel: cancel, extra: extra}
		g.Kind, g.Op = request.Generalized, g
		if err = storeRequest(&g.Request, at); err == nil {
			g.handle = *out[uintptr](at)
		}
	}
	return finish("MPI_Grequest_start", 0, 0, err)
}

//export gompi_grequest_complete
func gompi_grequest_complete(h uintptr) (rc int32) {
	defer guard("MPI_Grequest_complete", 0, 0, &rc)
	err := needRunning()
	var r *request.Request
	if err == nil {
		r, err = requestOf(h)
	}
	if err == nil && (r == nil || r.Kind != request.Generalized || r.IsComplete()) {
		err = mpierr.New(abi.MPI_ERR_REQUEST, "%#x is no generalized request that is under way", h)
	}
	if err == nil {
		r.Complete()
		core.Self().Node.Wake(core.Self().Node.Me)
	}
	return finish("MPI_Grequest_complete", 0, 0, err)
}
