// Package request owns the Go view of an operation in progress: a message, a persistent operation, a collective. The
// code that starts an operation embeds or fills a Request. The application's requests are in C
// (capi/message/request.h), which completes, tests and frees all of them and calls Operation for those that Go
// executes.
//
// The package must not know messages or windows: Operation hides the differences between kinds of requests.
package request

import (
	"sync/atomic"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// Done is the handle of a request that is complete from the start and has no table entry. MPI_Rput on a directly mapped
// window returns it to save the entry. Any number of requests may have this handle. Waiting for it returns the empty
// status. It is in the range that the ABI reserves for predefined requests.
const Done = abi.MPI_REQUEST_NULL + 1

// Operation is the behaviour of one kind of request. Embed None for the methods that a kind does not need.
type Operation interface {
	// Start begins a persistent operation (MPI_Start). Precondition: the request is inactive.
	Start() error
	// Cancel tries to cancel the operation (MPI_Cancel) without blocking. Once the request is complete, the status
	// shows whether it succeeded.
	Cancel() error
	// Query is called once for a completed request whose state is in C (StateWord), before its status is read. Its
	// error is the error of the call.
	Query(st *Status) error
	// Release is called when neither the application nor the operation needs the request any longer.
	Release() error
}

// None is an Operation that does nothing.
type None struct{}

func (None) Start() error {
	return mpierr.New(abi.MPI_ERR_REQUEST, "the request is not persistent and cannot be started")
}
func (None) Cancel() error {
	return mpierr.New(abi.MPI_ERR_REQUEST,
		"only point-to-point and generalized requests can be cancelled")
}
func (None) Query(*Status) error { return nil }
func (None) Release() error      { return nil }

// The state of a request. A request that is not persistent is active from its creation on.
const (
	active   = uint32(iota)
	complete // the operation is done: Status and Err are valid
	inactive // persistent, and not started, or its completion has been returned
)

// Kind is the kind of a request, as far as the standard distinguishes them.
type Kind uint8

// The kinds of requests.
const (
	Send Kind = iota
	Receive
	Collective
)

// Request is an operation in progress. The zero value is active and of kind Send.
//
// The thread that completes the operation writes Status and Err before Complete. Other threads read them only after
// IsComplete.
type Request struct {
	state      atomic.Uint32
	freed      atomic.Uint32 // freedByUser, freedByOp
	onComplete atomic.Pointer[func()]
	notified   atomic.Bool // onComplete has been called for this start
	// StateWord is the word with the state of the request if it is not in state: C holds that of a message and
	// completes it, and Op queries the result. Set before other threads can see the request.
	StateWord *uint32

	Kind       Kind
	Persistent bool
	Status     Status
	Err        error
	Op         Operation
	// Owner is the communicator, window or session on which errors are raised; nil: the default handler.
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

func (r *Request) loadState() uint32 {
	if r.StateWord != nil {
		return atomic.LoadUint32(r.StateWord)
	}
	return r.state.Load()
}

func (r *Request) storeState(s uint32) {
	if r.StateWord != nil {
		atomic.StoreUint32(r.StateWord, s)
		return
	}
	r.state.Store(s)
}

// IsComplete returns whether the operation is done. An inactive request is not complete: see Inactive.
func (r *Request) IsComplete() bool { return r.loadState() == complete }

// Inactive returns whether the request is persistent and not started.
func (r *Request) Inactive() bool { return r.loadState() == inactive }

// SetInactive makes a persistent request inactive: at its creation, and when a call has returned its completion.
func (r *Request) SetInactive() { r.storeState(inactive) }

// SetActive makes a persistent request active. Operation.Start calls it.
func (r *Request) SetActive() {
	r.Err = nil
	r.notified.Store(false)
	r.state.Store(active)
}

// Complete publishes Status and Err. The caller then wakes the threads of this process that may wait (shm.Node.Wake).
// Complete releases the request if the application has freed it meanwhile.
func (r *Request) Complete() {
	r.state.Store(complete)
	r.notify()
	if r.freed.Load() != 0 && r.freed.Or(freedByOp)&freedByOp == 0 {
		r.release()
	}
}

// OnComplete makes f be called when the request is complete, once for each start of it; at once if it is complete
// already.
func (r *Request) OnComplete(f func()) {
	r.onComplete.Store(&f)
	if r.IsComplete() {
		r.notify()
	}
}

func (r *Request) notify() {
	if f := r.onComplete.Load(); f != nil && r.notified.CompareAndSwap(false, true) {
		(*f)()
	}
}

func (r *Request) release() error {
	if r.Op == nil {
		return nil
	}
	return r.Op.Release()
}

// Free implements MPI_Request_free except for the handle. It releases the request at once if it is complete or
// inactive, otherwise on completion. If the state is in C (StateWord), it calls Release at once, which takes care of
// that.
func (r *Request) Free() error {
	if r.StateWord != nil || r.state.Load() != active {
		return r.release()
	}
	r.freed.Store(freedByUser)
	if r.state.Load() == complete && r.freed.Or(freedByOp)&freedByOp == 0 {
		return r.release()
	}
	return nil
}

// Finish does what MPI_Wait and MPI_Test do with a complete request. It stores the status to st (may be nil), makes a
// persistent request inactive, releases any other, and returns the request's error. freed: the handle must become
// MPI_REQUEST_NULL. Precondition: IsComplete.
func (r *Request) Finish(st *Status) (freed bool, err error) {
	freed = !r.Persistent
	err = r.Err
	if r.StateWord != nil {
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
