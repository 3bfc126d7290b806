// Package engine implements interfaces of core with C: Carrier of core/p2p (messages and plans), Network of
// core/fabric, and the table of processes.
//
// Only this package connects core to the C packages: it implements interfaces of core, and the C packages do not import
// core. So a change of Go code in core does not recompile C, and core is built without C.
package engine

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
#include <stdlib.h>

#include "base/failure.h"
#include "fabric/fabric.h"
#include "message/engine.h"
#include "message/remote.h"
#include "message/request.h" // complete struct: with an incomplete one, a Request in an interface allocates memory
*/
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	_ "gompirma/capi/fabric"
	_ "gompirma/capi/message"
	"gompirma/core/p2p"
)

// Messages implements p2p.Carrier, which documents the methods. It is safe for concurrent use.
type Messages struct {
	c *C.struct_gompi_messages
}

// Open creates the *Messages of a process. It fails if out of memory or if the system denies random bytes.
func Open(p *p2p.CarrierConfig) (p2p.Carrier, error) {
	m := &Messages{}
	config := C.struct_gompi_engine_config{
		control: (*C.char)(unsafe.Pointer(unsafe.SliceData(p.Control))), rings: (*C.char)(
			unsafe.Pointer(&p.Control[p.Rings])),
		cell_stride: C.size_t(p.CellStride), ring_stride: C.size_t(p.RingBytes),
		n: C.int(p.N), me: C.int(p.Me),
		processes:      (*C.struct_gompi_processes)(p.Processes.(*Processes).CAddress()),
		oversubscribed: C.bool(p.Oversubscribed), no_cma: C.bool(p.NoCMA),
	}
	var err error
	if m.c, err = C.gompi_engine_open(&config); m.c != nil {
		return m, nil
	}
	if errors.Is(err, unix.ENOMEM) {
		return nil, errors.New("out of memory")
	}
	return nil, fmt.Errorf("cannot read random bytes from getrandom or /dev/urandom: %w", err)
}

// Close frees the message engine of the process. No thread may use the engine any more.
func (m *Messages) Close() {
	C.gompi_engine_close(m.c)
	m.c = nil
}

// Enter and the following methods implement p2p.Carrier.
func (m *Messages) Enter()                    { C.gompi_engine_attach(m.c) }
func (m *Messages) Leave()                    { C.gompi_engine_detach() }
func (m *Messages) Progress() bool            { return bool(C.gompi_engine_progress(m.c)) }
func (m *Messages) NotifyReceivers()          { C.gompi_engine_remind(m.c) }
func (m *Messages) OpenNetwork()              { C.gompi_remote_open(m.c) }
func (m *Messages) Failed(process int32) bool { return bool(C.gompi_is_failed(C.int(process))) }
func (m *Messages) AllSent() bool             { return bool(C.gompi_engine_flushed(m.c)) }
func (m *Messages) ErrorClass() int32         { return int32(C.gompi_engine_inbox_error(m.c)) }

// RequestDelivery implements p2p.Carrier.
func (m *Messages) RequestDelivery(process int32) (isDelivered func() bool) {
	number := C.gompi_fabric_request_delivery(C.int(process))
	return func() bool { return bool(C.gompi_fabric_is_delivered(C.int(process), number)) }
}

// operationToC returns the C form of an operation.
func operationToC(o *p2p.Operation) C.struct_gompi_engine_operation {
	return C.struct_gompi_engine_operation{
		context: C.uint64_t(o.Context), comm: C.uintptr_t(o.Comm),
		source: C.int32_t(o.Source), world: C.int32_t(o.Process), peer: C.int32_t(o.Peer),
		tag:  C.int32_t(o.Tag),
		mode: C.uint8_t(o.Mode), receive: C.bool(o.Receive), blocking: C.bool(o.Blocking),
		urgent: C.bool(o.Urgent), persistent: C.bool(o.Persistent),
		at: C.uintptr_t(o.Addr), size: C.int64_t(o.Size), count: C.int64_t(o.Count),
		datatype: C.uintptr_t(o.Datatype), program: C.uintptr_t(o.Program),
		depends_on_all: C.bool(o.DependsOnAll),
		members:        C.uintptr_t(o.Members), member_count: C.int32_t(o.MemberCount),
		outer: C.uintptr_t(o.Outer),
	}
}

// Request implements p2p.Request: a send, a receive or a plan in progress.
type Request struct{ c *C.struct_gompi_request }

// requestOf returns the Request of a C request, or nil if c is nil.
func requestOf(c *C.struct_gompi_request) p2p.Request {
	if c == nil {
		return nil
	}
	return Request{c}
}

// Start implements p2p.Carrier.
func (m *Messages) Start(o p2p.Operation) (r p2p.Request, ok bool) {
	var none C.bool
	c := operationToC(&o)
	r = requestOf(C.gompi_engine_start(m.c, &c, &none))
	return r, !bool(none)
}

