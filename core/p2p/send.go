package p2p

import (
	"slices"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/request"
)

// peerOf returns the peer that a rank of c lives in, nil if that is this process.
func (e *Engine) peerOf(c *comm.Comm, rank int32) *peer {
	w := c.Peers().World(int(rank))
	if int(w) == e.world {
		return nil
	}
	return e.peer(w)
}

// Send sends a message (MPI-5.0 3.2, 3.4); it returns when the buffer may be used again, in Synchronous mode when the
// receive has begun. dest is a rank of c.Peers() or MPI_PROC_NULL; the caller has checked it and the tag. A message of
// up to 16 KiB costs one record and does not wait for the receiver as long as there is room in its ring.
func (e *Engine) Send(c *comm.Comm, x comm.Context, b Buffer, dest int, tag int32, mode Mode) error {
	if dest == abi.MPI_PROC_NULL {
		return nil
	}
	if mode&modeMask == Buffered {
		return e.bsend(c, x, &b, int32(dest), tag, mode)
	}
	p := e.peerOf(c, int32(dest))
	if e.atOnce(p, c, x, &b, tag, mode) {
		return nil
	}
	e.mu.Lock()
	o := e.newOpLocked(request.Send, c, x, &b, int32(dest), tag, mode)
	o.next = waitsForIt
	e.sendLocked(o, p)
	e.unlock()
	return e.await(o, nil)
}

// Isend starts a message. The request is request.Completed if the buffer may be used again already. Besides the
// arguments' errors, which the caller has checked, only MPI_ERR_BUFFER for a buffered send is possible.
func (e *Engine) Isend(c *comm.Comm, x comm.Context, b Buffer, dest int, tag int32,
	mode Mode) (*request.Request, error) {
	if dest == abi.MPI_PROC_NULL {
		return request.Completed, nil
	}
	if mode&modeMask == Buffered {
		return request.Completed, e.bsend(c, x, &b, int32(dest), tag, mode)
	}
	p := e.peerOf(c, int32(dest))
	if e.atOnce(p, c, x, &b, tag, mode) {
		return request.Completed, nil
	}
	e.mu.Lock()
	o := e.newOpLocked(request.Send, c, x, &b, int32(dest), tag, mode)
	e.sendLocked(o, p)
	e.unlockStarted()
	return &o.Request, nil
}

// start begins a persistent send.
func (e *Engine) start(o *op) error {
	if o.peer == abi.MPI_PROC_NULL {
		o.Complete()
		return nil
	}
	if o.mode&modeMask == Buffered {
		if err := e.bsend(o.c, o.x, &o.buf, o.peer, o.tag, o.mode); err != nil {
			return err
		}
		o.Complete()
		return nil
	}
	p := e.peerOf(o.c, o.peer)
	if e.atOnce(p, o.c, o.x, &o.buf, o.tag, o.mode) {
		o.Complete()
		return nil
	}
	e.mu.Lock()
	e.sendLocked(o, p)
	e.unlockStarted()
	return nil
}

// atOnce sends a message without a request if that can be done: to p, nil: to this process.
func (e *Engine) atOnce(p *peer, c *comm.Comm, x comm.Context, b *Buffer, tag int32, mode Mode) bool {
	if p == nil {
		return e.giveSelf(c, x, b, tag, mode)
	}
	return e.eager(p, c, x, b, tag, mode)
}

// eager sends a small message without any lock or request, if nothing is in its way.
func (e *Engine) eager(p *peer, c *comm.Comm, x comm.Context, b *Buffer, tag int32, mode Mode) bool {
	if b.size > p.most || mode&modeMask == Synchronous || p.waiting.Load() != 0 || p.congested() {
		return false
	}
	h := record{ctx: c.Context(x), src: int32(c.Rank()), tag: tag, from: int32(e.world), size: uint64(b.size)}
	return e.putEager(p, &h, b, 0, mode)
}

// putEager sends an eager record to p; false: there is no room.
func (e *Engine) putEager(p *peer, h *record, b *Buffer, flags uint8, mode Mode) bool {
	n := recordSize + b.size
	room := p.link.Reserve(n)
	if room == nil {
		return false
	}
	if b.size > 0 {
		b.pack(room[recordSize:n], 0)
	}
	notice := IfMany
	if mode&Urgent != 0 {
		notice = Call
	}
	h.fill(room)
	p.link.Publish(room, firstWord(kindEager, flags, n), notice)
	return true
}

