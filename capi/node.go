package main

/*
#include "alloc_mem.h"
#include "base/node.h"
#include "base/call.h"
#include "base/verdict.h"
#include "base/wait.h"
#include "fabric/leaders.h"
#include "tcp/address.h"
#include "transport/bounce.h"
#include "transport/ongoing.h"
#include "transport/ring.h"
#include "transport/serve.h"
#include "transport/stream.h"
#include "update/mode.h"
*/
import "C"

import (
	"os"
	"unsafe"

	"gompirma/capi/engine"
	"gompirma/core"
	"gompirma/core/boot"
	"gompirma/core/mpierr"
	"gompirma/core/proc"
	"gompirma/core/shm"
)

// openTable is the process table that C uses.
var openTable *engine.Processes

// openNode tells C where the node's shared memory is, and which processes are on the node. Called once for each
// instance, while there are no windows and no other call into C is active.
func openNode(nd *shm.Node, all proc.Table) {
	control := unsafe.Pointer(unsafe.SliceData(nd.Control()))
	at := func(offset int64) *C.char { return (*C.char)(unsafe.Add(control, offset)) }
	n := nd.N
	place := C.struct_gompi_node{
		control: at(0), n: C.int(n), me: C.int(nd.Me),
		processes:     (*C.struct_gompi_processes)(all.(*engine.Processes).InC()),
		policy:        C.gompi_policy_for(C.bool(nd.Oversubscribed)),
		cma:           C.bool(os.Getenv("GOMPIRMA_NO_CMA") != "1"),
		cell_stride:   C.size_t(shm.CellSize(n)),
		message_rings: at(shm.MessageRing(n, 0)), message_stride: shm.MessageRingSize,
		operation_rings: at(shm.OperationRing(n, 0)), operation_stride: shm.OperationRingSize,
	}
	C.gompi_marks_forget()
	C.gompi_alloc_mem_forget()
	C.gompi_node_open(&place)
	if openTable != nil {
		openTable.Free()
	}
	openTable = all.(*engine.Processes)
	C.gompi_progress_open()
	C.gompi_ring_open()
	C.gompi_bounce_open()
	C.gompi_stream_open()
	C.gompi_ongoing_open()
	C.gompi_leaders_start()
}

// permitted returns the addresses and ports that GOMPIRMA_INTERFACE and GOMPIRMA_PORTS allow other processes to connect
// to. It ignores errors in their values; the network reports them when it opens.
func permitted() (w boot.Where) {
	var why [256]C.char
	var first, last C.int
	if C.gompi_ports_permitted(&first, &last, &why[0], C.size_t(len(why))) {
		w.First, w.Last = int(first), int(last)
	}
	var host C.struct_gompi_tcp_host
	here := C.gompi_host_here(&host, nil, &why[0], C.size_t(len(why)))
	w.Only = !bool(here) || !bool(host.loopback)
	for i := range host.a[:host.n] {
		if host.a[i].reach != C.REACH_LINK && (w.Only || host.a[i].reach != C.REACH_HOST) {
			var text [C.INET6_ADDRSTRLEN]C.char
			C.gompi_host_text(&host.a[i], &text[0])
			w.Addresses = append(w.Addresses, C.GoString(&text[0]))
		}
	}
	return w
}

// progressPath is the C part of a process' progress: waiting, and the progress thread.
type progressPath struct{}

func (progressPath) Run()  { C.gompi_progress_run() }
func (progressPath) Stop() { C.gompi_progress_stop() }

// Await implements shm.Waiter. It waits in C, and returns from C to evaluate done, which only Go can do.
func (progressPath) Await(done func() bool, what shm.Waiting) error {
	var t C.struct_gompi_wait
	C.gompi_wait_begin(&t, C.int32_t(what.Peer), C.uint64_t(what.Object))
	defer C.gompi_wait_end(&t)
	for !done() {
		if class := C.gompi_wait_step(&t); class != 0 {
			return mpierr.New(int32(class), "%s", C.GoString(C.gompi_lost_text()))
		}
	}
	return nil
}

// Publish implements shm.Waiter.
func (progressPath) Publish(what shm.Waiting) (withdraw func()) {
	record := C.gompi_publish_wait(&C.struct_gompi_waiting{call: C.gompi_current_call(),
		peer: C.int32_t(what.Peer), object: C.uint64_t(what.Object)})
	return func() { C.gompi_withdraw_wait(record) }
}

// gompi_find_dead searches for failed processes of the node. Long waits in C call it.
//
//export gompi_find_dead
func gompi_find_dead() {
	if p := core.Self(); p != nil {
		p.Node.FindDead()
	}
}
