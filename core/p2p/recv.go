package p2p

import (
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
	"gompirma/core/request"
)

// Message is a message that has come before its receive; also what MPI_Mprobe hands out.
type Message struct {
	entry entry[Message]
	from  int32      // world rank of the sender
	call  bool       // the sender's process is to look at it at once
	waits bool       // the sender waits for the message to be taken
	rts   bool       // the data is still at the sender
	noop  bool       // MPI_MESSAGE_NO_PROC
	size  int64      // bytes of the whole message
	data  []byte     // eager: its data, in memory that is kept for the next message
	id    uint64     // of the send that waits for an acknowledgement, 0: none
	local *op        // the send, if it is this process' own and its data has not been copied
	c     *comm.Comm // of a message handed out by a probe
	*stay            // never nil: noStay is not to be written to, see staying
}

// stay is what a message needs besides whose data stays with its sender.
type stay struct {
	segs     []Segment // where the data is, if the sender has said so
	one      [1]Segment
	fetch    *op   // fetches the data for it; nil: nobody does
	receiver *op   // the receive that waits for that
	failed   error // why the data could not be fetched
}

var noStay stay

// staying returns the stay of m to write to.
func (m *Message) staying() *stay {
	if m.stay == &noStay {
		m.stay = new(stay)
	}
	return m.stay
}

// Recv receives a message into b (MPI-5.0 3.2.4) and returns when it is there. source is a rank of c.Peers(),
// MPI_ANY_SOURCE or MPI_PROC_NULL; the caller has checked it and the tag. st may be nil. MPI_ERR_TRUNCATE: the message
// is longer than b, which has got its beginning.
func (e *Engine) Recv(c *comm.Comm, x comm.Context, b Buffer, source int, tag int32, st *request.Status) error {
	if source == abi.MPI_PROC_NULL {
		if st != nil {
			*st = request.ProcNull
		}
		return nil
	}
	e.mu.Lock()
	o := e.newOpLocked(request.Receive, c, x, &b, int32(source), tag, Standard)
	o.next = waitsForIt
	e.receiveLocked(o)
	e.unlock()
	return e.await(o, st)
}

// Irecv starts a receive.
func (e *Engine) Irecv(c *comm.Comm, x comm.Context, b Buffer, source int, tag int32) (*request.Request, error) {
	return e.irecv(c, x, b, source, tag, goesOn)
}

// irecv is Irecv that is told what the thread does next.
func (e *Engine) irecv(c *comm.Comm, x comm.Context, b Buffer, source int, tag int32,
	next afterwards) (*request.Request, error) {
	e.mu.Lock()
	o := e.newOpLocked(request.Receive, c, x, &b, int32(source), tag, Standard)
	o.next = next
	if source == abi.MPI_PROC_NULL {
		o.Status = request.ProcNull
		o.Complete()
	} else {
		e.receiveLocked(o)
	}
	e.unlockStarted()
	return &o.Request, nil
}

// receiveLocked matches o with a message that is there, or posts it. What lies in the ring is taken after it is posted:
// its data then needs no place of its own.
func (e *Engine) receiveLocked(o *op) {
	q := e.queueLocked(o.c.Context(o.x))
	if q.unexpected.n > 0 {
		if m := q.unexpected.message(o.peer, o.tag); m != nil {
			e.takeLocked(q, m.of)
			e.deliverLocked(o, m.of)
			return
		}
	}
	e.postReceiveLocked(q, o)
	if e.ready() {
		e.drainLocked()
	}
}

// postReceiveLocked puts a receive among the posted ones.
func (e *Engine) postReceiveLocked(q *queue, o *op) {
	o.entry = entry[op]{src: o.peer, tag: o.tag, of: o}
	q.posted.add(&o.entry)
}

// unpostLocked takes a receive back: it is matched, or cancelled.
func (e *Engine) unpostLocked(o *op) {
	ctx := o.c.Context(o.x)
	q := e.queueLocked(ctx)
	q.posted.remove(&o.entry)
	o.entry.of = nil
	e.closeLocked(ctx, q)
}

// closeLocked drops a queue whose communicator is freed once nothing can match any longer.
func (e *Engine) closeLocked(ctx uint64, q *queue) {
	if q.closing && q.posted.n == 0 {
		delete(e.queues, ctx)
		e.lastQueue = nil
	}
}

// arriveLocked handles a message of another process.
func (e *Engine) arriveLocked(r *record, payload []byte) {
	rts := r.kind() == kindRTS
	if !rts && uint64(len(payload)) != r.size || int64(r.size) < 0 || r.tag < 0 || r.src < 0 {
		return
	}
	q := e.queueLocked(r.ctx)
	if q.posted.n > 0 {
		if x := q.posted.receiver(r.src, r.tag); x != nil {
			o := x.of
			e.unpostLocked(o)
			if !rts {
				e.eagerLocked(o, r.src, r.tag, payload)
				if r.flags()&flagSync != 0 {
					e.ackLocked(r.from, r.id, r.flags()&flagCall != 0, 0)
				}
				return
			}
			m := e.newMessageLocked()
			m.fill(r, payload)
			e.rendezvousLocked(o, m)
			return
		}
	}
	m := e.newMessageLocked()
	m.fill(r, payload)
	e.unexpectedLocked(q, m)
}

