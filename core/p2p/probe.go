package p2p

import (
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/handle"
	"gompirma/core/request"
)

// Messages holds the messages that the application has handles of (MPI_Mprobe).
var Messages = handle.NewTable[Message](handle.Message)

// NoProc is the message behind MPI_MESSAGE_NO_PROC.
var NoProc = &Message{noop: true, stay: &noStay}

// Iprobe returns whether a message is there that a receive of that source and tag would take, and its status (MPI-5.0
// 3.8.1). The caller has checked the arguments.
func (e *Engine) Iprobe(c *comm.Comm, x comm.Context, source int, tag int32, st *request.Status) bool {
	if source == abi.MPI_PROC_NULL {
		*st = request.ProcNull
		return true
	}
	e.Progress()
	return e.look(c, x, source, tag, st) != nil
}

// Probe waits until Iprobe is true.
func (e *Engine) Probe(c *comm.Comm, x comm.Context, source int, tag int32, st *request.Status) error {
	_, err := e.probeWait(c, x, source, tag, st, e.look)
	return err
}

// Improbe is Iprobe that takes the message out, to be received by Mrecv only; nil if there is none.
func (e *Engine) Improbe(c *comm.Comm, x comm.Context, source int, tag int32, st *request.Status) *Message {
	if source == abi.MPI_PROC_NULL {
		*st = request.ProcNull
		return NoProc
	}
	e.Progress()
	return e.pick(c, x, source, tag, st)
}

// Mprobe waits until Improbe has a message.
func (e *Engine) Mprobe(c *comm.Comm, x comm.Context, source int, tag int32, st *request.Status) (*Message, error) {
	if source == abi.MPI_PROC_NULL {
		*st = request.ProcNull
		return NoProc, nil
	}
	return e.probeWait(c, x, source, tag, st, e.pick)
}

type prober func(c *comm.Comm, x comm.Context, source int, tag int32, st *request.Status) *Message

func (e *Engine) probeWait(c *comm.Comm, x comm.Context, source int, tag int32, st *request.Status,
	look prober) (*Message, error) {
	if source == abi.MPI_PROC_NULL {
		*st = request.ProcNull
		return nil, nil
	}
	var m *Message
	looked := ^uint64(0)
	err := e.nd.WaitFor(func() bool {
		// Only a new arrival can change the answer.
		if now := e.arrived.Load(); now != looked {
			looked = now
			m = look(c, x, source, tag, st)
		}
		return m != nil
	}, e.waiting(c, int32(source)))
	return m, err
}

// look returns the message that a receive would take, without taking it.
func (e *Engine) look(c *comm.Comm, x comm.Context, source int, tag int32, st *request.Status) *Message {
	e.mu.Lock()
	defer e.unlock()
	q := e.queueLocked(c.Context(x))
	if q.unexpected.n == 0 {
		return nil
	}
	found := q.unexpected.message(int32(source), tag)
	if found == nil {
		return nil
	}
	*st = found.of.status()
	return found.of
}

func (e *Engine) pick(c *comm.Comm, x comm.Context, source int, tag int32, st *request.Status) *Message {
	e.mu.Lock()
	defer e.unlock()
	q := e.queueLocked(c.Context(x))
	if q.unexpected.n == 0 {
		return nil
	}
	found := q.unexpected.message(int32(source), tag)
	if found == nil {
		return nil
	}
	m := found.of
	*st = m.status()
	e.takeLocked(q, m)
	e.picked.add(&m.entry)
	m.c = c
	return m
}

func (m *Message) status() request.Status {
	return request.Status{Source: m.entry.src, Tag: m.entry.tag, Bytes: m.size}
}

// Comm returns the communicator of a message that a probe has taken out, nil for NoProc.
func (m *Message) Comm() *comm.Comm { return m.c }

// Imrecv starts the receive of a message that Mprobe or Improbe has taken out; m is used up.
func (e *Engine) Imrecv(b Buffer, m *Message) *request.Request {
	e.mu.Lock()
	defer e.unlockStarted()
	return &e.mrecvLocked(&b, m, goesOn).Request
}

// Mrecv is Imrecv that returns when the message is there. st may be nil.
func (e *Engine) Mrecv(b Buffer, m *Message, st *request.Status) error {
	e.mu.Lock()
	o := e.mrecvLocked(&b, m, waitsForIt)
	e.unlock()
	return e.await(o, st)
}

func (e *Engine) mrecvLocked(b *Buffer, m *Message, next afterwards) *op {
	o := e.newOpLocked(request.Receive, m.c, 0, b, m.entry.src, m.entry.tag, Standard)
	o.next = next
	if m.noop {
		o.Owner = nil // it came on no communicator: an error would be the process'
		o.Status = request.ProcNull
		o.Complete()
		return o
	}
	e.picked.remove(&m.entry)
	e.deliverLocked(o, m)
	return o
}
