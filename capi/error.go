package main

/*
#include "comm/comm.h"
#include "win/win.h"
*/
import "C"

import (
	"fmt"
	"os"
	"runtime/debug"
	"sync"

	"gompirma/core"
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/errhandler"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
	"gompirma/core/rma"
)

// What every export does when it is done: this is the one place that turns a Go error into an error class and runs the
// error handler of the object that the call was made on (MPI-5.0 9.3).

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

// freeing is alone for a call that ends by f what has the handle at an address; none is there then.
func freeing[T any](function string, at uintptr, none T, f func(h T) error) int32 {
	return alone(function, func() error {
		err := null(at)
		if err == nil {
			err = f(*out[T](at))
		}
		if err == nil {
			*out[T](at) = none
		}
		return err
	})
}

// storeString stores a text of less than size bytes and its length.
func storeString(s string, size int, at, length uintptr) error {
	err := null(at, length)
	if err == nil {
		*out[int32](length) = int32(putString(at, s, size))
	}
	return err
}

// pendingHandler is a user's error handler that the C entry point is about to call: not here, so that the user's code,
// which may leave by longjmp, never runs above a Go frame.
type pendingHandler struct {
	function, object uintptr
	code             int32
	asked            bool // by a call whose purpose it was, and which has succeeded when the handler returns
}

var pending struct {
	mu   sync.Mutex
	list map[int32]pendingHandler
	last int32
}

// refused reports a call that was refused on an object (kind is one of handle.Kind, 0 for none) and returns what the
// entry point hands on: the error class, or a negative token for gompi_raise if a user's error handler is to be called.
func refused(class int32, function, text string, kind int32, object uintptr) int32 {
	// there is none, whatever its handle
	if (class == abi.MPI_ERR_COMM || class == abi.MPI_ERR_WIN) && !core.Running() {
		class, text = abi.MPI_ERR_OTHER, outside
	}
	what := function
	if name := objectName(handle.Kind(kind), object); name != "" {
		what += " on " + name
	}
	text = what + ": " + text
	mpierr.Remember(class, text)
	h, on := handlerOf(handle.Kind(kind), object)
	switch h {
	case abi.MPI_ERRORS_RETURN:
		return class
	case abi.MPI_ERRORS_ARE_FATAL, abi.MPI_ERRORS_ABORT:
		message := text
		if name := abi.ErrorClassName(class); name != "" { // none of an application's own code
			message = name + ": " + text
		}
		abort(class, message)
	}
	x := errhandler.Get(h)
	if x == nil {
		return class
	}
	pending.mu.Lock()
	defer pending.mu.Unlock()
	if pending.list == nil {
		pending.list = map[int32]pendingHandler{}
	}
	pending.last = pending.last%(1<<30) + 1
	pending.list[-pending.last] = pendingHandler{x.Function, on, class, false}
	return -pending.last
}

// asked marks the handler of a token as called for its own sake.
func asked(token int32) int32 {
	pending.mu.Lock()
	defer pending.mu.Unlock()
	p := pending.list[token]
	p.asked = true
	pending.list[token] = p
	return token
}

//export gompi_take_handler
func gompi_take_handler(token int32, function, object, code uintptr) int32 {
	pending.mu.Lock()
	p := pending.list[token]
	delete(pending.list, token)
	pending.mu.Unlock()
	*out[uintptr](function) = p.function
	*out[uintptr](object) = p.object
	*out[int32](code) = p.code
	if p.asked {
		return 1
	}
	return 0
}

// handlerOf returns the error handler for errors on object and the handle it is called with: those of MPI_COMM_SELF, or
// of MPI_COMM_WORLD if the program has never set the former, where the object does not exist.
func handlerOf(kind handle.Kind, object uintptr) (h, on uintptr) {
	switch kind {
	case handle.Comm:
		if c := lookupComm(object); c != nil {
			return uintptr(c.Errhandler.Load()), object
		}
	case handle.Win:
		if w := rma.Lookup(object); w != nil {
			return uintptr(w.Errhandler.Load()), object
		}
	case handle.File:
		return abi.MPI_ERRORS_RETURN, object
	}
	if p := core.Self(); p != nil {
		if !selfHandlerSet.Load() {
			return uintptr(p.WorldComm.Errhandler.Load()), abi.MPI_COMM_WORLD
		}
		return uintptr(p.SelfComm.Errhandler.Load()), abi.MPI_COMM_SELF
	}
	return abi.MPI_ERRORS_ARE_FATAL, abi.MPI_COMM_SELF
}

// objectName names an object in an error's text: the name the application gave it, else its handle.
func objectName(kind handle.Kind, object uintptr) string {
	switch kind {
	case handle.Comm:
		if c := lookupComm(object); c != nil {
			if name := nameOf(func(name *C.char) C.int {
				return C.gompi_comm_name(C.MPI_Comm(pointer(object)), name)
			}); name != "" {
				return "communicator " + name
			}
			return fmt.Sprintf("communicator %#x", object)
		}
	case handle.Win:
		if w := rma.Lookup(object); w != nil {
			if name := nameOf(func(name *C.char) C.int {
				return C.gompi_win_name(C.MPI_Win(pointer(object)), name)
			}); name != "" {
				return "window " + name
			}
			return fmt.Sprintf("window %#x", object)
		}
	}
	return ""
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
// made up. It does not return.
func abort(code int32, message string) {
	code = exitStatus(code)
	core.YieldToLauncher()
	if rank := core.Rank(); rank >= 0 {
		fmt.Fprintf(os.Stderr, "gompirma: rank %d: %s\n", rank, message)
	} else {
		fmt.Fprintf(os.Stderr, "gompirma: %s\n", message)
	}
	core.Abort(int(code))
	exit(code)
}

// gompi_refused_go raises the error of a call that C has refused.
//
//export gompi_refused_go
func gompi_refused_go(class int32, function, text uintptr, kind int32, object uintptr) int32 {
	return refused(class, cString(function), cString(text), kind, object)
}