// sendLocked starts the send o to p, nil: to this process.
func (e *Engine) sendLocked(o *op, p *peer) {
	if p == nil {
		e.sendSelfLocked(o)
		return
	}
	o.moving().to = p
	h := record{ctx: o.c.Context(o.x), src: int32(o.c.Rank()), tag: o.tag, from: int32(e.world),
		size: uint64(o.buf.size)}
	sync := o.mode&modeMask == Synchronous
	if o.buf.size <= p.most {
		if sync {
			o.id = e.sends.add(o)
			h.id = o.id
		}
		e.postLocked(p, pending{h: h, k: kindEager, op: o})
		return
	}
	o.id = e.sends.add(o)
	h.id = o.id
	e.postLocked(p, pending{h: h, k: kindRTS, op: o})
}

// postLocked sends a record to p, now or as soon as there is room, after all that waits for it already.
func (e *Engine) postLocked(p *peer, r pending) {
	if p.waiting.Load() == 0 && e.putLocked(p, &r) {
		return
	}
	p.records = append(p.records, r)
	e.waitsLocked(p, 1)
	if _, more := e.flushPeerLocked(p); more {
		e.mustFlush = true
	}
}

// waitsLocked changes the number of things that wait for room in p's link.
func (e *Engine) waitsLocked(p *peer, by int32) {
	now := p.waiting.Add(by)
	switch {
	case now == by && by > 0:
		e.backlog.Add(1)
		e.behind = append(e.behind, p)
	case now == 0 && by < 0:
		e.backlog.Add(-1)
		e.behind = slices.DeleteFunc(e.behind, func(x *peer) bool { return x == p })
	}
}

// putLocked sends a record to p; false: there is no room.
func (e *Engine) putLocked(p *peer, r *pending) bool {
	switch r.k {
	case kindEager:
		if p.congested() {
			// The data stays here, after all.
			if r.op.id == 0 {
				r.op.id = e.sends.add(r.op)
				r.h.id = r.op.id
			}
			r.k = kindRTS
			return e.putRTS(p, &r.h, r.op)
		}
		flags := uint8(0)
		if r.op.id != 0 {
			flags = flagSync | r.op.callFlag()
		}
		if !e.putEager(p, &r.h, &r.op.buf, flags, r.op.mode) {
			return false
		}
		if flags&flagSync == 0 {
			e.finishSendLocked(r.op, nil)
		}
		return true
	case kindRTS:
		return e.putRTS(p, &r.h, r.op)
	}
	n := int64(recordSize + len(r.data))
	room := p.link.Reserve(n)
	if room == nil {
		return false
	}
	copy(room[recordSize:], r.data)
	p.publish(room, &r.h, r.k, 0, n, r.notice)
	return true
}

// finishSendLocked completes a send: its buffer may be used again.
func (e *Engine) finishSendLocked(o *op, err error) {
	if o.id != 0 {
		e.sends.remove(o.id)
		o.id = 0
	}
	if o.chunk != nil {
		e.deliveredLocked(o)
		return
	}
	e.completeLocked(o, err)
}

// acknowledgedLocked handles kindAck.
func (e *Engine) acknowledgedLocked(r *record) {
	o := e.sends.get(r.id)
	if o == nil || o.to == nil || o.to.world != r.from || o.limit != 0 {
		return
	}
	e.finishSendLocked(o, remoteError(r.class, o))
}

// flushLocked sends what waits for room, to all peers, and returns whether anything has left. It gives the lock away
// from time to time.
func (e *Engine) flushLocked() bool {
	worked := false
	for i := 0; i < len(e.behind); {
		p := e.behind[i]
		sent, more := e.flushPeerLocked(p)
		worked = worked || sent
		if more {
			e.mu.Unlock()
			e.mu.Lock()
			continue
		}
		if i < len(e.behind) && e.behind[i] == p {
			i++
		}
	}
	return worked
}

// flushAtOnce bounds what is sent without giving the lock away, in records or pieces.
const flushAtOnce = 32

// flushPeerLocked sends what waits for room in p's link until there is no more room; then it has asked p to say when
// there is. more: it has stopped with room left.
func (e *Engine) flushPeerLocked(p *peer) (sent, more bool) {
	asked := false
	for n := 0; p.waiting.Load() > 0; n++ {
		if n == flushAtOnce {
			return sent, true
		}
		if e.sendSomeLocked(p) {
			sent, asked = true, false
			continue
		}
		if asked || !p.link.WantRoom() {
			break
		}
		asked = true
	}
	return sent, false
}

// sendSomeLocked sends one record, or one piece of each stream, and returns whether there was room for it.
func (e *Engine) sendSomeLocked(p *peer) bool {
	if len(p.records) > 0 {
		if !e.putLocked(p, &p.records[0]) {
			return false
		}
		p.records[0] = pending{}
		p.records = p.records[1:]
		if len(p.records) == 0 {
			p.records = nil
		}
		e.waitsLocked(p, -1)
		return true
	}
	return e.streamLocked(p)
}
