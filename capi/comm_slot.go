package main

/*
#include "coll/kept.h"
#include "comm/comm.h"
*/
import "C"

import (
	"runtime"
	"unsafe"

	"gompirma/core"
	"gompirma/core/abi"
	"gompirma/core/coll"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
)

// openComm tells C of a communicator that the application gets a handle of. MPI_ERR_NO_MEM.
func openComm(c *comm.Comm) error {
	first, stride, list := c.Peers().Form()
	slot := C.struct_gompi_comm{
		handle: C.uintptr_t(c.Handle),
		rank:   C.int(c.Rank()), size: C.int(c.Size()), inter: C.bool(c.IsInter()),
		id: C.uint64_t(c.Context(comm.PointToPoint)),
	}
	slot.peers.n, slot.peers.first, slot.peers.stride = C.int32_t(c.RemoteSize()), C.int32_t(first),
		C.int32_t(stride)
	var pin runtime.Pinner
	defer pin.Unpin()
	if len(list) > 0 {
		pin.Pin(&list[0])
		slot.peers.list = (*C.int32_t)(&list[0])
	}
	if sources, destinations, err := c.Neighbors(); err == nil {
		_, grid := c.Topology.(*comm.Cart)
		edges := C.struct_gompi_edges{any: true, grid: C.bool(grid), sources: C.int(len(sources)),
			destinations: C.int(len(destinations))}
		if ranks := coll.Members(sources, destinations); len(ranks) > 0 {
			pin.Pin(&ranks[0])
			edges.ranks = (*C.int32_t)(&ranks[0])
		}
		slot.edges = edges
	}
	switch t := core.Self().Coll.Slots(c).(type) {
	case *slots:
		slot.barrier = (*C.struct_gompi_barrier)(unsafe.Pointer(unsafe.SliceData(c.Block)))
		t.c.object = C.uint64_t(c.Handle)
		slot.slots, slot.board = t.c, t.board
		t.board.object = C.uint64_t(c.Handle)
	case *hierarchy:
		t.c.object = C.uint64_t(c.Handle)
		if t.onNode != nil {
			t.onNode.c.object = C.uint64_t(c.Handle)
		}
		slot.hierarchy = t.c
	}
	slot.attributes = (*C.struct_gompi_attributes)(pointer(c.Attributes))
	if !C.gompi_comm_open(&slot) {
		return mpierr.New(abi.MPI_ERR_NO_MEM, "no memory for a communicator's slot")
	}
	return nil
}

// closeComm makes a handle unknown to C.
func closeComm(h uintptr) {
	C.gompi_kept_close(C.uintptr_t(h))
	C.gompi_comm_close(C.uintptr_t(h))
}

// gompi_barrier_messages is MPI_Barrier among members that share no memory.
//
//export gompi_barrier_messages
func gompi_barrier_messages(h uintptr) int32 {
	return onComm("MPI_Barrier", h, func(c *comm.Comm) error { return core.Self().Coll.Barrier(c) })
}
