// Package errhandler owns error handler objects (MPI-5.0 9.3) and the classes, codes and strings that an application
// adds (9.5).
//
// It knows nothing of the objects that handlers are attached to: those keep a handle of this package. User functions
// are opaque addresses; capi calls them.
package errhandler

import (
	"sync"

	"gompirma/core/abi"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
)

// Handler is a user's error handler. It lives while the application holds its handle or an object uses it.
type Handler struct {
	Kind     handle.Kind // Comm, Win, File or Session: what it can be attached to
	Function uintptr     // the user's C function

	mu   sync.Mutex
	refs int // objects and handles that refer to it
}

var handlers = handle.NewTable[Handler](handle.Errhandler)

// New makes a handler for objects of the given kind and returns its handle. MPI_ERR_ARG: no function; MPI_ERR_NO_MEM:
// too many handlers.
func New(kind handle.Kind, function uintptr) (uintptr, error) {
	if function == 0 {
		return 0, mpierr.New(abi.MPI_ERR_ARG, "the error handler function is NULL")
	}
	h, ok := handlers.Add(&Handler{Kind: kind, Function: function, refs: 1})
	if !ok {
		return 0, mpierr.New(abi.MPI_ERR_NO_MEM, "%d error handlers exist already", handlers.Most())
	}
	return h, nil
}

// Predefined returns whether h is MPI_ERRORS_ARE_FATAL, ABORT or RETURN.
func Predefined(h uintptr) bool {
	return h == abi.MPI_ERRORS_ARE_FATAL || h == abi.MPI_ERRORS_ABORT || h == abi.MPI_ERRORS_RETURN
}

// Get returns the user's handler behind h, nil if h is predefined or no handler.
func Get(h uintptr) *Handler { return handlers.Get(h) }

// Attach returns nil if h may be attached to an object of the given kind, and counts the new reference.
// MPI_ERR_ERRHANDLER: not a handler; MPI_ERR_ARG: one for another kind of object.
func Attach(h uintptr, kind handle.Kind) error {
	if Predefined(h) {
		return nil
	}
	x := handlers.Get(h)
	if x == nil {
		return mpierr.New(abi.MPI_ERR_ERRHANDLER, "%#x is no error handler", h)
	}
	if x.Kind != kind {
		return mpierr.New(abi.MPI_ERR_ERRHANDLER, "error handler %#x was made for another kind of object", h)
	}
	x.mu.Lock()
	x.refs++
	x.mu.Unlock()
	return nil
}

// Keep counts one more reference to h, which is attached somewhere: MPI_Comm_get_errhandler and MPI_Comm_dup.
func Keep(h uintptr) {
	if x := handlers.Get(h); x != nil {
		x.mu.Lock()
		x.refs++
		x.mu.Unlock()
	}
}

// Release drops one reference; the handler goes with the last.
func Release(h uintptr) {
	x := handlers.Get(h)
	if x == nil {
		return
	}
	x.mu.Lock()
	x.refs--
	last := x.refs == 0
	x.mu.Unlock()
	if last {
		handlers.Remove(h)
	}
}

// Free is MPI_Errhandler_free: the application gives up its reference. MPI_ERR_ERRHANDLER: not a handler. Predefined
// ones stay.
func Free(h uintptr) error {
	if Predefined(h) {
		return nil
	}
	if handlers.Get(h) == nil {
		return mpierr.New(abi.MPI_ERR_ERRHANDLER, "%#x is no error handler", h)
	}
	Release(h)
	return nil
}
