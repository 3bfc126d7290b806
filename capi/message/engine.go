package message

/*
#include <stdlib.h>

#include "message/engine.h"
*/
import "C"

import "unsafe"

// Place says where the processes of the job are.
type Place struct {
	Control               []byte // the control segment
	Rings                 int64  // where the rings of messages begin in it
	CellStride, RingBytes int64
	N, Me                 int // processes on this node, index of this one
	Size, Rank            int // processes of the job, rank of this one
	// Places holds, for each rank, the index on this node, -1 for a process on another one; nil if all are on this
	// node and index equals rank.
	Places         []int32
	Crowded, NoCMA bool
}

// Messages is the messages of a process. Safe for concurrent use.
type Messages struct {
	c       *C.struct_gompi_messages
	places  []C.int32_t // in C's memory
	stepped *uint32
}

// Open makes the messages of a process; nil: there is no memory.
func Open(p *Place) *Messages {
	m := &Messages{}
	place := C.struct_gompi_engine_place{
		control: (*C.char)(unsafe.Pointer(unsafe.SliceData(p.Control))), rings: (*C.char)(
			unsafe.Pointer(&p.Control[p.Rings])),
		cell_stride: C.size_t(p.CellStride), ring_stride: C.size_t(p.RingBytes),
		n: C.int(p.N), me: C.int(p.Me), size: C.int(p.Size), rank: C.int(p.Rank),
		crowded: C.bool(p.Crowded), no_cma: C.bool(p.NoCMA),
	}
	if p.Places != nil {
		at := (*C.int32_t)(C.malloc(C.size_t(4 * len(p.Places))))
		if at == nil {
			return nil
		}
		m.places = unsafe.Slice(at, len(p.Places))
		for i, x := range p.Places {
			m.places[i] = C.int32_t(x)
		}
		place.places = at
	}
	if m.c = C.gompi_engine_open(&place); m.c == nil {
		return nil
	}
	m.stepped = (*uint32)(unsafe.Pointer(C.gompi_engine_stepped(m.c)))
	return m
}

// Close gives the memory back; nothing is under way.
func (m *Messages) Close() {
	C.gompi_engine_close(m.c)
	m.c = nil
	C.free(unsafe.Pointer(unsafe.SliceData(m.places)))
}

// Enter makes m the application's: the calls in C are about them, and every wait in C serves them. Leave ends that.
func (m *Messages) Enter() { C.gompi_engine_enter(m.c) }
func (m *Messages) Leave() { C.gompi_engine_leave() }

// Progress takes what has arrived, sends what could not be sent before and copies data of matched messages. It returns
// whether there was anything to do, and does not block.
func (m *Messages) Progress() bool { return bool(C.gompi_engine_progress(m.c)) }

// Remind tells the receivers of all sends under way that this process waits for them.
func (m *Messages) Remind() { C.gompi_engine_remind(m.c) }

// Flushed returns whether nothing that this process has to send is left here.
func (m *Messages) Flushed() bool { return bool(C.gompi_engine_flushed(m.c)) }

// Hooks says how many operations of several messages are under way. While there are any, Stepped is set to 1 when one
// of their messages has completed.
func (m *Messages) Hooks(n int) { C.gompi_engine_hooks(m.c, C.uint32_t(n)) }

// Stepped returns the word that Hooks tells of.
func (m *Messages) Stepped() *uint32 { return m.stepped }

// Broken returns an error class once messages can no longer come, else 0.
func (m *Messages) Broken() int32 { return int32(C.gompi_engine_broken(m.c)) }

// Operation describes a send or receive.
type Operation struct {
	Context    uint64  // of the communicator's messages
	Comm       uintptr // its handle, which errors are raised on
	Source     int32   // of a send: rank of this process in the communicator
	World      int32   // of a send: rank in MPI_COMM_WORLD of the destination
	Peer, Tag  int32   // rank in the communicator of the destination, or of the source; these may be wildcards
	Mode       uint8   // of a send: standard, synchronous, buffered, ready
	Receive    bool
	Blocking   bool // the thread that starts it waits for it at once
	Urgent     bool // the receiver's process is to look at it even if it computes
	Persistent bool
	// The buffer: Size bytes at Addr, or, with a datatype, the bytes behind the first Skip of Count copies of it.
	// Its program (core/datatype) counts if C does not know the handle; the caller keeps it alive until the request
	// is released.
	Addr              uintptr
	Size, Count, Skip int64
	Datatype, Program uintptr
}

func (o *Operation) c() C.struct_gompi_engine_operation {
	return C.struct_gompi_engine_operation{
		context: C.uint64_t(o.Context), comm: C.uintptr_t(o.Comm),
		source: C.int32_t(o.Source), world: C.int32_t(o.World), peer: C.int32_t(o.Peer), tag: C.int32_t(o.Tag),
		mode: C.uint8_t(o.Mode), receive: C.bool(o.Receive), blocking: C.bool(o.Blocking),
		urgent: C.bool(o.Urgent), persistent: C.bool(o.Persistent),
		at: C.uintptr_t(o.Addr), size: C.int64_t(o.Size), count: C.int64_t(o.Count), skip: C.int64_t(o.Skip),
		datatype: C.uintptr_t(o.Datatype), program: C.uintptr_t(o.Program),
	}
}

