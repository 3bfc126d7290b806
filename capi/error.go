package main

/*
#include <stdlib.h>

#include "error.h"
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

// What every export does when it is done: this is the one place that turns a Go error into an error class and has it
// raised (error.c) on the object that the call was made on (MPI-5.0 9.3).

// finish returns what an export hands to its C entry point: 0 for no error, else what the error handler of object makes
// of it. kind 0: the call has no object.
func finish(function string, kind handle.Kind, object uintptr, err error) int32 {
	if err == nil {
		return abi.MPI_SUCCESS
	}
	return refused(mpierr.ClassOf(err), function, err.Error(), int32(kind), object)
}

// guard is deferred by every export, so that no panic crosses into C: it becomes MPI_ERR_INTERN with the stack on
// standard error.
func guard(function string, kind handle.Kind, object uintptr, rc *int32) {
	if p := recover(); p != nil {
		fmt.Fprintf(os.Stderr, "gompirma: internal error in %s: %v\n%s", function, p, debug.Stack())
		*rc = finish(function, kind, object, mpierr.New(abi.MPI_ERR_INTERN, "%v", p))
	}
}

// alone does what all calls that are about no object do around their own work f.
func alone(function string, f func() error) (rc int32) {
	defer guard(function, 0, 0, &rc)
	return finish(function, 0, 0, f())
}

// store stores what f returns at an address. f is not called if that is null.
func store[T any](at uintptr, f func() (T, error)) error {
	if err := null(at); err != nil {
		return err
	}
	v, err := f()
	if err == nil {
		*out[T](at) = v
	}
	return err
}

// making is alone for a call that stores what f returns.
func making[T any](function string, at uintptr, f func() (T, error)) int32 {
	return alone(function, func() error { return store(at, f) })
}

// storeString stores a text of less than size bytes and its length.
func storeString(s string, size int, at, length uintptr) error {
	err := null(at, length)
	if err == nil {
		*out[int32](length) = int32(putString(at, s, size))
	}
	return err
}

// refused reports a call that was refused on an object (kind is one of handle.Kind, 0 for none) and returns what the
// entry point hands on: the error class, or a negative token for gompi_raise if a user's error handler is to be called,
// which may leave by longjmp and so never runs above a Go frame.
func refused(class int32, function, text string, kind int32, object uintptr) int32 {
	return int32(C.gompi_raise_in_go(C.int(class), cText(function), cText(text), C.int(kind),
		C.uintptr_t(object)))
}

// cText returns a text for a call of C that does not keep it. C.CString would end the process where malloc has no
// memory, which may be the error to be raised.
func cText(s string) *C.char {
	b := append([]byte(s), 0)
	return (*C.char)(unsafe.Pointer(&b[0]))
}

// noObject is the error for a handle that stands for no object of its kind.
func noObject(kind handle.Kind, object uintptr) error {
	if kind == handle.Win {
		return mpierr.New(abi.MPI_ERR_WIN, "%#x is no window, or one that was freed", object)
	}
	return mpierr.New(abi.MPI_ERR_COMM, "%#x is no communicator, or one that was freed", object)
}

// gompi_abort_error ends the job for an error that nobody handles.
//
//export gompi_abort_error
func gompi_abort_error(class int32, message uintptr) {
	abort(class, cString(message), class == abi.MPI_ERR_PROC_ABORTED)
}

// lookupComm returns the communicator behind a handle, predefined ones included; nil if there is none.
func lookupComm(h uintptr) *comm.Comm {
	if p := core.Self(); p != nil {
		switch h {
		case abi.MPI_COMM_WORLD:
			return p.WorldComm
		case abi.MPI_COMM_SELF:
			return p.SelfComm
		}
	}
	return comm.Handles.Get(h)
}

// abort ends the job with a line on standard error, and with a status that is not 0 whatever code an application has
// made up. It does not return. If the launcher already ends the job, only this process ends, without a line. byLoss:
// the reason is that another process is lost.
func abort(code int32, message string, byLoss bool) {
	code = exitStatus(code)
	if core.EndAnnounced(byLoss) {
		exit(code)
	}
	if rank := core.Rank(); rank >= 0 {
		fmt.Fprintf(os.Stderr, "gompirma: rank %d: %s\n", rank, message)
	} else {
		fmt.Fprintf(os.Stderr, "gompirma: %s\n", message)
	}
	core.Abort(int(code))
	exit(code)
}

// null returns an error if one of the addresses that a call stores its results at is null.
func null(addresses ...uintptr) error {
	for _, a := range addresses {
		if a == 0 {
			return mpierr.New(abi.MPI_ERR_ARG, "the address of a result is NULL")
		}
	}
	return nil
}
