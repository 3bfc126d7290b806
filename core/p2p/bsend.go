package p2p

import (
	"sort"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/limit"
	"gompirma/core/mpierr"
	"gompirma/core/request"
)

// attached is a buffer for buffered sends: the application's memory, or the library's own (MPI_BUFFER_AUTOMATIC).
// Guarded by the engine's lock.
//
// A message counts as its data plus MPI_BSEND_OVERHEAD from its call until it has left this process' hands; what fits
// by that count is accepted. Its data lies in the application's memory if there is a gap for it, else in the library's:
// so the count alone decides, never how the gaps lie.
type attached struct {
	on        bool
	automatic bool
	addr      uintptr
	size      int64
	used      int64
	seq       uint64
	chunks    []*chunk // under way, in order of offset; those without a place in the memory are not among them
	under     int      // messages under way
	flushes   []*flush
}

// chunk is one message's part of an attached buffer.
type chunk struct {
	in     *attached
	off, n int64
	placed bool
	seq    uint64
	send   *op
}

// flush waits for the messages that were under way when it began.
type flush struct {
	request.Request
	request.None
	until uint64
	left  int
}

// Where an attached buffer belongs.
type BufferOf struct {
	Comm *comm.Comm // of a communicator, if not nil
	// of a session, if not nil: the slot in the session's object
	Session *any
}

// slot returns where the owner keeps the buffer, nil: the owner is the process.
func (of *BufferOf) slot() *any {
	if of.Comm != nil {
		return &of.Comm.Buffers
	}
	return of.Session
}

// attachedLocked returns the buffer of an owner, nil if it never had one.
func (e *Engine) attachedLocked(of BufferOf) *attached {
	slot := of.slot()
	if slot == nil {
		return &e.process
	}
	a, _ := (*slot).(*attached)
	return a
}

// Attach is MPI_Buffer_attach and its relatives. MPI_ERR_BUFFER: there is one already; MPI_ERR_ARG: the size is
// negative.
func (e *Engine) Attach(of BufferOf, addr uintptr, size int64) error {
	if addr != abi.MPI_BUFFER_AUTOMATIC && size < 0 {
		return mpierr.New(abi.MPI_ERR_ARG, "a buffer of %d bytes", size)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.attachedLocked(of)
	if a == nil {
		a = &attached{}
		*of.slot() = a
	}
	if a.on {
		return mpierr.New(abi.MPI_ERR_BUFFER, "a buffer of %d bytes is attached already", a.size)
	}
	*a = attached{on: true, addr: addr, size: size}
	if addr == abi.MPI_BUFFER_AUTOMATIC {
		a.automatic, a.size = true, 1<<62
	}
	return nil
}

// Detach waits until all messages in the buffer have left and returns it: MPI_BUFFER_AUTOMATIC with size 0 for an
// automatic one, 0 and 0 if there is none.
func (e *Engine) Detach(of BufferOf) (addr uintptr, size int64, err error) {
	if err := e.Flush(of); err != nil {
		return 0, 0, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.attachedLocked(of)
	if a == nil || !a.on {
		return 0, 0, nil
	}
	addr, size = a.addr, a.size
	if a.automatic {
		size = 0
	}
	*a = attached{}
	return addr, size, nil
}

// Flush waits until all messages that are in the buffer have left.
func (e *Engine) Flush(of BufferOf) error {
	r := e.Iflush(of)
	if r == request.Completed {
		return nil
	}
	return e.Await(r)
}

// Iflush is Flush as a request.
func (e *Engine) Iflush(of BufferOf) *request.Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reapLocked()
	a := e.attachedLocked(of)
	if a == nil || a.under == 0 {
		return request.Completed
	}
	f := &flush{until: a.seq, left: a.under}
	f.Op = f
	a.flushes = append(a.flushes, f)
	return &f.Request
}

// bsend sends a message whose buffer may be used again at once.
// MPI_ERR_BUFFER: none is attached, or the message does not fit beside those under way; MPI_ERR_NO_MEM.
func (e *Engine) bsend(c *comm.Comm, x comm.Context, b *Buffer, dest, tag int32, mode Mode) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reapLocked()
	a := e.bufferForLocked(c)
	need := b.size + abi.MPI_BSEND_OVERHEAD
	if a == nil {
		return mpierr.New(abi.MPI_ERR_BUFFER, "a buffered send of %d bytes, and no buffer is attached", b.size)
	}
	if a.size-a.used < need {
		return mpierr.New(abi.MPI_ERR_BUFFER,
			"a buffered send needs %d + %d bytes, and %d of the %d bytes of the buffer are in use", b.size,
			abi.MPI_BSEND_OVERHEAD, a.used, a.size)
	}
	m := e.operation(c, x, b, dest, tag)
	m.Urgent = mode&Urgent != 0
	if m.World != e.processes.Self() && e.m.AtOnce(m) {
		return nil
	}
	k := &chunk{in: a, n: b.size, seq: a.seq + 1}
	kept, err := a.place(k)
	if err != nil {
		return err
	}
	b.copyTo(view(kept.addr, kept.size))
	m = e.operation(c, x, &kept, dest, tag)
	m.Mode, m.Urgent = uint8(Buffered), mode&Urgent != 0
	o, err := e.begin(m, &kept)
	if err != nil {
		a.vacate(k)
		return err
	}
	a.seq++
	a.used += need
	a.under++
	k.send = o
	e.buffered = append(e.buffered, k)
	e.reapLocked()
	if len(e.buffered) > 0 && e.reaping == nil {
		e.reaping = e.AddHook(e.reap)
	}
	return nil
}