// fill makes m the message of a record.
func (m *Message) fill(r *record, payload []byte) {
	m.entry = entry[Message]{src: r.src, tag: r.tag, of: m}
	m.from, m.size, m.call = r.from, int64(r.size), r.flags()&flagCall != 0
	if r.kind() == kindRTS {
		m.rts, m.id, m.waits = true, r.id, r.flags()&flagWait != 0
		if r.flags()&flagAddr != 0 {
			s := m.staying()
			s.segs = readSegments(payload, m.size, s.one[:0])
		}
		return
	}
	if r.flags()&flagSync != 0 {
		m.id = r.id
	}
	m.keep(len(payload))
	copy(m.data, payload)
}

// keep makes room for n bytes of data.
func (m *Message) keep(n int) {
	if n > cap(m.data) {
		m.data = make([]byte, n)
	}
	m.data = m.data[:n]
}

// unexpectedLocked puts a message among the unexpected ones.
func (e *Engine) unexpectedLocked(q *queue, m *Message) {
	q.unexpected.add(&m.entry)
	e.held += int64(len(m.data)) + entryCost
	e.watch.Count(int(e.held / entryCost))
	if e.flow == SendAlong && e.held > congestedFrom {
		e.flowLocked(KeepBack)
	}
	e.arrived.Add(1)
	e.nd.Wake(e.nd.Me)
}

// takeLocked takes a message out of the unexpected ones.
func (e *Engine) takeLocked(q *queue, m *Message) {
	q.unexpected.remove(&m.entry)
	e.held -= int64(len(m.data)) + entryCost
	e.watch.Count(int(e.held / entryCost))
	if e.flow == KeepBack && e.held < congestedUntil {
		e.flowLocked(SendAlong)
	}
}

// settle is called when most of many unexpected messages have gone.
func (e *Engine) settle() {
	e.mu.Lock()
	defer e.giveAway()
	e.watch.Over(int(e.held / entryCost))
}

// What is kept for the next messages: a megabyte at most.
const (
	maxFreeMsgs = 256
	maxSpare    = 4 << 10
)

func (e *Engine) newMessageLocked() *Message {
	if n := len(e.freeMsgs); n > 0 {
		m := e.freeMsgs[n-1]
		e.freeMsgs = e.freeMsgs[:n-1]
		return m
	}
	return &Message{stay: &noStay}
}

func (e *Engine) freeMessageLocked(m *Message) {
	if len(e.freeMsgs) < maxFreeMsgs {
		data, s := m.data[:0], m.stay
		if cap(data) > maxSpare {
			data = nil
		}
		if s != &noStay {
			*s = stay{}
		}
		*m = Message{data: data, stay: s}
		e.freeMsgs = append(e.freeMsgs, m)
	}
}

// deliverLocked gives a message that was unexpected to the receive o.
func (e *Engine) deliverLocked(o *op, m *Message) {
	if m.fetch != nil {
		m.staying().receiver = o
		return
	}
	if m.rts || m.local != nil {
		e.rendezvousLocked(o, m)
		return
	}
	if m.failed != nil {
		o.Status.Source, o.Status.Tag = m.entry.src, m.entry.tag
		e.completeLocked(o, m.failed)
	} else {
		e.eagerLocked(o, m.entry.src, m.entry.tag, m.data)
	}
	if m.id != 0 {
		e.ackLocked(m.from, m.id, m.call, 0)
	}
	e.freeMessageLocked(m)
}

// eagerLocked completes o with a message whose data is here.
func (e *Engine) eagerLocked(o *op, src, tag int32, data []byte) {
	n := min(int64(len(data)), o.buf.size)
	if n > 0 {
		o.buf.unpack(0, data[:n])
	}
	o.Status.Source, o.Status.Tag, o.Status.Bytes = src, tag, n
	e.completeLocked(o, truncated(o, int64(len(data))))
}

// truncated returns the error of a receive of a message of size bytes that does not fit, nil if it does.
func truncated(o *op, size int64) error {
	if size <= o.buf.size {
		return nil
	}
	return mpierr.New(abi.MPI_ERR_TRUNCATE,
		"the message from rank %d with tag %d has %d bytes, the receive buffer %d", o.Status.Source,
		o.Status.Tag, size, o.buf.size)
}

// ackLocked tells the sender of a message that it is matched, or that its data has been taken, or could not be; call
// says that its process is to look at once. Else who waits for an acknowledgement looks by itself.
func (e *Engine) ackLocked(to int32, id uint64, call bool, class int32) {
	notice := Quietly
	if call {
		notice = Call
	}
	e.postLocked(e.peer(to), pending{h: record{from: int32(e.world), id: id, class: class}, k: kindAck,
		notice: notice})
}
