package messages

import (
	"runtime"
	"unsafe"

	"gompirma/capi/engine"
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
	"gompirma/core/p2p"
	"gompirma/core/shm"
)

// This file defines functions like those of MPI on the C message engine, for several simulated processes in the test
// process.

// Buffer is the memory of a message: `size` bytes at `addr` or, if `typ` is set, `count` elements of that type.
type Buffer struct {
	addr        uintptr
	size, count int64
	typ         *datatype.Type
	keep        []byte // Go memory that must stay alive during the message
}

// Bytes returns a Buffer for b.
func Bytes(b []byte) Buffer { return Buffer{addr: addressOf(b), size: int64(len(b)), keep: b} }

// Memory returns a Buffer for n bytes at an address.
func Memory(addr uintptr, n int64) Buffer { return Buffer{addr: addr, size: n} }

// Typed returns a Buffer for `count` elements of a committed datatype at an address.
func Typed(addr uintptr, count int64, t *datatype.Type) Buffer {
	if t.Contiguous() {
		return Memory(addr+uintptr(t.Origin()), count*t.Size())
	}
	return Buffer{addr: addr, size: count * t.Size(), count: count, typ: t}
}

// Mode is the mode of a send (enum gompi_mode), optionally combined with the flag Urgent.
type Mode uint8

const (
	Standard    Mode = 0
	Synchronous Mode = 1
	Ready       Mode = 3
	Urgent      Mode = 1 << 4
)

// Request is a send or receive. Its p2p.Request is nil if the operation was already complete when it was started.
type Request struct {
	p2p.Request
	buf Buffer // referenced so that it stays alive
}

func (r *Request) IsComplete() bool { return r.Request == nil || r.Request.IsComplete() }
func (r *Request) IsInactive() bool { return r.Request.(engine.Request).IsInactive() }
func (r *Request) Start()           { r.Request.(engine.Request).Restart() }

func (r *Request) Cancel() {
	if r.Request != nil {
		r.Request.Cancel()
	}
}

func (r *Request) Free() {
	if r.Request != nil {
		r.Request.Free()
	}
}

// set stores the buffer to o, the description of an operation.
func (b *Buffer) set(o *p2p.Operation) {
	o.Addr, o.Size, o.Count = b.addr, b.size, b.count
	if b.typ != nil {
		o.Datatype = b.typ.Handle()
		o.Program = uintptr(unsafe.Pointer(unsafe.SliceData(b.typ.Program())))
	}
}

func sendOperation(c *comm.Comm, x comm.Context, b *Buffer, dest int, tag int32, mode Mode) p2p.Operation {
	o := p2p.NewOperation(c, x, int32(dest), tag)
	o.Mode, o.Urgent = uint8(mode&^Urgent), mode&Urgent != 0
	b.set(&o)
	return o
}

func recvOperation(c *comm.Comm, x comm.Context, b *Buffer, source int, tag int32) p2p.Operation {
	o := p2p.NewOperation(c, x, int32(source), tag)
	o.Receive = true
	b.set(&o)
	return o
}

// begin starts operation o on buffer b.
func (e *Engine) begin(o p2p.Operation, b Buffer) (*Request, error) {
	r, err := e.Begin(o)
	return &Request{r, b}, err
}

func (e *Engine) Send(c *comm.Comm, x comm.Context, b Buffer, dest int, tag int32, mode Mode) error {
	_, err := e.Perform(sendOperation(c, x, &b, dest, tag, mode))
	runtime.KeepAlive(b)
	return err
}

func (e *Engine) Isend(c *comm.Comm, x comm.Context, b Buffer, dest int, tag int32, mode Mode) (*Request, error) {
	return e.begin(sendOperation(c, x, &b, dest, tag, mode), b)
}

// Recv receives a message. It stores the result to st, which may be nil.
func (e *Engine) Recv(c *comm.Comm, x comm.Context, b Buffer, source int, tag int32, st *p2p.Result) error {
	r, err := e.Perform(recvOperation(c, x, &b, source, tag))
	runtime.KeepAlive(b)
	if st != nil {
		*st = r
	}
	return err
}

func (e *Engine) Irecv(c *comm.Comm, x comm.Context, b Buffer, source int, tag int32) (*Request, error) {
	return e.begin(recvOperation(c, x, &b, source, tag), b)
}