// reap is the hook that gives back the room of messages that have left.
func (e *Engine) reap() bool {
	if !e.mu.TryLock() {
		return false
	}
	defer e.mu.Unlock()
	worked := e.reapLocked()
	if len(e.buffered) == 0 && e.reaping != nil {
		e.RemoveHook(e.reaping)
		e.reaping = nil
	}
	return worked
}

// reapLocked gives back the room of messages that have left.
func (e *Engine) reapLocked() bool {
	left := e.buffered[:0]
	for _, k := range e.buffered {
		if k.send != nil && !k.send.IsComplete() {
			left = append(left, k)
			continue
		}
		if k.send != nil {
			k.send.Finish(nil) // that nobody could be told of
		}
		e.delivered(k)
	}
	worked := len(left) < len(e.buffered)
	clear(e.buffered[len(left):])
	e.buffered = left
	return worked
}

// persistentBsend is the request of MPI_Bsend_init.
type persistentBsend struct {
	request.Request
	request.None
	e    *Engine
	c    *comm.Comm
	x    comm.Context
	buf  Buffer
	dest int
	tag  int32
	mode Mode
}

// Start implements request.Operation.
func (s *persistentBsend) Start() error {
	if !s.Inactive() {
		return mpierr.New(abi.MPI_ERR_REQUEST,
			"the persistent request is active: it must be completed before it is started again")
	}
	s.SetActive()
	s.Status = request.Status{}
	if err := s.e.Send(s.c, s.x, s.buf, s.dest, s.tag, s.mode); err != nil {
		s.SetInactive()
		return err
	}
	s.Complete()
	return nil
}

// Cancel implements request.Operation: the message has left when MPI_Start returns.
func (s *persistentBsend) Cancel() error { return nil }

// bufferForLocked returns the buffer that a buffered send on c uses: the communicator's, else the process'.
func (e *Engine) bufferForLocked(c *comm.Comm) *attached {
	if a, _ := c.Buffers.(*attached); a != nil && a.on {
		return a
	}
	if e.process.on {
		return &e.process
	}
	return nil
}

// place finds room for k.n bytes and returns it. MPI_ERR_NO_MEM.
func (a *attached) place(k *chunk) (Buffer, error) {
	if !a.automatic && k.n > 0 {
		at := int64(0)
		for i := 0; ; i++ {
			if i == len(a.chunks) || a.chunks[i].off-at >= k.n {
				if i == len(a.chunks) && a.size-at < k.n {
					break
				}
				k.off, k.placed = at, true
				a.chunks = append(a.chunks, nil)
				copy(a.chunks[i+1:], a.chunks[i:])
				a.chunks[i] = k
				return Memory(a.addr+uintptr(at), k.n), nil
			}
			at = a.chunks[i].off + a.chunks[i].n
		}
	}
	own, err := limit.Bytes(k.n)
	if err != nil {
		return Buffer{}, mpierr.New(abi.MPI_ERR_NO_MEM, "%v", err)
	}
	return Bytes(own), nil
}

// vacate gives the place of k back.
func (a *attached) vacate(k *chunk) {
	if k.placed {
		i := sort.Search(len(a.chunks), func(i int) bool { return a.chunks[i].off >= k.off })
		a.chunks = append(a.chunks[:i], a.chunks[i+1:]...)
	}
}

// delivered gives back the part of an attached buffer that k used.
func (e *Engine) delivered(k *chunk) {
	a := k.in
	a.used -= k.n + abi.MPI_BSEND_OVERHEAD
	a.under--
	a.vacate(k)
	waiting := a.flushes[:0]
	for _, f := range a.flushes {
		if k.seq <= f.until {
			f.left--
		}
		if f.left == 0 {
			f.Complete()
			e.nd.Wake(e.nd.Me)
			continue
		}
		waiting = append(waiting, f)
	}
	a.flushes = waiting
}