// Do implements p2p.Carrier.
func (m *Messages) Do(o p2p.Operation) (x p2p.Result, ok bool) {
	d := doArgsPool.Get().(*doArgs)
	d.o = operationToC(&o)
	if ok = bool(C.gompi_engine_perform(m.c, &d.o, &d.out)); ok {
		x = result(&d.out)
	}
	doArgsPool.Put(d)
	return x, ok
}

// doArgs holds the argument and the result of gompi_engine_perform.
type doArgs struct {
	o   C.struct_gompi_engine_operation
	out C.struct_gompi_engine_result
}

var doArgsPool = sync.Pool{New: func() any { return new(doArgs) }}

// Restart starts a persistent request, for tests. The request must be inactive.
func (r Request) Restart() { C.gompi_engine_restart(r.c) }

// IsInactive returns whether the request is persistent and not started, for tests.
func (r Request) IsInactive() bool { return atomic.LoadUint32(r.state()) == C.REQUEST_INACTIVE }

// Cancel and the following methods implement p2p.Request.
func (r Request) Cancel()          { C.gompi_engine_cancel(r.c) }
func (r Request) Free()            { C.gompi_engine_free(r.c) }
func (r Request) Handle() uintptr  { return uintptr(C.gompi_engine_handle(r.c)) }
func (r Request) IsComplete() bool { return atomic.LoadUint32(r.state()) == C.REQUEST_COMPLETE }

func (r Request) state() *uint32 { return (*uint32)(unsafe.Pointer(C.gompi_engine_state(r.c))) }

// Finish implements p2p.Request.
func (r Request) Finish() p2p.Result {
	var c C.struct_gompi_engine_result
	C.gompi_engine_result(r.c, &c)
	if C.gompi_engine_is_persistent(r.c) {
		atomic.StoreUint32(r.state(), C.REQUEST_INACTIVE)
	} else {
		r.Free()
	}
	return result(&c)
}

func result(c *C.struct_gompi_engine_result) p2p.Result {
	x := p2p.Result{Source: int32(c.source), Tag: int32(c.tag), Class: int32(c.class),
		Cancelled: bool(c.cancelled), Bytes: int64(c.bytes)}
	if c.text != nil {
		x.Text = C.GoString(c.text)
		C.free(unsafe.Pointer(c.text))
	}
	return x
}

// Matched is a message that a probe has found, for tests.
type Matched struct{ c *C.struct_gompi_message }

// Probe returns the unexpected message that a receive with this context, source and tag would match, or nil. If the
// argument take is true, Probe removes the message from the queues, so that only Receive can receive it.
func (m *Messages) Probe(context uint64, source, tag int32, take bool, comm uintptr) (*Matched, p2p.Result) {
	var c C.struct_gompi_engine_result
	found := C.gompi_engine_probe(m.c, C.uint64_t(context), C.int32_t(source), C.int32_t(tag), C.bool(take),
		C.uintptr_t(comm), &c)
	if found == nil {
		return nil, p2p.Result{}
	}
	return &Matched{found}, result(&c)
}

// Receive starts the receive of a message that Probe has removed from the queues, and consumes the message. It returns
// nil if out of memory.
func (m *Matched) Receive(o p2p.Operation) p2p.Request {
	c := operationToC(&o)
	return requestOf(C.gompi_engine_receive(m.c, &c))
}

// Forget implements p2p.Carrier.
func (m *Messages) Forget(context uint64, n int) {
	C.gompi_engine_close_contexts(m.c, C.uint64_t(context), C.int(n))
}

// Counts holds counts of objects in use, for tests.
type Counts struct {
	Sends, Receives               int64 // unacknowledged sends; receives whose data arrives in fragments
	UnexpectedBytes, PendingPeers int64 // PendingPeers: number of links with pending output
	Queues                        int64
	Unexpected, Posted            int64
	Matched                       int64 // messages that MPI_Mprobe has removed from the queue
	// NumberCapacity is the number of entries of the tables of send ids that have been used so far. Number is the
	// number of ids that have been assigned so far.
	NumberCapacity, Number int64
	Segmented              int64 // number of receives so far whose data arrives in fragments
	HoldsBack              bool  // true if the process asks senders to keep their data (flow control)
}

// Counts returns the current counts.
func (m *Messages) Counts() Counts {
	var c C.struct_gompi_engine_counts
	C.gompi_engine_counts(m.c, &c)
	return Counts{int64(c.sends), int64(c.receives), int64(c.unexpected_bytes), int64(c.pending_links),
		int64(c.queues),
		int64(c.unexpected), int64(c.posted), int64(c.extracted), int64(c.id_entries), int64(c.ids_added),
		int64(c.fragmented_receives), bool(c.throttles)}
}

// Inject processes a record as if another process had sent it, for tests.
func (m *Messages) Inject(record []byte) {
	C.gompi_engine_inject(m.c, unsafe.Pointer(unsafe.SliceData(record)), C.int64_t(len(record)))
}
