package p2p

import (
	"sync"

	"gompirma/core/comm"
	"gompirma/core/request"
)

// Apart returns b, from which an exchange sends, or a copy of it if it has bytes in common with in, where the exchange
// receives. MPI wants them to be disjoint, but programs exchange a variable with itself, and get what they mean
// wherever a message is copied before another one is taken. Buffers with gaps are taken to be disjoint unless they are
// the same: those of halo exchanges interleave. MPI_ERR_NO_MEM.
func (b *Buffer) Apart(in *Buffer) (Buffer, error) {
	if b.size == 0 || in.size == 0 || b.typ != in.typ {
		return *b, nil
	}
	if b.typ == nil && (b.addr >= in.addr+uintptr(in.size) || in.addr >= b.addr+uintptr(b.size)) {
		return *b, nil
	}
	if b.typ != nil && b.addr != in.addr {
		return *b, nil
	}
	return b.Copy()
}

// pair is the request of a receive and a send: complete when both are; its status is the receive's.
type pair struct {
	request.Request
	request.None
	mu         sync.Mutex
	recv, send *request.Request
	hook       *Hook
	over       bool // the two are done with
}

// Isendrecv starts both halves of an exchange (MPI-5.0 3.10).
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
	p := &pair{recv: r, send: s}
	p.Kind, p.Op, p.Owner = request.Receive, p, c
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hook = e.AddHook(func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.over || !r.IsComplete() || !s.IsComplete() {
			return false
		}
		p.over = true
		e.RemoveHook(p.hook)
		var sent request.Status
		_, p.Err = r.Finish(&p.Status)
		if _, err := s.Finish(&sent); p.Err == nil {
			p.Err = err
		}
		p.Status.Cancelled = p.Status.Cancelled || sent.Cancelled
		p.Complete()
		e.nd.Wake(e.nd.Me)
		return true
	})
	return &p.Request, nil
}

// Cancel implements request.Operation: what can be cancelled of the two is, so that both end; the pair counts as
// cancelled if one of them was.
func (p *pair) Cancel() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		p.recv.Op.Cancel()
		p.send.Op.Cancel()
	}
	return nil
}