// Request is a send or receive under way.
type Request struct{ c *C.struct_gompi_request }

// Start starts an operation. ok is false if there is no memory; a zero Request: it is over already.
func (m *Messages) Start(o *Operation) (r Request, ok bool) {
	var none C.bool
	c := o.c()
	r.c = C.gompi_engine_start(m.c, &c, &none)
	return r, !bool(none)
}

// AtOnce sends a small message if nothing is in its way; it returns whether it has.
func (m *Messages) AtOnce(o *Operation) bool {
	c := o.c()
	return bool(C.gompi_engine_at_once(m.c, &c))
}

// IsZero returns whether r is no request.
func (r Request) IsZero() bool { return r.c == nil }

// Restart starts a persistent request that is inactive.
func (r Request) Restart() { C.gompi_engine_restart(r.c) }

// Cancel is MPI_Cancel.
func (r Request) Cancel() { C.gompi_engine_cancel(r.c) }

// Free lets a request go, and takes its handle away: at once if it is over, else when it is over.
func (r Request) Free() { C.gompi_engine_free(r.c) }

// State returns the word that says how far the request is; the values are core/request's.
func (r Request) State() *uint32 { return (*uint32)(unsafe.Pointer(C.gompi_engine_state(r.c))) }

// Result is what a complete request has ended with. Text says what is wrong if Class is not 0.
type Result struct {
	Source, Tag, Class int32
	Cancelled          bool
	Bytes              int64
	Text               string
}

// Result returns what r, which is complete, has ended with.
func (r Request) Result() Result {
	var c C.struct_gompi_engine_result
	var text [400]C.char
	C.gompi_engine_result(r.c, &c, &text[0])
	x := result(&c)
	if x.Class != 0 {
		x.Text = C.GoString(&text[0])
	}
	return x
}

func result(c *C.struct_gompi_engine_result) Result {
	return Result{Source: int32(c.source), Tag: int32(c.tag), Class: int32(c.class),
		Cancelled: bool(c.cancelled), Bytes: int64(c.bytes)}
}

// Handle returns a handle for the application; 0: there are as many as can be.
func (r Request) Handle() uintptr { return uintptr(C.gompi_engine_handle(r.c)) }

// IsReceive and IsPersistent return what kind of request r is.
func (r Request) IsReceive() bool    { return bool(C.gompi_engine_is_receive(r.c)) }
func (r Request) IsPersistent() bool { return bool(C.gompi_engine_is_persistent(r.c)) }

// Message is a message that a matched probe has found.
type Message struct{ c *C.struct_gompi_message }

// IsZero returns whether m is no message.
func (m Message) IsZero() bool { return m.c == nil }

// Probe looks for the message that a receive of that pattern would take; with take it is taken out and will be received
// by Receive only.
func (m *Messages) Probe(context uint64, source, tag int32, take bool, comm uintptr) (Message, Result) {
	var c C.struct_gompi_engine_result
	found := C.gompi_engine_probe(m.c, C.uint64_t(context), C.int32_t(source), C.int32_t(tag), C.bool(take),
		C.uintptr_t(comm), &c)
	return Message{found}, result(&c)
}

// Arrived counts the unexpected messages that have come for a context: without a new one a probe finds what it has
// found before.
func (m *Messages) Arrived(context uint64) uint64 {
	return uint64(C.gompi_engine_arrived(m.c, C.uint64_t(context)))
}

// Receive starts the receive of a message that Probe has taken out, which is used up. A zero Request: there is no
// memory.
func (m Message) Receive(o *Operation) Request {
	c := o.c()
	return Request{C.gompi_engine_receive(m.c, &c)}
}

// Forget ends the queues of n contexts of one communicator.
func (m *Messages) Forget(context uint64, n int) {
	C.gompi_engine_forget(m.c, C.uint64_t(context), C.int(n))
}

// Stock is what is under way, for tests.
type Stock struct {
	Sends, Receives      int64 // that wait for another process
	Held, Backlog        int64 // bytes of unexpected messages, processes that something waits to be sent to
	Queues               int64
	Unexpected, Posted   int64
	Picked               int64 // messages that matched probes have handed out
	NumberPlaces, Number int64 // places for numbers of sends, and how many have been given
	InPieces             int64 // receives so far whose data came, or comes, in pieces
	Asks                 bool  // those who send to keep their messages
}

// Stock returns what is under way.
func (m *Messages) Stock() Stock {
	var c C.struct_gompi_engine_stock
	C.gompi_engine_stock(m.c, &c)
	return Stock{int64(c.sends), int64(c.receives), int64(c.held), int64(c.backlog), int64(c.queues),
		int64(c.unexpected), int64(c.posted), int64(c.picked), int64(c.number_places), int64(c.numbers_added),
		int64(c.in_pieces), bool(c.asks)}
}

// Inject hands a record to the process as if another one had sent it, for tests.
func (m *Messages) Inject(record []byte) {
	C.gompi_engine_inject(m.c, unsafe.Pointer(unsafe.SliceData(record)), C.int64_t(len(record)))
}
