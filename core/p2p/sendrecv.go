package p2p

import (
	"gompirma/core/comm"
	"gompirma/core/request"
)

// Apart returns b, from which an exchange sends, or a copy of it if it has bytes in common with in, where the exchange
// receives. MPI wants them to be disjoint, but programs exchange a variable with itself, and get what they mean
// wherever a message is copied before another one is taken. Buffers with gaps are taken to be disjoint unless they are
// the same: those of halo exchanges interleave. MPI_ERR_NO_MEM.
func (b *Buffer) Apart(in *Buffer) (Buffer, error) {
	if b.size == 0 || in.size == 0 || b.layout != in.layout {
		return *b, nil
	}
	if b.layout == nil && (b.addr >= in.addr+uintptr(in.size) || in.addr >= b.addr+uintptr(b.size)) {
		return *b, nil
	}
	if b.layout != nil && b.addr != in.addr {
		return *b, nil
	}
	return b.Copy()
}

// Sendrecv sends and receives at once (MPI-5.0 3.10). st may be nil.
func (e *Engine) Sendrecv(c *comm.Comm, x comm.Context, out Buffer, dest int, sendTag int32, in Buffer, source int,
	recvTag int32, st *request.Status) error {
	r, err := e.irecv(c, x, in, source, recvTag, waitsForIt)
	if err != nil {
		return err
	}
	sent := e.Send(c, x, out, dest, sendTag, Standard)
	if err := e.Wait(r, st); err != nil {
		return err
	}
	return sent
}

// pair is the request of a receive and a send: complete when both are; its status is the receive's.
type pair struct {
	request.Request
	request.None
	e          *Engine
	recv, send *op
	hook       *Hook
	over       bool // the two are done with
}

// Isendrecv starts both halves of a Sendrecv.
func (e *Engine) Isendrecv(c *comm.Comm, x comm.Context, out Buffer, dest int, sendTag int32, in Buffer, source int,
	recvTag int32) (*request.Request, error) {
	r, err := e.Irecv(c, x, in, source, recvTag)
	if err != nil {
		return nil, err
	}
	s, err := e.Isend(c, x, out, dest, sendTag, Standard)
	if err != nil || s == request.Completed {
		return r, err
	}
	p := &pair{e: e, recv: r.Op.(*op), send: s.Op.(*op)}
	p.Kind, p.Op, p.Owner = request.Receive, p, c
	e.mu.Lock()
	p.hook = e.AddHook(func() bool {
		if !r.IsComplete() || !s.IsComplete() {
			return false
		}
		e.mu.Lock()
		defer e.unlock()
		if p.over {
			return false
		}
		p.over = true
		e.RemoveHook(p.hook)
		p.Status, p.Err = r.Status, r.Err
		if p.Err == nil {
			p.Err = s.Err
		}
		p.Status.Cancelled = r.Status.Cancelled || s.Status.Cancelled
		e.recycleLocked(p.recv)
		e.recycleLocked(p.send)
		p.Complete()
		e.nd.Wake(e.nd.Me)
		return true
	})
	e.unlockStarted()
	return &p.Request, nil
}

// Cancel implements request.Operation: what can be cancelled of the two is, so that both end; the pair counts as
// cancelled if one of them was.
func (p *pair) Cancel() error {
	p.e.mu.Lock()
	defer p.e.unlock()
	if !p.over {
		p.e.cancelLocked(p.recv)
		p.e.cancelLocked(p.send)
	}
	return nil
}
