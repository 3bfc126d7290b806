// Package request owns what Go knows of an operation under way: a message, a persistent operation, a collective.
// Whoever starts an operation embeds or fills a Request. The application's requests are C's (capi/message/request.h),
// which completes, tests and frees them all alike, and asks Operation for what Go carries out.
//
// It must not know messages or windows: what differs between kinds of requests is behind Operation.
package request

import (
	"sync/atomic"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// Done is the handle of a request that is complete from the start and stands for no message: MPI_Rput on a directly
// mapped window returns it, so that it costs no table entry. Any number of requests may have it; waiting for it gives
// the empty status. It lies in the range that the ABI keeps for predefined requests.
const Done = abi.MPI_REQUEST_NULL + 1

// Operation is what differs between the kinds of requests. Embed None for the methods a kind does not need.
type Operation interface {
	// Start begins a persistent operation (MPI_Start); the request is inactive.
	Start() error
	// Cancel tries to cancel (MPI_Cancel); it must not block. Whether it succeeded is in the status once the
	// request is complete.
	Cancel() error
	// Query is called once when a completed request whose life is elsewhere is looked at, before its status is
	// read; its error is the call's error.
	Query(st *Status) error
	// Release is called when neither the application nor the operation needs the request any longer.
	Release() error
}

// None is an Operation that does nothing.
type None struct{}

func (None) Start() error {
	return mpierr.New(abi.MPI_ERR_REQUEST, "the request is not persistent: it cannot be started")
}
func (None) Cancel() error {
	return mpierr.New(abi.MPI_ERR_REQUEST,
		"only requests of point-to-point messages and generalized requests can be cancelled")
}
func (None) Query(*Status) error { return nil }
func (None) Release() error      { return nil }

// The life of a request. A request that is not persistent is active from its creation on.
const (
	active   = uint32(iota)
	complete // the operation is done: Status and Err are valid
	inactive // persistent, not started (or looked at after completion)
)

// Kind tells the kinds of requests apart where the standard does.
type Kind uint8

// The kinds of requests.
const (
	Send Kind = iota
	Receive
	Collective
)

// Request is an operation under way. The zero value is active and of kind Send.
//
// Status and Err are written by whoever completes it before Complete, and read by others only after IsComplete.
type Request struct {
	state atomic.Uint32
	freed atomic.Uint32 // freedByUser, freedByOp
	tell  atomic.Pointer[func()]
	told  atomic.Bool // for this start of it
	// Life is where the state of the request is if it is not here: that of a message is in C, which completes it,
	// and which Op asks what has become of it. Set before anybody else sees the request.
	Life *uint32

	Kind       Kind
	Persistent bool
	Status     Status
	Err        error
	Op         Operation
	// Owner is the communicator, window or session that errors are raised on; nil: the default handler.
	Owner any
}

// Completed is the request behind Done.
var Completed = func() *Request {
	r := &Request{Status: Empty}
	r.state.Store(complete)
	return r
}()

const (
	freedByUser = 1 << iota // MPI_Request_free while it was active
	freedByOp               // it has completed
)

func (r *Request) life() uint32 {
	if r.Life != nil {
		return atomic.LoadUint32(r.Life)
	}
	return r.state.Load()
}

func (r *Request) setLife(s uint32) {
	if r.Life != nil {
		atomic.StoreUint32(r.Life, s)
		return
	}
	r.state.Store(s)
}

// IsComplete returns whether the operation is done. An inactive request is not complete: see Inactive.
func (r *Request) IsComplete() bool { return r.life() == complete }

// Inactive returns whether the request is persistent and not started.
func (r *Request) Inactive() bool { return r.life() == inactive }

// SetInactive makes a persistent request inactive: at its creation, and when a call has returned its completion.
func (r *Request) SetInactive() { r.setLife(inactive) }

// SetActive makes a persistent request active; called by Operation.Start.
func (r *Request) SetActive() {
	r.Err = nil
	r.told.Store(false)
	r.state.Store(active)
}

// Complete publishes Status and Err. The caller then wakes the threads of this process that may wait (shm.Node.Wake).
// If the application has freed the request meanwhile, it is released here.
func (r *Request) Complete() {
	r.state.Store(complete)
	r.inform()
	if r.freed.Load() != 0 && r.freed.Or(freedByOp)&freedByOp == 0 {
		r.release()
	}
}

// Tell has f called when the request is complete, once for each start of it: at once if it is.
func (r *Request) Tell(f func()) {
	r.tell.Store(&f)
	if r.IsComplete() {
		r.inform()
	}
}

func (r *Request) inform() {
	if f := r.tell.Load(); f != nil && r.told.CompareAndSwap(false, true) {
		(*f)()
	}
}

func (r *Request) release() error {
	if r.Op == nil {
		return nil
	}
	return r.Op.Release()
}

// Free is MPI_Request_free without the handle: released now if it is complete or inactive, else as soon as it
// completes. Where its life is elsewhere, Release sees to that.
func (r *Request) Free() error {
	if r.Life != nil || r.state.Load() != active {
		return r.release()
	}
	r.freed.Store(freedByUser)
	if r.state.Load() == complete && r.freed.Or(freedByOp)&freedByOp == 0 {
		return r.release()
	}
	return nil
}

// Finish is what MPI_Wait and MPI_Test do with a complete request: st (may be nil) gets its status, a persistent one
// becomes inactive, any other is released; its error is returned. freed says that the handle is to become
// MPI_REQUEST_NULL. Precondition: IsComplete.
func (r *Request) Finish(st *Status) (freed bool, err error) {
	freed = !r.Persistent
	err = r.Err
	if r.Life != nil {
		if e := r.Op.Query(&r.Status); err == nil {
			err = e
		}
	}
	if st != nil {
		*st = r.Status
	}
	if r.Persistent {
		r.SetInactive()
		return
	}
	if e := r.release(); err == nil {
		err = e
	}
	return
}
