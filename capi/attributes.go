package main

/*
#include "comm/attributes.h"
#include "win/win.h"
*/
import "C"

import (
	"sync/atomic"
	"unsafe"

	"gompirma/core"
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
	"gompirma/core/p2p"
	"gompirma/core/rma"
)

// Attributes when a communicator or window is duplicated or freed, and the predefined attributes of communicators
// (MPI-5.0 9.1). C implements attributes (capi/attribute).

// setCommAttributes sets the values of the predefined attributes that do not change.
func setCommAttributes(p *core.Instance) {
	a := &C.gompi_comm_predefined
	a.tag_ub, a.host, a.io = p2p.TagUB, abi.MPI_PROC_NULL, abi.MPI_ANY_SOURCE
	a.wtime_is_global = 0
	if p.NodeMap.NodeCount == 1 { // processes of one node share MPI_Wtime's clock
		a.wtime_is_global = 1
	}
	if n, ok := p.Boot.AppNum(); ok {
		a.appnum, a.has_appnum = C.int(n), true
	}
	a.universe_size = C.int(max(0, p.Boot.UniverseSize()))
}

// errorOf calls f, which calls a C function that stores its error in the given error status. If f returns an error
// class, errorOf returns the error status as a Go error. If f returns MPI_SUCCESS, errorOf returns nil.
func errorOf(f func(v *C.struct_gompi_error_status) C.int) error {
	var v C.struct_gompi_error_status
	if class := f(&v); class != abi.MPI_SUCCESS {
		return mpierr.New(int32(class), "%s", C.GoString(&v.text[0]))
	}
	return nil
}

// nameOf returns the name that the function f stores in its argument. The result of f is the length of the name.
func nameOf(f func(name *C.char) C.int) string {
	var name [abi.MPI_MAX_OBJECT_NAME]C.char
	return C.GoStringN(&name[0], f(&name[0]))
}

// copyCommAttributes copies the attributes of a communicator for its duplicate, whose comm descriptor in C does not
// exist yet. The caller passes the copy to openComm or dropAttributes.
func copyCommAttributes(from *comm.Comm) (copied uintptr, err error) {
	t := attributesOf(from)
	if t == nil {
		return 0, nil
	}
	err = errorOf(func(v *C.struct_gompi_error_status) C.int {
		var to *C.struct_gompi_attributes
		class := C.gompi_attributes_copy(v, C.GOMPI_KEYVAL_COMM, t, C.uintptr_t(from.Handle),
			abi.MPI_COMM_NULL, &to)
		copied = uintptr(unsafe.Pointer(to))
		return class
	})
	return copied, err
}

// dropAttributes frees the copy of copyCommAttributes if the duplicate could not be created.
func dropAttributes(copied uintptr) {
	C.gompi_attributes_free((*C.struct_gompi_attributes)(pointer(copied)))
}

func deleteAttributes(t *C.struct_gompi_attributes, h uintptr) error {
	if t == nil {
		return nil
	}
	return errorOf(func(v *C.struct_gompi_error_status) C.int {
		return C.gompi_attributes_delete(v, t, C.uintptr_t(h))
	})
}

// loadAttributes returns the attributes of an object in C, or nil if the object never had attributes. The argument `at`
// is the address of the object's pointer to the attributes.
func loadAttributes(at unsafe.Pointer) *C.struct_gompi_attributes {
	// pairs with the release in gompi_attributes_make
	return (*C.struct_gompi_attributes)(atomic.LoadPointer((*unsafe.Pointer)(at)))
}

func deleteCommAttributes(c *comm.Comm) error {
	return deleteAttributes(attributesOf(c), c.Handle)
}

func deleteWinAttributes(w *rma.Window) error {
	d := C.gompi_win_get(C.MPI_Win(pointer(w.Handle)))
	if d == nil {
		return nil
	}
	return deleteAttributes(loadAttributes(unsafe.Pointer(&d.attributes)), w.Handle)
}
