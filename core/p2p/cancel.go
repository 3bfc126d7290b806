package p2p

import (
	"slices"

	"gompirma/core/request"
)

// Cancelling (MPI-5.0 3.8.4). MPI_Wait for what has been cancelled returns whatever other processes do; the operation
// is either cancelled or done.
//
//	a receive that is not matched        is taken back here
//	a send that has not left             too
//	a send to this process               is taken out of the unexpected messages here
//	a send that the receiver knows of    is taken out of them there: kindCancel asks for it, kindGone says that it
//	                                     is done. The receiver's agent answers if nobody else does
//
// What is matched goes on by itself, and ends as if it had not been cancelled: the data is copied by whoever serves the
// two processes. A message that only a matched probe has found would stay with its sender until it is received; its
// data is taken at once.

// Cancel implements request.Operation.
func (o *op) Cancel() error {
	o.e.mu.Lock()
	defer o.e.unlock()
	o.e.cancelLocked(o)
	return nil
}

func (e *Engine) cancelLocked(o *op) {
	switch {
	case o.IsComplete() || o.Inactive():
	case o.Kind != request.Receive:
		e.cancelSendLocked(o)
	case o.entry.of != nil:
		e.unpostLocked(o)
		o.Status.Cancelled = true
		e.completeLocked(o, nil)
	}
}

func (e *Engine) cancelSendLocked(o *op) {
	if o.cancel {
		return
	}
	o.cancel = true
	ctx, src := o.c.Context(o.x), int32(o.c.Rank())
	if o.gone {
		e.cancelledLocked(o)
		return
	}
	if o.to == nil {
		e.withdrawLocked(ctx, src, o.tag, func(m *Message) bool { return m.local == o })
		return
	}
	if i := slices.IndexFunc(o.to.records, func(r pending) bool { return r.op == o }); i >= 0 {
		o.to.records = slices.Delete(o.to.records, i, i+1)
		e.waitsLocked(o.to, -1)
		e.cancelledLocked(o)
		return
	}
	if o.limit == 0 { // else its data is on its way
		e.postLocked(o.to, pending{k: kindCancel, h: record{ctx: ctx, src: src, tag: o.tag,
			from: int32(e.world), id: o.id}})
	}
}

// cancelledLocked completes a send that nobody has got.
func (e *Engine) cancelledLocked(o *op) {
	o.Status.Cancelled = true
	e.finishSendLocked(o, nil)
}

// withdrawLocked takes a message out of the unexpected ones for its sender. If a matched probe was quicker the sender
// gets rid of it all the same.
func (e *Engine) withdrawLocked(ctx uint64, src, tag int32, wanted func(*Message) bool) {
	if q := e.queues[ctx]; q != nil {
		if m := q.unexpected.find(src, tag, wanted); m != nil {
			e.takeLocked(q, m)
			e.goneLocked(m)
			return
		}
	}
	if m := e.picked.find(src, tag, wanted); m != nil {
		e.fetchLocked(m)
		return
	}
	e.due = len(e.work) > 0 // it may be matched
}

// goneLocked tells the sender of a message that this process no longer has it, and drops it.
func (e *Engine) goneLocked(m *Message) {
	switch {
	case m.local != nil:
		e.lostLocked(m.local)
	case m.id != 0:
		e.postLocked(e.peer(m.from), pending{k: kindGone,
			h: record{from: int32(e.world), id: m.id}})
	}
	e.freeMessageLocked(m)
}

// lostLocked notes that the receiver of a send no longer has its message: because it was asked to, or because it has
// freed the communicator.
func (e *Engine) lostLocked(o *op) {
	if o.limit != 0 {
		return
	}
	o.gone = true
	if o.cancel {
		e.cancelledLocked(o)
	}
}

// fetchLocked takes over the data of a message that a matched probe has found, so that its sender is done. Without
// memory for it the sender waits for the receive.
func (e *Engine) fetchLocked(m *Message) {
	switch {
	case m.local != nil:
		s := m.local
		copied, err := s.buf.Copy()
		if err != nil {
			return
		}
		m.local, m.data = nil, copied.kept()
		e.finishSendLocked(s, nil)
	case !m.rts && m.id != 0:
		e.ackLocked(m.from, m.id, m.call, 0)
		m.id = 0
	case m.rts && m.fetch == nil:
		b, err := ownBytes(m.size)
		if err != nil {
			return
		}
		m.staying().fetch = e.newOpLocked(request.Receive, m.c, 0, &b, m.entry.src, m.entry.tag, Standard)
		m.fetch.moving().fetches = m
		away := e.newMessageLocked()
		away.entry.src, away.entry.tag, away.from, away.size, away.id, away.call, away.rts = m.entry.src,
			m.entry.tag, m.from, m.size, m.id, m.call, true
		away.waits = true
		if m.segs != nil {
			away.staying().segs = append(away.one[:0], m.segs...)
		}
		e.rendezvousLocked(m.fetch, away)
	}
}

// fetchedLocked gives a message its data, and the message to the receive that has come for it meanwhile.
func (e *Engine) fetchedLocked(o *op, err error) {
	m := o.fetches
	m.data = o.buf.kept()
	m.rts, m.id, m.segs, m.fetch, m.failed = false, 0, nil, nil, err
	e.recycleLocked(o)
	if r := m.receiver; r != nil {
		m.receiver = nil
		e.deliverLocked(r, m)
	}
}
