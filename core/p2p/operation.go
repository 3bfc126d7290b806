package p2p

import (
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
	"gompirma/core/shm"
)

// NewOperation returns the description of a send on c, without a buffer. To make it a receive, the caller sets the
// field Receive. Precondition: `peer` is a rank of c.Peers() or, for a receive, MPI_ANY_SOURCE.
func NewOperation(c *comm.Comm, x comm.Context, peer, tag int32) Operation {
	o := Operation{Context: c.Context(x), Comm: c.Handle, Outer: c.Outer, Source: int32(c.Rank()), Peer: peer,
		Tag: tag, Process: -1}
	if peer >= 0 {
		o.Process = c.Peers().World(int(peer))
	}
	return o
}

// Perform executes a send or receive to its end. It waits in C, except in tests that simulate several processes in one.
// The caller keeps the buffer alive. Errors: MPI_ERR_NO_MEM; MPI_ERR_TRUNCATE if the message is longer than the buffer.
// The buffer then holds the beginning of the message.
func (e *Engine) Perform(o Operation) (Result, error) {
	o.Blocking = true
	if x, ok := e.m.Do(o); ok {
		return x, x.Err()
	}
	r, err := e.Begin(o)
	if r == nil || err != nil {
		return Result{}, err
	}
	what := shm.Waiting{Peer: o.Process, Object: uint64(o.Comm)}
	if o.Peer == abi.MPI_ANY_SOURCE {
		what.Peer = shm.PeersAny
	}
	if err := e.AwaitFor(r.IsComplete, what); err != nil && !r.IsComplete() {
		r.Cancel() // no effect if the message cannot be cancelled any longer
		r.Free()
		return Result{}, err
	}
	x := r.Finish()
	return x, x.Err()
}

// Begin starts a send or receive. The request is nil if the operation has completed already. Errors: MPI_ERR_NO_MEM.
func (e *Engine) Begin(o Operation) (Request, error) {
	r, ok := e.m.Start(o)
	if !ok {
		return nil, mpierr.New(abi.MPI_ERR_NO_MEM, "out of memory for a request")
	}
	return r, nil
}

// Err returns the error of an operation.
func (x *Result) Err() error {
	if x.Class == abi.MPI_SUCCESS {
		return nil
	}
	return mpierr.New(x.Class, "%s", x.Text)
}

// AwaitFor waits until the function `done` returns true. The argument `what` describes the wait in reports to the user.
// Errors: MPI_ERR_PROC_ABORTED if `done` can no longer return true, because a process has failed.
func (e *Engine) AwaitFor(done func() bool, what shm.Waiting) error {
	if err := e.nd.WaitFor(func() bool { return done() || e.m.ErrorClass() != 0 }, what); err != nil {
		return err
	}
	if class := e.m.ErrorClass(); class != 0 && !done() {
		return mpierr.New(class, "the message queue in shared memory is damaged (internal error)")
	}
	return nil
}

// AllSent returns whether no send of this process is in progress any longer. MPI_Finalize calls it repeatedly. If the
// receiver of a message is in MPI_Finalize too, it will not receive the message any longer, and AllSent withdraws the
// message.
func (e *Engine) AllSent() bool { return e.m.AllSent() }

// WaitAllSent waits until AllSent or `unless` returns true.
func (e *Engine) WaitAllSent(unless func() bool) error {
	return e.nd.Wait(func() bool { return unless() || e.m.AllSent() })
}
