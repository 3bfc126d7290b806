package p2p

import (
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
	"gompirma/core/request"
)

// Mode says how a message is sent.
type Mode uint8

// The modes: standard, synchronous (complete when the receive has begun), buffered, ready. Urgent may be added: the
// receiver is to look at the message even if it computes; for steps of operations that the receiver's process takes on
// its own.
const (
	Standard Mode = iota
	Synchronous
	Buffered
	Ready
	Urgent Mode = 1 << 4

	modeMask = Urgent - 1
)

// afterwards is what a thread does that has started an operation.
type afterwards uint8

const (
	goesOn     afterwards = iota
	waitsForIt            // at once: a blocking call
)

// op is a send or receive under way.
type op struct {
	request.Request
	e    *Engine
	c    *comm.Comm
	buf  Buffer
	peer int32 // rank in c.Peers(): destination or source
	tag  int32
	x    comm.Context
	mode Mode

	next   afterwards // what the thread that started it does next
	cancel bool       // a send: MPI_Cancel has been called
	gone   bool       // a send: the receiver no longer has the message
	looked bool       // a send: the receiver has been told that the message is waited for

	entry     entry[op] // a receive: its place among the posted ones
	*transfer           // never nil: noTransfer is not to be written to, see moving
}

// transfer is what a message needs besides whose data does not come with its record. Programs may have a million
// requests that are never matched to such a one.
type transfer struct {
	// A receive.
	matched *Message // the message whose data is to be pulled
	got     int64    // bytes that have come in pieces
	want    int64    // bytes that will: what fits
	full    int64    // bytes of the whole message
	fetches *Message // the message that the data is fetched for; nil: it is for the application

	// A send.
	id    uint64 // number in sends (or receives); 0: none
	to    *peer
	sent  int64  // bytes that have gone in pieces
	limit int64  // bytes that are to go in pieces
	rid   uint64 // number of the receive at the other side
	chunk *chunk // part of the buffer of a buffered send
}

var noTransfer transfer

// moving returns the transfer of o to write to.
func (o *op) moving() *transfer {
	if o.transfer == &noTransfer {
		o.transfer = new(transfer)
	}
	return o.transfer
}

// newOpLocked returns an op for a send or receive on c, from the pool.
func (e *Engine) newOpLocked(k request.Kind, c *comm.Comm, x comm.Context, b *Buffer, peer, tag int32, mode Mode) *op {
	var o *op
	if n := len(e.freeOps); n > 0 {
		o = e.freeOps[n-1]
		e.freeOps = e.freeOps[:n-1]
	} else {
		o = &op{e: e, transfer: &noTransfer}
	}
	o.Kind, o.Op, o.Owner = k, o, c
	o.c, o.x, o.buf, o.peer, o.tag, o.mode = c, x, *b, peer, tag, mode
	return o
}

const maxFreeOps = 256

// recycleLocked gives an op back to the pool. Nothing refers to it any longer.
func (e *Engine) recycleLocked(o *op) {
	if len(e.freeOps) == maxFreeOps {
		return
	}
	t := o.transfer
	if t != &noTransfer {
		*t = transfer{}
	}
	*o = op{e: e, transfer: t}
	e.freeOps = append(e.freeOps, o)
}

// Release implements request.Operation.
func (o *op) Release() error {
	if o.Freed() {
		// The thread that freed it and the one that completed it may both still look at it: left to the garbage
		// collector.
		return nil
	}
	o.e.mu.Lock()
	o.e.recycleLocked(o)
	o.e.unlock()
	return nil
}

// Query implements request.Operation.
func (o *op) Query(*request.Status) error { return nil }

// Start implements request.Operation for persistent requests.
func (o *op) Start() error {
	if !o.Persistent {
		return request.None{}.Start()
	}
	if !o.Inactive() {
		return mpierr.New(abi.MPI_ERR_REQUEST,
			"the persistent request is active: it must be completed before it is started again")
	}
	e := o.e
	if o.Kind == request.Receive {
		e.mu.Lock()
		o.SetActive()
		o.Status = request.Status{}
		if o.peer == abi.MPI_PROC_NULL {
			o.Status = request.ProcNull
			e.completeLocked(o, nil)
		} else {
			e.receiveLocked(o)
		}
		e.unlockStarted()
		return nil
	}
	o.SetActive()
	o.Status = request.Status{}
	o.cancel, o.gone, o.looked = false, false, false
	if err := e.start(o); err != nil {
		o.SetInactive()
		return err
	}
	return nil
}
