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

// Files (MPI-5.0 14): the communicator and the windows that a file owns. capi/file implements the calls.

// gompi_make_file_comm duplicates a communicator, without its attributes, for a file, and stores the handle. The call
// is collective. It returns 0 or an error class. With an error it writes the detail to `text`, of sizeof ((struct
// gompi_error_status *)0)->text bytes, and stores 0 or the handle of a communicator that the caller must free.
//
//gompi:callback int (uintptr_t comm, uintptr_t *own_comm, char *text)
//export gompi_make_file_comm
func gompi_make_file_comm(commHandle, ownComm, text uintptr) (rc int32) {
	defer guard("MPI_File_open", handle.Comm, commHandle, &rc)
	return fileResult(makeFileComm(commHandle, ownComm), text)
}

func makeFileComm(commHandle, ownComm uintptr) error {
	c, err := commOf(commHandle)
	if err != nil {
		return err
	}
	n, err := c.Dup()
	if err != nil {
		return err
	}
	n.Topology, n.Errhandler = nil, abi.MPI_ERRORS_RETURN
	return c.Confirm(storeComm(n, ownComm)) // storeComm frees n if it fails
}

// gompi_make_file_window creates a window on the communicator of a file, with `bytes` bytes of memory at this process,
// and stores the handle. The displacement unit is 8. The call is collective, and its errors are those of
// gompi_make_file_comm.
//
//gompi:callback int (uintptr_t own_comm, int64_t bytes, uintptr_t *win, char *text)
//export gompi_make_file_window
func gompi_make_file_window(ownComm uintptr, bytes int64, win, text uintptr) (rc int32) {
	defer guard("MPI_File_open", handle.Comm, ownComm, &rc)
	spec := rma.Spec{Flavor: abi.MPI_WIN_FLAVOR_ALLOCATE, DispUnit: 8, Size: bytes}
	w, err := rma.Create(core.Self().Windows, lookupComm(ownComm), spec)
	if err == nil {
		*out[uintptr](win) = w.Handle
	}
	return fileResult(err, text)
}

// fileResult returns the error class of err, and writes its detail to `text`.
func fileResult(err error, text uintptr) int32 {
	if err == nil {
		return abi.MPI_SUCCESS
	}
	storeText(text, err)
	return mpierr.ClassOf(err)
}

// gompi_free_file_comm frees the communicator of a file. The call is collective.
//
//gompi:callback void (uintptr_t own_comm)
//export gompi_free_file_comm
func gompi_free_file_comm(ownComm uintptr) {
	var rc int32
	defer guard("MPI_File_close", handle.Comm, ownComm, &rc)
	if c := lookupComm(ownComm); c != nil {
		closeComm(c)
		comm.Handles.Remove(c.Handle)
		c.Free()
	}
}

// gompi_free_file_window frees a window of gompi_make_file_window, or does nothing if `win` is 0. The call is
// collective, unless the communicator of the file is revoked or has a failed member.
//
//gompi:callback void (uintptr_t win, uintptr_t own_comm)
//export gompi_free_file_window
func gompi_free_file_window(win, ownComm uintptr) {
	var rc int32
	defer guard("MPI_File_close", handle.Win, win, &rc)
	w := rma.Lookup(win)
	if w == nil {
		return
	}
	if checkUsable(ownComm, false) != nil || w.Free(func() error { return nil }) != nil {
		w.Abandon()
	}
}

// gompi_run_file_queue executes the queued accesses of a file on a thread of the library.
//
//gompi:callback void (uintptr_t queue)
//export gompi_run_file_queue
func gompi_run_file_queue(queue uintptr) {
	go C.gompi_file_run_queue(C.uintptr_t(queue))
}
