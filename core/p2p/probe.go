package p2p

import (
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
	"gompirma/core/request"
)

// Message is a message that a matched probe has removed from the queues; only Mrecv receives it. MPI_Mprobe and its
// variants are implemented in C (capi/message/probe_calls.c).
type Message struct {
	m Matched
	c *comm.Comm // communicator of the message; nil: MPI_MESSAGE_NO_PROC
}

// NoProc is a message from MPI_PROC_NULL.
var NoProc = &Message{}

// Improbe removes from the queues the message that a receive with that source and tag would match, and returns it and
// its status (MPI-5.0 3.8.2). Only Mrecv can receive it then. Returns nil if there is no such message. The caller has
// validated the arguments.
func (e *Engine) Improbe(c *comm.Comm, x comm.Context, source int, tag int32, st *request.Status) *Message {
	if source == abi.MPI_PROC_NULL {
		*st = request.ProcNull
		return NoProc
	}
	e.Progress()
	return e.dequeueMatched(c, x, source, tag, st)
}

func (e *Engine) dequeueMatched(c *comm.Comm, x comm.Context, source int, tag int32, st *request.Status) *Message {
	m, found := e.m.Probe(c.Context(x), int32(source), tag, true, c.Handle)
	if m == nil {
		return nil
	}
	*st = request.Status{Source: found.Source, Tag: found.Tag, Bytes: found.Bytes}
	return &Message{m, c}
}

// Mprobe waits until Improbe has a message.
func (e *Engine) Mprobe(c *comm.Comm, x comm.Context, source int, tag int32, st *request.Status) (*Message, error) {
	if source == abi.MPI_PROC_NULL {
		*st = request.ProcNull
		return NoProc, nil
	}
	var m *Message
	looked := ^uint64(0)
	err := e.AwaitFor(func() bool {
		// Only a new arrival can change the result.
		if now := e.m.Arrived(c.Context(x)); m == nil && now != looked {
			looked = now
			m = e.dequeueMatched(c, x, source, tag, st)
		}
		return m != nil
	}, e.waitOn(c, int32(source)))
	return m, err
}

// Imrecv starts the receive of a message that Mprobe or Improbe has returned, and consumes m. MPI_ERR_NO_MEM.
func (e *Engine) Imrecv(b Buffer, m *Message) (*request.Request, error) {
	if m == NoProc {
		// The message has no communicator: an error would be raised on the process.
		r := &procNullRecv{}
		r.Kind, r.Op, r.Status = request.Receive, r, request.ProcNull
		r.Complete()
		return &r.Request, nil
	}
	x := Operation{Comm: m.c.Handle, Receive: true}
	b.describe(&x)
	r := m.m.Receive(x)
	if r == nil {
		return nil, mpierr.New(abi.MPI_ERR_NO_MEM, "out of memory for a request")
	}
	o := e.newOp(r, &b)
	o.Owner = m.c
	return &o.Request, nil
}

// Mrecv is Imrecv that waits until the message has been received. st may be nil.
func (e *Engine) Mrecv(b Buffer, m *Message, st *request.Status) error {
	r, err := e.Imrecv(b, m)
	if err != nil {
		return err
	}
	return e.Wait(r, st)
}
