package p2p

import (
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
	"gompirma/core/request"
)

// Mode is the mode of a send.
type Mode uint8

// The modes: standard, synchronous (complete when the receive has begun), ready; buffered mode is implemented in C.
// Urgent may be added: it makes the receiver's process poll for the message even while it computes. It is for steps of
// operations that the receiver's progress thread executes on its own.
const (
	Standard Mode = iota
	Synchronous
	_
	Ready
	Urgent Mode = 1 << 4

	modeMask = Urgent - 1
)

// op is the Go view of a send or receive in progress; the carrier holds its state.
type op struct {
	request.Request
	e   *Engine
	r   Request
	buf Buffer // kept alive
}

// newOp returns an op for a request of the carrier.
func (e *Engine) newOp(r Request, b *Buffer) *op {
	o := &op{e: e, r: r, buf: *b}
	o.Op, o.StateWord, o.Persistent = o, r.State(), r.IsPersistent()
	if r.IsReceive() {
		o.Kind = request.Receive
	}
	return o
}

// HandleOf returns a handle for the application of the request of a message or plan. ok is false if r is neither of
// them. h is 0 if no handle is free.
func HandleOf(r *request.Request) (h uintptr, ok bool) {
	switch o := r.Op.(type) {
	case *op:
		return o.r.Handle(), true
	case *planRequest:
		return o.r.Handle(), true
	}
	return 0, false
}

// Query implements request.Operation.
func (o *op) Query(st *request.Status) error {
	return o.r.Result().fillStatus(st)
}

// fillStatus stores the result of a message to st, unless st is nil, and returns its error.
func (x Result) fillStatus(st *request.Status) error {
	if st != nil {
		*st = request.Status{Source: x.Source, Tag: x.Tag, Error: x.Class, Cancelled: x.Cancelled,
			Bytes: x.Bytes}
	}
	if x.Class == abi.MPI_SUCCESS {
		return nil
	}
	return mpierr.New(x.Class, "%s", x.Text)
}

// Cancel implements request.Operation.
func (o *op) Cancel() error {
	o.r.Cancel()
	return nil
}

// Start implements request.Operation for persistent requests.
func (o *op) Start() error {
	if !o.Persistent {
		return request.None{}.Start()
	}
	if !o.Inactive() {
		return mpierr.New(abi.MPI_ERR_REQUEST,
			"the persistent request is active: complete it (MPI_Wait) before starting it again")
	}
	o.r.Restart()
	return nil
}

// Release implements request.Operation.
func (o *op) Release() error {
	o.r.Free()
	return nil
}

// newOperation returns the description of a send or receive on c.
func (e *Engine) newOperation(c *comm.Comm, x comm.Context, b *Buffer, peer, tag int32) Operation {
	o := Operation{Context: c.Context(x), Comm: c.Handle, Source: int32(c.Rank()), Peer: peer, Tag: tag,
		Process: -1}
	if peer >= 0 {
		o.Process = c.Peers().World(int(peer))
	}
	b.describe(&o)
	return o
}

// begin starts an operation. Returns nil if it has completed already. MPI_ERR_NO_MEM.
func (e *Engine) begin(o Operation, b *Buffer) (*op, error) {
	r, ok := e.m.Start(o)
	if !ok {
		return nil, mpierr.New(abi.MPI_ERR_NO_MEM, "out of memory for a request")
	}
	if r == nil {
		return nil, nil
	}
	return e.newOp(r, b), nil
}

// sendOperation returns the description of a send in a mode other than buffered.
func (e *Engine) sendOperation(c *comm.Comm, x comm.Context, b *Buffer, dest, tag int32, mode Mode) Operation {
	m := e.newOperation(c, x, b, dest, tag)
	m.Mode, m.Urgent = uint8(mode&modeMask), mode&Urgent != 0
	return m
}
