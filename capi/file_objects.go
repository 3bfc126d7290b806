package main

/*
#include "file/file.h"
*/
import "C"

import (
	"gompirma/core"
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
	"gompirma/core/rma"
)

// Files (MPI-5.0 14): the objects that a file owns. capi/file implements the calls.

// gompi_make_file_objects duplicates a communicator, without its attributes, for a file. If the communicator spans
// nodes, it also creates a window with 8 bytes at rank 0 for the shared file pointer. It stores the handles of both.
// The call is collective. It returns 0 or an error class. With an error it writes the detail to `text`, of sizeof
// ((struct gompi_error_status *)0)->text bytes.
//
//gompi:callback int (uintptr_t comm, uintptr_t *own_comm, uintptr_t *win, char *text)
//export gompi_make_file_objects
func gompi_make_file_objects(commHandle, ownComm, win, text uintptr) (rc int32) {
	defer guard("MPI_File_open", handle.Comm, commHandle, &rc)
	err := makeFileObjects(commHandle, ownComm, win)
	if err == nil {
		return abi.MPI_SUCCESS
	}
	storeText(text, err)
	return mpierr.ClassOf(err)
}

func makeFileObjects(commHandle, ownComm, win uintptr) error {
	c, err := commOf(commHandle)
	if err != nil {
		return err
	}
	n, err := c.Dup()
	if err != nil {
		return err
	}
	n.Topology, n.Errhandler = nil, abi.MPI_ERRORS_RETURN
	if err := storeComm(n, ownComm); err != nil {
		return err // storeComm has freed n
	}
	if n.Hierarchy == nil {
		return nil
	}
	spec := rma.Spec{Flavor: abi.MPI_WIN_FLAVOR_ALLOCATE, DispUnit: 8}
	if n.Rank() == 0 {
		spec.Size = 8
	}
	w, err := rma.Create(core.Self().Windows, n, spec)
	if err != nil {
		freeFileComm(n)
		return err
	}
	*out[uintptr](win) = w.Handle
	return nil
}

// freeFileComm frees the communicator of a file.
func freeFileComm(c *comm.Comm) {
	closeComm(c)
	comm.Handles.Remove(c.Handle)
	c.Free()
}

// gompi_free_file_objects frees what gompi_make_file_objects has created. Collective.
//
//gompi:callback void (uintptr_t own_comm, uintptr_t win)
//export gompi_free_file_objects
func gompi_free_file_objects(ownComm, win uintptr) {
	var rc int32
	defer guard("MPI_File_close", handle.Comm, ownComm, &rc)
	if w := rma.Lookup(win); w != nil {
		_ = w.Free(func() error { return nil })
	}
	if c := lookupComm(ownComm); c != nil {
		freeFileComm(c)
	}
}

// gompi_run_file_queue executes the queued accesses of a file on a thread of the library.
//
//gompi:callback void (uintptr_t queue)
//export gompi_run_file_queue
func gompi_run_file_queue(queue uintptr) {
	go C.gompi_file_run_queue(C.uintptr_t(queue))
}
