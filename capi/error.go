package main

/*
#include "base/abi.h"
#include "runtime/raise.h"
*/
import "C"

import (
	"fmt"
	"os"
	"runtime/debug"
	"unsafe"

	"gompirma/core"
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
)

// Errors of exported functions. This file converts a Go error to an error class and raises it on the object of the call
// (MPI-5.0 9.3; runtime/raise.c).

// finish returns the value that an exported function returns to its C entry point: 0 if err is nil, otherwise the
// result of raiseError. The argument `kind` is 0 if the call has no object.
func finish(function string, kind handle.Kind, object uintptr, err error) int32 {
	if err == nil {
		return abi.MPI_SUCCESS
	}
	return raiseError(mpierr.ClassOf(err), function, err.Error(), int32(kind), object)
}

// guard is deferred by every exported function, so that no panic reaches C. It converts a panic to MPI_ERR_INTERN and
// prints the stack on standard error.
func guard(function string, kind handle.Kind, object uintptr, rc *int32) {
	if p := recover(); p != nil {
		fmt.Fprintf(os.Stderr, "gompirma: internal error in %s: %v\n%s", function, p, debug.Stack())
		*rc = finish(function, kind, object, mpierr.New(abi.MPI_ERR_INTERN, "%v", p))
	}
}

// runNoObject executes an MPI call that has no object: it runs f and raises the error of f.
func runNoObject(function string, f func() error) (rc int32) {
	defer guard(function, 0, 0, &rc)
	return finish(function, 0, 0, f())
}

// storeResult stores the result of f at the address of the argument `what`. If the address is null, it returns an error
// and does not call f.
func storeResult[T any](what string, at uintptr, f func() (T, error)) error {
	if err := checkNotNull(what, at); err != nil {
		return err
	}
	v, err := f()
	if err == nil {
		*out[T](at) = v
	}
	return err
}

// storeNoObject executes an MPI call that has no object: it stores the result of f at the address of the argument
// `what`.
func storeNoObject[T any](function, what string, at uintptr, f func() (T, error)) int32 {
	return runNoObject(function, func() error { return storeResult(what, at, f) })
}

// storeString stores the version text s, truncated to less than `size` bytes, and its length.
func storeString(s string, size int, at, length uintptr) error {
	err := checkNotNull("version or resultlen", at, length)
	if err == nil {
		*out[int32](length) = int32(putString(at, s, size))
	}
	return err
}

// raiseError raises the error of a call on an object. The argument `kind` is a handle.Kind, or 0 if there is no object.
// It returns the value for the C entry point: the error class, or a negative token for gompi_raise_pending if a handler
// of the application must run. Such a handler may leave by longjmp, so it never runs above a Go frame.
func raiseError(class int32, function, text string, kind int32, object uintptr) int32 {
	return int32(C.gompi_raise_from_go(C.int(class), cText(function), cText(text), C.int(kind),
		C.uintptr_t(object)))
}

// cText returns s as a C string in Go memory, for a C function that does not retain the pointer. C.CString would end
// the process if malloc fails, although a failed malloc may be the error to report.
func cText(s string) *C.char {
	b := append([]byte(s), 0)
	return (*C.char)(unsafe.Pointer(&b[0]))
}

// noObject returns the error for a handle that refers to no object of its kind.
func noObject(kind handle.Kind, object uintptr) error {
	switch {
	case kind == handle.Win && object == abi.MPI_WIN_NULL:
		return mpierr.New(abi.MPI_ERR_WIN, "the window is MPI_WIN_NULL")
	case kind == handle.Win:
		return mpierr.New(abi.MPI_ERR_WIN, "%#x is not a window, or has been freed", object)
	case object == abi.MPI_COMM_NULL:
		return mpierr.New(abi.MPI_ERR_COMM, "the communicator is MPI_COMM_NULL")
	}
	return mpierr.New(abi.MPI_ERR_COMM, "%#x is not a communicator, or has been freed", object)
}

// gompi_abort_error ends the job after an error that no error handler has handled. It does not return.
//
//gompi:callback void (int class, const char *message)
//export gompi_abort_error
func gompi_abort_error(class int32, message uintptr) {
	abort(class, cString(message), true)
}

// lookupComm returns the communicator with a handle, which may be predefined, or nil if no communicator has the handle.
func lookupComm(h uintptr) *comm.Comm {
	if p := core.Self(); p != nil && p.IsWorldOpen() {
		switch h {
		case abi.MPI_COMM_WORLD:
			return p.WorldComm
		case abi.MPI_COMM_SELF:
			return p.SelfComm
		}
	}
	return comm.Handles.Get(h)
}

// abort prints a line on standard error and ends the job with a nonzero status. It does not return. If the launcher is
// already ending the job, abort only ends this process and prints nothing. byError is true if code is the class of a
// fatal error.
func abort(code int32, message string, byError bool) {
	afterFailure := byError && (code == abi.MPI_ERR_PROC_ABORTED || code == C.MPIX_ERR_PROC_FAILED)
	code = exitStatus(code)
	if core.EndAnnounced(afterFailure) {
		exit(code)
	}
	if rank := core.Rank(); rank >= 0 {
		fmt.Fprintf(os.Stderr, "gompirma: rank %d: %s\n", rank, message)
	} else {
		fmt.Fprintf(os.Stderr, "gompirma: %s\n", message)
	}
	core.Abort(int(code), byError)
	exit(code)
}

// checkNotNull returns an error if one of the addresses is null. The argument `what` names the arguments of the call.
func checkNotNull(what string, addresses ...uintptr) error {
	for _, a := range addresses {
		if a == 0 {
			return mpierr.New(abi.MPI_ERR_ARG, "%s is NULL", what)
		}
	}
	return nil
}
