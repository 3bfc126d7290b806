package main

/*
#include "base/abi.h"
#include "comm/failures.h"
*/
import "C"

import (
	"unsafe"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
)

// Agreements among the members that have not failed (ULFM). C implements the functions that do not communicate
// (capi/comm/failures.c).

// gompi_comm_agree executes MPIX_Comm_agree or, if `request` is not 0, MPIX_Comm_iagree.
//
//gompi:callback int (uintptr_t comm, uintptr_t flag, uintptr_t request) as "MPIX_Comm_agree"
//export gompi_comm_agree
func gompi_comm_agree(h, flag, request uintptr) int32 {
	name := "MPIX_Comm_agree"
	if request != 0 {
		name = "MPIX_Comm_iagree"
	}
	return onAnyComm(name, h, func(c *comm.Comm) error {
		acked := make([]byte, len(c.Processes())) // flags of the remote group, if any, then of the local group
		C.gompi_comm_failed_flags(C.uintptr_t(h), true, (*C.uchar)(unsafe.SliceData(acked)))
		agree := c.Agree(out[uint32](flag), acked)
		run := func() error {
			err := agree()
			if mpierr.ClassOf(err) != abi.MPI_ERR_PROC_ABORTED {
				return err
			}
			// not MPIX_ERR_REVOKED if the communicator is revoked (gompi_fault_class)
			return mpierr.New(C.MPIX_ERR_PROC_FAILED, "%s", err.Error())
		}
		if request == 0 {
			return run()
		}
		return runAsRequest(c, request, run)
	})
}

// runAsRequest runs an agreement in the background, and completes the request that it stores.
func runAsRequest(c *comm.Comm, request uintptr, run func() error) error {
	r, err := openRequest(c, request)
	if err != nil {
		return err
	}
	c.Ref()
	go func() {
		err := run()
		c.Unref() // before the completion, after which the application may free c and finalize MPI
		r.complete(err)
	}()
	return nil
}

// gompi_comm_shrink executes MPIX_Comm_shrink or, if `request` is not 0, MPIX_Comm_ishrink.
//
//gompi:callback int (uintptr_t comm, uintptr_t newcomm, uintptr_t request) as "MPIX_Comm_shrink"
//export gompi_comm_shrink
func gompi_comm_shrink(h, newcomm, request uintptr) int32 {
	if request == 0 {
		return newCommOfSome("MPIX_Comm_shrink", h, abi.MPI_INFO_NULL, newcomm,
			func(c *comm.Comm) (*comm.Comm, error) { return c.Shrunk()() })
	}
	return onAnyComm("MPIX_Comm_ishrink", h, func(c *comm.Comm) error {
		d := &idup{newcomm: newcomm, errhandler: inheritErrhandler(c)}
		d.reserve()
		run := c.Shrunk()
		return runAsRequest(c, request, func() error { return d.finish(run()) })
	})
}
