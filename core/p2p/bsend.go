package p2p

import (
	"sort"

	"gompirma/core/abi"
	"gompirma/core/comm"
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
	defer e.unlock()
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
	defer e.unlock()
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
	return e.wait(r.IsComplete)
}

// Iflush is Flush as a request.
func (e *Engine) Iflush(of BufferOf) *request.Request {
	e.mu.Lock()
	defer e.unlock()
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
	defer e.unlockStarted()
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
	p := e.peerOf(c, dest)
	if p != nil && e.eager(p, c, x, b, tag, mode&^modeMask) {
		return nil
	}
	k := &chunk{in: a, n: b.size, seq: a.seq + 1}
	kept, err := a.place(k)
	if err != nil {
		return err
	}
	a.seq++
	a.used += need
	a.under++
	e.mu.Unlock()
	b.copyTo(&kept)
	e.mu.Lock()
	o := e.newOpLocked(request.Send, c, x, &kept, dest, tag, mode&^modeMask)
	o.moving().chunk = k
	e.sendLocked(o, p)
	return nil
}

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
	return ownBytes(k.n)
}

// copyTo copies the data to memory of the same size.
func (b *Buffer) copyTo(to *Buffer) { copyBuffer(to, b, b.size) }

// deliveredLocked gives back the part of an attached buffer that the send o used, and o.
func (e *Engine) deliveredLocked(o *op) {
	k := o.chunk
	a := k.in
	e.recycleLocked(o)
	a.used -= k.n + abi.MPI_BSEND_OVERHEAD
	a.under--
	if k.placed {
		i := sort.Search(len(a.chunks), func(i int) bool { return a.chunks[i].off >= k.off })
		a.chunks = append(a.chunks[:i], a.chunks[i+1:]...)
	}
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
