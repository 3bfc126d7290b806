package main

/*
#include "node.h"
#include "agent.h"
#include "call.h"
#include "wait.h"
*/
import "C"

import (
	"os"
	"unsafe"

	"gompirma/core"
	"gompirma/core/shm"
)

// openNode tells C where the shared memory of the node is; called once, before any window can exist.
func openNode(nd *shm.Node) {
	control := nd.Control()
	n := nd.N
	cma := C.int(1)
	if os.Getenv("GOMPIRMA_NO_CMA") == "1" {
		cma = 0
	}
	C.gompi_node_open(unsafe.Pointer(unsafe.SliceData(control)), C.int(n), C.int(nd.Me), C.int(nd.Cores),
		C.size_t(shm.CellSize(n)),
		C.size_t(shm.MessageRing(n, 0)), shm.MessageRingSize, C.size_t(shm.AgentRing(n, 0)), shm.AgentRingSize,
		cma)
}

// agentPath is the part of an RMA operation's progress that is C's: serving the agent's ring.
type agentPath struct{}

func (agentPath) Serve() bool {
	// A call into C costs more than this look, which waits in Go make all the time.
	if p := core.Self(); p != nil && p.Node.AgentRingEmpty() {
		return false
	}
	return bool(C.gompi_agent_serve())
}
func (agentPath) Run()  { C.gompi_agent_run() }
func (agentPath) Stop() { C.gompi_agent_stop() }

// Call returns the name of the MPI function that this thread is in, "" in a thread of the library's own.
func (agentPath) Call() string {
	call := C.gompi_current_call()
	if call == nil {
		return ""
	}
	return C.GoString(call)
}

// gompi_progress_messages lets a thread that waits in C make messages move; 1 if there was something to do.
//
//export gompi_progress_messages
func gompi_progress_messages() int32 {
	if p := core.Self(); p != nil && p.Messages.Progress() {
		return 1
	}
	return 0
}

// gompi_find_dead looks for processes of the node that have died; called by waits in C that take long.
//
//export gompi_find_dead
func gompi_find_dead() {
	if p := core.Self(); p != nil {
		p.Node.FindDead()
	}
}
