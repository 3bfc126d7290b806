package main

/*
#include "coll/comm.h"
*/
import "C"

import (
	"unsafe"

	"gompirma/core"
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
)

// openComm tells C of a communicator that the application gets a handle of. MPI_ERR_NO_MEM.
func openComm(c *comm.Comm) error {
	var barrier unsafe.Pointer
	if c.Block != nil && !c.IsInter() {
		barrier = unsafe.Pointer(unsafe.SliceData(c.Block))
	}
	if !C.gompi_comm_open(C.uintptr_t(c.Handle), C.int(c.Rank()), C.int(c.Size()), barrier) {
		return mpierr.New(abi.MPI_ERR_NO_MEM, "no memory for a communicator's slot")
	}
	return nil
}

// closeComm makes a handle unknown to C.
func closeComm(h uintptr) { C.gompi_comm_close(C.uintptr_t(h)) }

// gompi_barrier_messages is MPI_Barrier among members that share no memory.
//
//export gompi_barrier_messages
func gompi_barrier_messages(comm uintptr) (rc int32) {
	defer guard("MPI_Barrier", handle.Comm, comm, &rc)
	c, err := commOf(comm)
	if err == nil {
		err = core.Self().Coll.Barrier(c)
	}
	return finish("MPI_Barrier", handle.Comm, comm, err)
}
