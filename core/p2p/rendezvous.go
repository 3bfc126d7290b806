package p2p

import (
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
)

// A message that is too long for a record, or whose sender waits for the match, stays with its sender until it is
// matched. Then
//
//	sender in this process     the data is copied from buffer to buffer
//	few segments, in reach     the receiver reads the sender's memory and sends kindAck
//	else                       the receiver sends kindCTS, the sender kindPiece until all is there
//
// Reading is work that any thread of the receiver takes from e.work; it does so without the lock. Calls that only start
// something leave it there, unless the sender waits.

// rendezvousLocked begins to move the data of m to the receive o.
func (e *Engine) rendezvousLocked(o *op, m *Message) {
	t := o.moving()
	t.matched, t.full, t.want = m, m.size, min(m.size, o.buf.size)
	o.Status.Source, o.Status.Tag, o.Status.Bytes = m.entry.src, m.entry.tag, o.want
	switch {
	case o.want == 0:
		e.takenLocked(o, nil)
	case m.local != nil || m.segs != nil && e.peer(m.from).link.Reads():
		e.work = append(e.work, o)
		e.hasWork.Store(true)
		e.due = e.due || m.waits && o.next != waitsForIt
	default:
		e.askLocked(o)
	}
}

// pullLocked copies the data of a matched message. It gives the lock away meanwhile.
func (e *Engine) pullLocked(o *op) {
	m := o.matched
	e.mu.Unlock()
	if m.local != nil {
		copyBuffer(&o.buf, &m.local.buf, o.want)
		e.mu.Lock()
		e.takenLocked(o, nil)
		return
	}
	refused, err := e.peer(m.from).link.Read(m.segs, &o.buf, o.want)
	e.mu.Lock()
	if refused {
		e.askLocked(o)
		return
	}
	e.takenLocked(o, err)
}

// takenLocked completes a receive whose data has been copied from where the sender left it, and the send.
func (e *Engine) takenLocked(o *op, err error) {
	m := o.matched
	o.matched = nil
	if m.local != nil {
		e.finishSendLocked(m.local, nil)
	} else {
		e.ackLocked(m.from, m.id, m.call, mpierr.ClassOf(err))
	}
	e.freeMessageLocked(m)
	if err == nil {
		err = truncated(o, o.full)
	}
	e.completeLocked(o, err)
}

// askLocked asks the sender for the data as pieces.
func (e *Engine) askLocked(o *op) {
	o.got = 0
	o.id = e.receives.add(o)
	e.postLocked(e.peer(o.matched.from), pending{k: kindCTS,
		h: record{ctx: o.id, from: int32(e.world), size: uint64(o.want), id: o.matched.id}})
}

// clearToSendLocked handles kindCTS: the data goes out in pieces.
func (e *Engine) clearToSendLocked(r *record, _ []byte) {
	o := e.sends.get(r.id)
	if o == nil || o.to == nil || o.to.world != r.from || o.limit != 0 || int64(r.size) <= 0 ||
		int64(r.size) > o.buf.size {
		return
	}
	o.limit, o.sent, o.rid = int64(r.size), 0, r.ctx
	o.to.streams = append(o.to.streams, o)
	e.waitsLocked(o.to, 1)
	e.mustFlush = true
}

// streamLocked sends the next piece of each stream to p; false: there was no room for any.
func (e *Engine) streamLocked(p *peer) bool {
	worked := false
	for i := 0; i < len(p.streams); {
		o := p.streams[i]
		n := min(p.most, o.limit-o.sent)
		room := p.link.Reserve(recordSize + n)
		if room == nil {
			return worked
		}
		o.buf.pack(room[recordSize:recordSize+n], o.sent)
		h := record{ctx: uint64(o.sent), from: int32(e.world), id: o.rid}
		p.publish(room, &h, kindPiece, 0, recordSize+n, Call)
		worked = true
		o.sent += n
		if o.sent < o.limit {
			i++
			continue
		}
		p.streams = append(p.streams[:i], p.streams[i+1:]...)
		o.limit = 0
		e.waitsLocked(p, -1)
		e.finishSendLocked(o, nil)
	}
	return worked
}

// pieceLocked handles kindPiece.
func (e *Engine) pieceLocked(r *record, payload []byte) {
	o := e.receives.get(r.id)
	n := int64(len(payload))
	if o == nil || o.matched == nil || o.matched.from != r.from || int64(r.ctx) != o.got || n == 0 ||
		n > o.want-o.got {
		return
	}
	o.buf.unpack(o.got, payload)
	o.got += n
	if o.got < o.want {
		return
	}
	e.receives.remove(o.id)
	o.id = 0
	e.freeMessageLocked(o.matched)
	o.matched = nil
	e.completeLocked(o, truncated(o, o.full))
}

