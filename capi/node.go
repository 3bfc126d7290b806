package main

/*
#include "base/node.h"
#include "base/call_name.h"
#include "base/error_status.h"
#include "base/wait.h"
#include "tcp/address.h"
#include "transport/bounce.h"
#include "transport/rma_request.h"
#include "transport/ring.h"
#include "transport/progress_thread.h"
#include "transport/stream.h"
#include "update/mode.h"
#include "win/alloc_mem.h"
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

// openNode passes the node's shared memory and the table of processes to C. It is called once.
func openNode(nd *shm.Node, all proc.Table) {
	control := unsafe.Pointer(unsafe.SliceData(nd.Control()))
	at := func(offset int64) *C.char { return (*C.char)(unsafe.Add(control, offset)) }
	n := nd.Slots
	config := C.struct_gompi_node{
		control: at(0), n: C.int(n), local_index: C.int(nd.Me),
		processes:     (*C.struct_gompi_processes)(all.(*engine.Processes).CAddress()),
		core_count:    C.int(nd.Cores),
		policy:        C.gompi_wait_policy_for(C.bool(nd.IsOversubscribed())),
		has_cma:       C.bool(os.Getenv("GOMPIRMA_NO_CMA") != "1"),
		cell_stride:   C.size_t(shm.CellSize(n)),
		message_rings: at(shm.MessageRing(n, 0)), message_stride: shm.MessageRingSize,
		operation_rings: at(shm.OperationRing(n, 0)), operation_stride: shm.OperationRingSize,
	}
	C.gompi_activities_release()
	C.gompi_alloc_mem_reset_cache()
	C.gompi_node_open(&config)
	C.gompi_ring_open()
	C.gompi_bounce_open()
	if all.Nodes() > 1 {
		C.gompi_stream_open()
	}
	C.gompi_rma_request_open()
}

// permitted returns the addresses and ports to which GOMPIRMA_INTERFACE and GOMPIRMA_PORTS allow other processes to
// connect. It ignores errors in the values of these variables; the network reports the errors when it opens.
func permitted() (w boot.ListenSpec) {
	var detail [256]C.char
	var first, last C.int
	if C.gompi_tcp_port_range(&first, &last, &detail[0], C.size_t(len(detail))) {
		w.First, w.Last = int(first), int(last)
	}
	var host C.struct_gompi_tcp_host
	here := C.gompi_host_local_addresses(&host, nil, &detail[0], C.size_t(len(detail)))
	w.OnlyListed = !bool(here) || !bool(host.has_loopback)
	for i := range host.addresses[:host.count] {
		if host.addresses[i].scope != C.SCOPE_LINK && (w.OnlyListed ||
			host.addresses[i].scope != C.SCOPE_HOST) {
			var text [C.INET6_ADDRSTRLEN]C.char
			C.gompi_host_address_text(&host.addresses[i], &text[0])
			w.Addresses = append(w.Addresses, C.GoString(&text[0]))
		}
	}
	return w
}

// progressPath is the C part of a process' progress: waiting, and the progress thread.
type progressPath struct{}

// Processes have been added to the node; this process yields its core while it waits if they are more than the cores.
func (progressPath) ProcessesAdded(nd *shm.Node) {
	C.gompi_node.policy = C.gompi_wait_policy_for(C.bool(nd.IsOversubscribed()))
}

// NetworkOpened implements core.DataPath.
func (progressPath) NetworkOpened() { C.gompi_stream_open() }

func (progressPath) Start() { C.gompi_progress_open() }
func (progressPath) Run()   { C.gompi_progress_run() }
func (progressPath) Stop()  { C.gompi_progress_stop() }

// Await implements shm.Waiter. It waits in C in steps, and calls the function `done` in Go between the steps.
func (progressPath) Await(done func() bool, what shm.Waiting) error {
	var t C.struct_gompi_wait
	C.gompi_wait_begin(&t, C.int32_t(what.Peer), C.uint64_t(what.Object))
	defer C.gompi_wait_end(&t)
	if what.Survives {
		C.gompi_wait_survive(&t)
	}
	for !done() {
		if class := C.gompi_wait_step(&t); class != 0 {
			text := C.GoString(C.gompi_failure_text())
			if done() { // the failed process has made it true after the last check
				break
			}
			return mpierr.New(int32(class), "%s", text)
		}
	}
	return nil
}

// Publish implements shm.Waiter.
func (progressPath) Publish(what shm.Waiting) (withdraw func()) {
	record := C.gompi_publish_wait(&C.struct_gompi_wait_desc{call: C.gompi_current_call(),
		peer: C.int32_t(what.Peer), object: C.uint64_t(what.Object)})
	return func() { C.gompi_withdraw_wait(record) }
}

// gompi_find_failed searches for failed processes of the node, and adds their number to
// gompi_node_header()->failed_count. Long waits in C call it.
//
//gompi:callback void (void)
//export gompi_find_failed
func gompi_find_failed() {
	if p := core.Self(); p != nil {
		p.Node.FindFailed()
	}
}
