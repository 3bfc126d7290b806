package main

/*
#include "attr.h"
*/
import "C"

import (
	"unsafe"

	"gompirma/core"
	"gompirma/core/abi"
	"gompirma/core/attr"
	"gompirma/core/comm"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
	"gompirma/core/p2p"
	"gompirma/core/rma"
)

// Keyvals and attributes (MPI-5.0 7.7), the predefined ones of communicators (9.1), and the deprecated names of the
// calls on communicators. Each object keeps its attributes in a field of its own, which is made when the first one is
// set.

func init() {
	attr.Copy = func(function, object uintptr, keyval int32, extra, value uintptr) (uintptr, bool, int32) {
		r := C.gompi_attr_call_copy(C.uintptr_t(function), C.uintptr_t(object), C.int(keyval),
			C.uintptr_t(extra), C.uintptr_t(value))
		return uintptr(r.value), r.keep != 0, int32(r.code)
	}
	attr.Delete = func(function, object uintptr, keyval int32, value, extra uintptr) int32 {
		return int32(C.gompi_attr_call_delete(C.uintptr_t(function), C.uintptr_t(object), C.int(keyval),
			C.uintptr_t(value), C.uintptr_t(extra)))
	}
}

// attributesOf returns the table that an object keeps in its field.
func attributesOf(field *any) *attr.Table {
	sidecar.Lock()
	defer sidecar.Unlock()
	if *field == nil {
		*field = &attr.Table{}
	}
	return (*field).(*attr.Table)
}

// hasAttributes returns whether an object has ever had an attribute.
func hasAttributes(field *any) bool {
	sidecar.Lock()
	defer sidecar.Unlock()
	return *field != nil
}

func createKeyval(function string, kind attr.Kind, copyFn, deleteFn, at, extra uintptr) int32 {
	return making(function, at,
		func() (int32, error) { return attr.Create(kind, copyFn, deleteFn, extra), nil })
}

func freeKeyval(function string, kind attr.Kind, at uintptr) int32 {
	return freeing(function, at, abi.MPI_KEYVAL_INVALID,
		func(keyval int32) error { return attr.Free(kind, keyval) })
}

// getAttribute stores the value of an attribute and whether it is set.
func getAttribute(table *attr.Table, kind attr.Kind, keyval int32, value, flag uintptr) error {
	if err := null(value, flag); err != nil {
		return err
	}
	v, ok, err := table.Get(kind, keyval)
	if err != nil {
		return err
	}
	if ok {
		*out[uintptr](value) = v
	}
	putFlag(flag, ok)
	return nil
}

// Communicators.

func commCreateKeyval(function string, copyFn, deleteFn, keyval, extra uintptr) int32 {
	return createKeyval(function, attr.Comm, copyFn, deleteFn, keyval, extra)
}

//export gompi_comm_create_keyval
func gompi_comm_create_keyval(copyFn, deleteFn, keyval, extra uintptr) int32 {
	return commCreateKeyval("MPI_Comm_create_keyval", copyFn, deleteFn, keyval, extra)
}

//export gompi_keyval_create
func gompi_keyval_create(copyFn, deleteFn, keyval, extra uintptr) int32 {
	return commCreateKeyval("MPI_Keyval_create", copyFn, deleteFn, keyval, extra)
}

//export gompi_comm_free_keyval
func gompi_comm_free_keyval(keyval uintptr) int32 {
	return freeKeyval("MPI_Comm_free_keyval", attr.Comm, keyval)
}

//export gompi_keyval_free
func gompi_keyval_free(keyval uintptr) int32 {
	return freeKeyval("MPI_Keyval_free", attr.Comm, keyval)
}

func commSetAttr(function string, h uintptr, keyval int32, value uintptr) int32 {
	return onComm(function, h,
		func(c *comm.Comm) error { return attributesOf(&c.Attrs).Set(attr.Comm, h, keyval, value) })
}

//export gompi_comm_set_attr
func gompi_comm_set_attr(h uintptr, keyval int32, value uintptr) int32 {
	return commSetAttr("MPI_Comm_set_attr", h, keyval, value)
}

//export gompi_attr_put
func gompi_attr_put(h uintptr, keyval int32, value uintptr) int32 {
	return commSetAttr("MPI_Attr_put", h, keyval, value)
}

// gompi_comm_user_attr is MPI_Comm_get_attr for what comm_attr.c does not know: attributes of the application's
// keyvals, and MPI_LASTUSEDCODE.
//
//export gompi_comm_user_attr
func gompi_comm_user_attr(h uintptr, keyval int32, value, flag uintptr) int32 {
	return commGetAttr("MPI_Comm_get_attr", h, keyval, value, flag)
}

// gompi_user_attr is the same for MPI_Attr_get.
//
//export gompi_user_attr
func gompi_user_attr(h uintptr, keyval int32, value, flag uintptr) int32 {
	return commGetAttr("MPI_Attr_get", h, keyval, value, flag)
}

func commGetAttr(function string, h uintptr, keyval int32, value, flag uintptr) int32 {
	return onComm(function, h, func(c *comm.Comm) error {
		if keyval == abi.MPI_LASTUSEDCODE {
			sidecar.Lock()
			defer sidecar.Unlock()
			at := &C.gompi_comm_attributes.lastusedcode
			*at = C.int(mpierr.LastUsed())
			*out[uintptr](value) = uintptr(unsafe.Pointer(at))
			putFlag(flag, true)
			return nil
		}
		return getAttribute(attributesOf(&c.Attrs), attr.Comm, keyval, value, flag)
	})
}