func (e *Engine) SendInit(c *comm.Comm, x comm.Context, b Buffer, dest int, tag int32, mode Mode) (*Request, error) {
	o := sendOperation(c, x, &b, dest, tag, mode)
	o.Persistent = true
	return e.begin(o, b)
}

func (e *Engine) RecvInit(c *comm.Comm, x comm.Context, b Buffer, source int, tag int32) (*Request, error) {
	o := recvOperation(c, x, &b, source, tag)
	o.Persistent = true
	return e.begin(o, b)
}

// Wait waits for a request. It stores the result to st, which may be nil.
func (e *Engine) Wait(r *Request, st *p2p.Result) error {
	if r.Request == nil {
		if st != nil {
			*st = p2p.Result{}
		}
		return nil
	}
	if err := e.AwaitFor(r.IsComplete, shm.Waiting{Peer: shm.PeersSeveral}); err != nil {
		return err
	}
	x := r.Finish()
	runtime.KeepAlive(r.buf)
	if st != nil {
		*st = x
	}
	return x.Err()
}

// waitAll waits for all requests and returns the first error.
func waitAll(e *Engine, rs ...*Request) error {
	var first error
	for _, r := range rs {
		if err := e.Wait(r, nil); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// probe returns the first matching message that has already arrived. It makes no progress. If `remove` is true, it
// extracts the message and returns it.
func (e *Engine) probe(c *comm.Comm, x comm.Context, source int, tag int32, remove bool,
	st *p2p.Result) *engine.Matched {
	m, found := e.m.Probe(c.Context(x), int32(source), tag, remove, c.Handle)
	if m != nil {
		*st = found
	}
	return m
}

// awaitProbe waits until probe finds a message.
func (e *Engine) awaitProbe(c *comm.Comm, x comm.Context, source int, tag int32, remove bool,
	st *p2p.Result) (m *engine.Matched, err error) {
	peer := int32(shm.PeersAny)
	if source >= 0 {
		peer = c.Peers().World(source)
	}
	err = e.AwaitFor(func() bool {
		if m == nil {
			m = e.probe(c, x, source, tag, remove, st)
		}
		return m != nil
	}, shm.Waiting{Peer: peer, Object: uint64(c.Handle)})
	return m, err
}

func (e *Engine) Iprobe(c *comm.Comm, x comm.Context, source int, tag int32, st *p2p.Result) bool {
	e.Progress()
	return e.probe(c, x, source, tag, false, st) != nil
}

func (e *Engine) Probe(c *comm.Comm, x comm.Context, source int, tag int32, st *p2p.Result) error {
	_, err := e.awaitProbe(c, x, source, tag, false, st)
	return err
}

func (e *Engine) Improbe(c *comm.Comm, x comm.Context, source int, tag int32, st *p2p.Result) *engine.Matched {
	e.Progress()
	return e.probe(c, x, source, tag, true, st)
}

func (e *Engine) Mprobe(c *comm.Comm, x comm.Context, source int, tag int32, st *p2p.Result) (*engine.Matched, error) {
	return e.awaitProbe(c, x, source, tag, true, st)
}

func (e *Engine) Imrecv(b Buffer, m *engine.Matched) (*Request, error) {
	o := p2p.Operation{Receive: true}
	b.set(&o)
	r := m.Receive(o)
	if r == nil {
		return nil, mpierr.New(abi.MPI_ERR_NO_MEM, "out of memory for a request")
	}
	return &Request{r, b}, nil
}

func (e *Engine) Mrecv(b Buffer, m *engine.Matched, st *p2p.Result) error {
	r, err := e.Imrecv(b, m)
	if err != nil {
		return err
	}
	return e.Wait(r, st)
}

func (e *Engine) Sendrecv(c *comm.Comm, x comm.Context, out Buffer, dest int, sendTag int32,
	in Buffer, source int, recvTag int32, st *p2p.Result) error {
	r, err := e.Irecv(c, x, in, source, recvTag)
	if err != nil {
		return err
	}
	sent := e.Send(c, x, out, dest, sendTag, Standard)
	if err := e.Wait(r, st); err != nil {
		return err
	}
	return sent
}
