package main

/*
#include <stdlib.h>

#include "coll/plan_cache.h"
#include "comm/comm.h"
#include "message/bsend_buffer.h"
*/
import "C"

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"gompirma/core"
	"gompirma/core/abi"
	"gompirma/core/coll"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
)

// draft is the comm descriptor that openComm fills in and passes to C. It is in C memory, so that passing it needs no
// allocation, pinning or pointer check of Go memory.
var draft = struct {
	mu   sync.Mutex
	desc *C.struct_gompi_comm
}{desc: (*C.struct_gompi_comm)(C.malloc(C.sizeof_struct_gompi_comm))}

// openComm creates the comm descriptor in C for a communicator whose handle the application receives. It returns
// MPI_ERR_NO_MEM if out of memory.
func openComm(c *comm.Comm) error {
	var pin runtime.Pinner
	defer pin.Unpin()
	var shared coll.Shm
	if c.Block != nil || c.Hierarchy != nil {
		var err error
		if shared, err = core.Self().Coll.Shm(c); err != nil {
			return err
		}
	}
	draft.mu.Lock()
	defer draft.mu.Unlock()
	slot := draft.desc
	*slot = C.struct_gompi_comm{
		handle: C.uintptr_t(c.Handle),
		rank:   C.int(c.Rank()), size: C.int(c.Size()), is_inter: C.bool(c.IsInter()),
		id: C.uint64_t(c.Context(comm.PointToPoint)),
	}
	slot.peers = ranksOf(c.Peers(), &pin)
	if c.IsInter() {
		slot.members = ranksOf(c.Group(), &pin)
	}
	if c.Topology != nil {
		var lists []int32
		if slot.topology, lists = topologyOf(c); len(lists) > 0 {
			pin.Pin(&lists[0])
			slot.topology.ranks = (*C.int32_t)(&lists[0])
		}
	}
	if t, _ := shared.(*shmColl); t != nil {
		if slot.hierarchy = t.nodes; t.nodes == nil {
			slot.barrier = (*C.struct_gompi_barrier)(unsafe.Pointer(unsafe.SliceData(c.Block)))
			slot.shm_coll, slot.nbc = t.c, t.nbc
		}
	}
	setShmObject(shared, c.Handle)
	if c.Local != nil {
		setShmObject(core.Self().Coll.OpenedShm(c.Local), c.Handle)
	}
	slot.errhandler.handle = C.uintptr_t(cmp.Or(c.Errhandler, abi.MPI_ERRORS_ARE_FATAL))
	slot.attributes = (*C.struct_gompi_attributes)(pointer(c.Attributes))
	slot.hints, _ = c.Info.(commHints)
	if c.Descriptor = unsafe.Pointer(C.gompi_comm_open(slot)); c.Descriptor == nil {
		return mpierr.New(abi.MPI_ERR_NO_MEM, "out of memory for a communicator")
	}
	return nil
}

// setShmObject sets the communicator whose revocation, and the failure of whose members, end waits in shared-memory
// collectives.
func setShmObject(shared coll.Shm, h uintptr) {
	t, _ := shared.(*shmColl)
	if t == nil {
		return
	}
	if t.c != nil {
		t.c.object, t.nbc.object = C.uint64_t(h), C.uint64_t(h)
	}
	if t.nodes != nil {
		t.nodes.object = C.uint64_t(h)
	}
}

// topologyOf returns the C form of the topology of a communicator, and the list of ranks for the field `ranks` of this
// form (comm/topology.h).
func topologyOf(c *comm.Comm) (C.struct_gompi_topology, []int32) {
	sources, destinations, _ := c.Neighbors()
	out := C.struct_gompi_topology{kind: C.int(c.TopologyKind()), sources: C.int(len(sources)),
		destinations: C.int(len(destinations))}
	lists := slices.Concat(sources, destinations)
	switch t := c.Topology.(type) {
	case *comm.Cart:
		out.n = C.int(len(t.Dims))
		periods := make([]int32, len(t.Dims))
		for i, periodic := range t.Periods {
			if periodic {
				periods[i] = 1
			}
		}
		lists = slices.Concat(lists, t.Dims, periods, t.Coords(c.Rank()))
	case *comm.Graph:
		out.n, out.edges = C.int(len(t.Index)), C.int(len(t.Edges))
		lists = slices.Concat(lists, t.Index, t.Edges)
	case *comm.DistGraph:
		if out.weighted = C.bool(t.Weighted); t.Weighted {
			lists = slices.Concat(lists, t.SourceWeights, t.DestinationWeights)
		}
	}
	return out, lists
}

// descriptorOf returns the comm descriptor in C.
func descriptorOf(c *comm.Comm) *C.struct_gompi_comm { return (*C.struct_gompi_comm)(c.Descriptor) }

// hasBuffer returns true if a buffer has ever been attached to a communicator.
func hasBuffer(c *comm.Comm) bool {
	if c.Descriptor == nil {
		return false
	}
	return atomic.LoadPointer((*unsafe.Pointer)(unsafe.Pointer(&descriptorOf(c).bsend_buffer))) != nil
}

// detachBuffer waits until the messages in a communicator's attached buffer have been sent, and detaches the buffer.
// Its errors are MPI_ERR_PROC_ABORTED and MPI_ERR_INTERN.
func detachBuffer(c *comm.Comm) error {
	if !hasBuffer(c) {
		return nil
	}
	var v C.struct_gompi_error_status
	if class := C.gompi_comm_bsend_detach(C.uintptr_t(c.Handle), &v); class != abi.MPI_SUCCESS {
		return mpierr.New(int32(class), "%s", C.GoString(&v.text[0]))
	}
	return nil
}

// closeComm removes the comm descriptor in C, so that the handle becomes invalid.
func closeComm(c *comm.Comm) {
	if c.Descriptor != nil && descriptorOf(c).plan_cache != nil {
		C.gompi_plan_cache_close(C.uintptr_t(c.Handle))
	}
	if hasBuffer(c) {
		C.gompi_comm_bsend_free(C.uintptr_t(c.Handle))
	}
	C.gompi_comm_close(C.uintptr_t(c.Handle))
}

// attributesOf returns the attributes of a communicator, or nil if the communicator never had attributes.
func attributesOf(c *comm.Comm) *C.struct_gompi_attributes {
	return loadAttributes(unsafe.Pointer(&descriptorOf(c).attributes))
}

// inheritErrhandler returns the error handler of c for a communicator that is derived from c. It acquires a reference
// to the handler.
func inheritErrhandler(c *comm.Comm) uintptr {
	h := atomic.LoadUintptr((*uintptr)(unsafe.Pointer(&descriptorOf(c).errhandler.handle)))
	switch h {
	case abi.MPI_ERRORS_ARE_FATAL, abi.MPI_ERRORS_RETURN, abi.MPI_ERRORS_ABORT: // have no reference count
		return h
	}
	return uintptr(C.gompi_comm_errhandler(C.uintptr_t(c.Handle)))
}

// gompi_barrier_messages executes MPI_Barrier among members that share no memory. It returns the result of the call.
//
//gompi:callback int (uintptr_t comm) as "MPI_Barrier"
//export gompi_barrier_messages
func gompi_barrier_messages(h uintptr) int32 {
	return onComm("MPI_Barrier", h, func(c *comm.Comm) error { return core.Self().Coll.Barrier(c) })
}
