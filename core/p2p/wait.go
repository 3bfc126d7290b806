package p2p

import (
	"runtime"

	"gompirma/core/comm"
	"gompirma/core/request"
	"gompirma/core/shm"
)

// runBlocking executes a send or receive to its end. The wait is in C, except in tests that run several processes in
// one.
func (e *Engine) runBlocking(m *Operation, c *comm.Comm, b *Buffer, st *request.Status) error {
	m.Blocking = true
	if x, ok := e.m.Do(*m); ok {
		runtime.KeepAlive(b.keep)
		return x.fillStatus(st)
	}
	o, err := e.begin(*m, b)
	if o == nil {
		return err
	}
	return e.await(o, c, m.Peer, st)
}

// await waits for an operation that has no handle, and releases it.
func (e *Engine) await(o *op, c *comm.Comm, peer int32, st *request.Status) error {
	if !o.IsComplete() {
		err := e.nd.WaitFor(func() bool { return o.IsComplete() || e.m.ErrorClass() != 0 }, e.waitOn(c, peer))
		if !o.IsComplete() {
			if err == nil {
				err = e.inboxError()
			}
			o.r.Cancel() // as far as that is possible
			o.r.Free()
			return err
		}
	}
	_, err := o.Finish(st)
	return err
}

// waitOn returns the description of a wait for the process with this rank on c, which may be MPI_ANY_SOURCE.
func (e *Engine) waitOn(c *comm.Comm, rank int32) shm.Waiting {
	what := shm.Waiting{Peer: -1, Object: uint64(c.Handle)}
	if rank >= 0 {
		what.Peer = c.Peers().World(int(rank))
	} else {
		what.Peer = shm.PeersAny
	}
	return what
}

// Wait waits for a request and finishes it (MPI_Wait). It stores the status to st, which may be nil. A request that is
// not persistent must not be used afterwards.
func (e *Engine) Wait(r *request.Request, st *request.Status) error {
	if err := e.Await(r); err != nil {
		return err
	}
	_, err := r.Finish(st)
	return err
}

// Await waits until a request is complete or inactive and leaves it in this state. MPI_ERR_PROC_ABORTED if a process
// has failed, so that the request cannot complete.
func (e *Engine) Await(r *request.Request) error {
	if r.IsComplete() || r.Inactive() {
		return nil
	}
	return e.AwaitAny(r.IsComplete)
}

// AwaitAny waits until done, a condition on several requests, returns true. For MPI_Waitany and MPI_Waitsome.
func (e *Engine) AwaitAny(done func() bool) error {
	return e.AwaitFor(done, shm.Waiting{Peer: shm.PeersSeveral})
}

// AwaitFor is AwaitAny with a description of the wait for reports.
func (e *Engine) AwaitFor(done func() bool, what shm.Waiting) error {
	if err := e.nd.WaitFor(func() bool { return done() || e.m.ErrorClass() != 0 }, what); err != nil {
		return err
	}
	if !done() {
		return e.inboxError()
	}
	return nil
}

// Persist creates an inactive persistent request of a send or receive: for tests, MPI_Send_init, MPI_Recv_init and
// their variants.
func (e *Engine) Persist(k request.Kind, c *comm.Comm, x comm.Context, b Buffer, peer int, tag int32,
	mode Mode) (*request.Request, error) {
	m := e.newOperation(c, x, &b, int32(peer), tag)
	m.Receive, m.Mode, m.Persistent = k == request.Receive, uint8(mode&modeMask), true
	o, err := e.begin(m, &b)
	if err != nil {
		return nil, err
	}
	o.Owner = c
	return &o.Request, nil
}

// WaitAllSent waits until this process has sent all of its messages: part of MPI_Finalize. Messages that their receiver
// has not received when it is in MPI_Finalize too are withdrawn.
func (e *Engine) WaitAllSent() error { return e.nd.Wait(e.m.AllSent) }