func commDeleteAttr(function string, h uintptr, keyval int32) int32 {
	return onComm(function, h,
		func(c *comm.Comm) error { return attributesOf(&c.Attrs).Delete(attr.Comm, h, keyval) })
}

//export gompi_comm_delete_attr
func gompi_comm_delete_attr(h uintptr, keyval int32) int32 {
	return commDeleteAttr("MPI_Comm_delete_attr", h, keyval)
}

//export gompi_attr_delete
func gompi_attr_delete(h uintptr, keyval int32) int32 {
	return commDeleteAttr("MPI_Attr_delete", h, keyval)
}

// tellCommAttributes says what the predefined attributes are that do not change.
func tellCommAttributes(p *core.Instance) {
	a := &C.gompi_comm_attributes
	a.tag_ub, a.host, a.io = p2p.TagUB, abi.MPI_PROC_NULL, abi.MPI_ANY_SOURCE
	a.wtime_is_global = 0
	if p.Node.N == p.Size { // the clock is a node's
		a.wtime_is_global = 1
	}
	if n, ok := p.Boot.AppNum(); ok {
		a.appnum, a.has_appnum = C.int(n), true
	}
	a.universe_size = C.int(max(0, p.Boot.UniverseSize()))
}

// copyCommAttributes and deleteCommAttributes are for duplicating and freeing.
func copyCommAttributes(from, to *comm.Comm) error {
	if !hasAttributes(&from.Attrs) {
		return nil
	}
	return attributesOf(&from.Attrs).CopyTo(attributesOf(&to.Attrs), handleOrNull(from.Handle),
		handleOrNull(to.Handle))
}

func deleteCommAttributes(c *comm.Comm) error {
	if !hasAttributes(&c.Attrs) {
		return nil
	}
	return attributesOf(&c.Attrs).DeleteAll(handleOrNull(c.Handle))
}

// handleOrNull returns the handle of a communicator for its attributes' functions: MPI_COMM_NULL as long as it has
// none.
func handleOrNull(h uintptr) uintptr {
	if h == 0 {
		return abi.MPI_COMM_NULL
	}
	return h
}

// Windows.

//export gompi_win_create_keyval
func gompi_win_create_keyval(copyFn, deleteFn, keyval, extra uintptr) int32 {
	return createKeyval("MPI_Win_create_keyval", attr.Win, copyFn, deleteFn, keyval, extra)
}

//export gompi_win_free_keyval
func gompi_win_free_keyval(keyval uintptr) int32 {
	return freeKeyval("MPI_Win_free_keyval", attr.Win, keyval)
}

//export gompi_win_set_attr
func gompi_win_set_attr(h uintptr, keyval int32, value uintptr) int32 {
	return onWin("MPI_Win_set_attr", h,
		func(w *rma.Window) error { return attributesOf(&w.Attrs).Set(attr.Win, h, keyval, value) })
}

// gompi_win_user_attr is MPI_Win_get_attr for what is not predefined (win_attr.c).
//
//export gompi_win_user_attr
func gompi_win_user_attr(h uintptr, keyval int32, value, flag uintptr) int32 {
	return onWin("MPI_Win_get_attr", h, func(w *rma.Window) error {
		return getAttribute(attributesOf(&w.Attrs), attr.Win, keyval, value, flag)
	})
}

//export gompi_win_delete_attr
func gompi_win_delete_attr(h uintptr, keyval int32) int32 {
	return onWin("MPI_Win_delete_attr", h,
		func(w *rma.Window) error { return attributesOf(&w.Attrs).Delete(attr.Win, h, keyval) })
}

// deleteWinAttributes is for freeing.
func deleteWinAttributes(w *rma.Window) error {
	if !hasAttributes(&w.Attrs) {
		return nil
	}
	return attributesOf(&w.Attrs).DeleteAll(w.Handle)
}

// Datatypes.

//export gompi_type_create_keyval
func gompi_type_create_keyval(copyFn, deleteFn, keyval, extra uintptr) int32 {
	return createKeyval("MPI_Type_create_keyval", attr.Type, copyFn, deleteFn, keyval, extra)
}

//export gompi_type_free_keyval
func gompi_type_free_keyval(keyval uintptr) int32 {
	return freeKeyval("MPI_Type_free_keyval", attr.Type, keyval)
}

//export gompi_type_set_attr
func gompi_type_set_attr(h uintptr, keyval int32, value uintptr) int32 {
	return onType("MPI_Type_set_attr", h,
		func(t *datatype.Type) error { return attributesOf(&t.Attrs).Set(attr.Type, h, keyval, value) })
}

//export gompi_type_get_attr
func gompi_type_get_attr(h uintptr, keyval int32, value, flag uintptr) int32 {
	return onType("MPI_Type_get_attr", h, func(t *datatype.Type) error {
		return getAttribute(attributesOf(&t.Attrs), attr.Type, keyval, value, flag)
	})
}

//export gompi_type_delete_attr
func gompi_type_delete_attr(h uintptr, keyval int32) int32 {
	return onType("MPI_Type_delete_attr", h,
		func(t *datatype.Type) error { return attributesOf(&t.Attrs).Delete(attr.Type, h, keyval) })
}

func copyTypeAttributes(from, to *datatype.Type) error {
	return attributesOf(&from.Attrs).CopyTo(attributesOf(&to.Attrs), from.Handle(), to.Handle())
}

func deleteTypeAttributes(t *datatype.Type) error {
	return attributesOf(&t.Attrs).DeleteAll(t.Handle())
}