// sendSelfLocked starts a send to this process.
func (e *Engine) sendSelfLocked(o *op) {
	q := e.queueLocked(o.c.Context(o.x))
	src := int32(o.c.Rank())
	if e.giveLocked(q, src, &o.buf, o.tag, o.mode) {
		e.finishSendLocked(o, nil)
		return
	}
	m := e.newMessageLocked()
	m.entry = entry[Message]{src: src, tag: o.tag, of: m}
	m.from, m.size, m.waits, m.local = int32(e.world), o.buf.size, o.next == waitsForIt, o
	if x := q.posted.receiver(src, o.tag); x != nil {
		r := x.of
		e.unpostLocked(r)
		e.rendezvousLocked(r, m)
		return
	}
	e.unexpectedLocked(q, m)
}

// giveSelf sends a small message to this process, without a request; false: it is not small, or the send has to wait
// for its receive.
func (e *Engine) giveSelf(c *comm.Comm, x comm.Context, b *Buffer, tag int32, mode Mode) bool {
	if b.size > eagerMax || mode&modeMask == Synchronous {
		return false
	}
	e.mu.Lock()
	given := e.giveLocked(e.queueLocked(c.Context(x)), int32(c.Rank()), b, tag, mode)
	e.unlockStarted()
	return given
}

// giveLocked copies a small message to its receive, or to where it waits for it; false: it is not small, or nothing has
// been posted and the send is synchronous.
func (e *Engine) giveLocked(q *queue, src int32, b *Buffer, tag int32, mode Mode) bool {
	if b.size > eagerMax {
		return false
	}
	if x := q.posted.receiver(src, tag); x != nil {
		r := x.of
		e.unpostLocked(r)
		r.Status.Source, r.Status.Tag, r.Status.Bytes = src, tag, min(b.size, r.buf.size)
		copyBuffer(&r.buf, b, r.Status.Bytes)
		e.completeLocked(r, truncated(r, b.size))
		return true
	}
	if mode&modeMask == Synchronous {
		return false
	}
	m := e.newMessageLocked()
	m.entry = entry[Message]{src: src, tag: tag, of: m}
	m.from, m.size = int32(e.world), b.size
	m.keep(int(b.size))
	b.pack(m.data, 0)
	e.unexpectedLocked(q, m)
	return true
}

// putRTS sends the announcement of a message to p; false: there is no room.
func (e *Engine) putRTS(p *peer, h *record, o *op) bool {
	one := [1]Segment{{o.buf.addr, o.buf.size}}
	segs := one[:]
	if o.buf.layout != nil {
		segs = o.buf.fewSegments()
	}
	flags := o.callFlag()
	if o.next == waitsForIt {
		flags |= flagWait
	}
	if !p.link.Shows() || len(segs) == 0 || o.buf.size == 0 {
		segs = nil
	} else {
		flags |= flagAddr
	}
	size := int64(recordSize + len(segs)*segmentSize)
	room := p.link.Reserve(size)
	if room == nil {
		return false
	}
	for i, s := range segs {
		*u64(room, int64(recordSize+i*segmentSize)) = uint64(s.Addr)
		*u64(room, int64(recordSize+i*segmentSize+8)) = uint64(s.Len)
	}
	notice := Quietly
	if o.mode&Urgent != 0 {
		notice = Call
	}
	p.publish(room, h, kindRTS, flags, size, notice)
	return true
}

// callFlag is flagCall if somebody other than a thread that waits for it depends on the end of this send: an operation
// that it is a step of, or the next buffered sends.
func (o *op) callFlag() uint8 {
	if o.mode&Urgent != 0 || o.chunk != nil {
		return flagCall
	}
	return 0
}

// A sender's memory is described by at most so many segments; data in more of them goes in pieces, which costs a second
// copy but no list.
const (
	maxSegments = 64
	segmentSize = 16
)

// fewSegments returns the runs of memory of all data, nil if they are more than maxSegments.
func (b *Buffer) fewSegments() []Segment {
	segs := make([]Segment, maxSegments+1)
	n := b.segments(0, segs)
	if n > maxSegments {
		return nil
	}
	return segs[:n]
}

// readSegments returns the segments in the payload of kindRTS, in segs if that has room, nil if they are not those of a
// message of size bytes.
func readSegments(payload []byte, size int64, segs []Segment) []Segment {
	if len(payload) == 0 || len(payload)%segmentSize != 0 || len(payload) > maxSegments*segmentSize {
		return nil
	}
	left := size
	for i := 0; i < len(payload); i += segmentSize {
		s := Segment{uintptr(*u64(payload, int64(i))), int64(*u64(payload, int64(i+8)))}
		if s.Len <= 0 || s.Len > left {
			return nil
		}
		left -= s.Len
		segs = append(segs, s)
	}
	if left != 0 {
		return nil
	}
	return segs
}

// remoteError is the error of a send whose receiver reports one.
func remoteError(class int32, o *op) error {
	if class == 0 {
		return nil
	}
	if class < 0 || class > abi.MPI_ERR_LASTCODE {
		class = abi.MPI_ERR_OTHER
	}
	return mpierr.New(class, "rank %d could not read the %d bytes of the message from the send buffer", o.peer,
		o.buf.size)
}
