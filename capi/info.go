package main

/*
#include <stdlib.h>

#include "comm/comm.h"
#include "info/info.h"
#include "info/z_calls.h"
#include "win/hints.h"
*/
import "C"

import (
	"unsafe"

	"gompirma/core/abi"
	"gompirma/core/rma"
)

// Access to info objects, which C implements (capi/info/), and the initial hints of communicators and windows (MPI-5.0
// 7.4.4, 12.2.7).

// pair is a key of an info object with its value.
type pair struct{ key, value string }

// storeInfo creates an info object and stores its handle. It returns MPI_ERR_NO_MEM if out of memory.
func storeInfo(at uintptr, pairs []pair) error {
	if err := checkNotNull("info", at); err != nil {
		return err
	}
	var text []byte
	for _, p := range pairs {
		text = append(append(append(append(text, p.key...), 0), p.value...), 0)
	}
	text = append(text, 0) // so that text[0] exists
	var h C.MPI_Info
	err := errorOf(func(v *C.struct_gompi_error_status) C.int {
		return C.gompi_info_make(C.int(len(pairs)), (*C.char)(unsafe.Pointer(&text[0])), &h, v)
	})
	if err != nil {
		return err
	}
	*out[uintptr](at) = uintptr(unsafe.Pointer(h))
	return nil
}

// putFlag stores a logical value as the C int 0 or 1.
func putFlag(at uintptr, value bool) {
	*out[int32](at) = 0
	if value {
		*out[int32](at) = 1
	}
}

// infoValue returns the value of a key in an info argument, or "" if the key is not set. It returns MPI_ERR_INFO if no
// info object has the handle.
func infoValue(h uintptr, key string) (string, error) {
	var value [C.MPI_MAX_INFO_VAL]C.char
	err := errorOf(func(v *C.struct_gompi_error_status) C.int {
		return C.gompi_info_value(C.MPI_Info(pointer(h)), cText(key), &value[0], v)
	})
	return C.GoString(&value[0]), err
}

// reportResource sets the key that names the resource by which MPI_COMM_TYPE_HW_UNGUIDED has divided a communicator.
func reportResource(h uintptr) {
	if h != abi.MPI_INFO_NULL && h != abi.MPI_INFO_ENV {
		C.gompi_info_set(C.MPI_Info(pointer(h)), cText("mpi_hw_resource_type"), cText("mpi_shared_memory"))
	}
}

// checkInfo returns MPI_ERR_INFO if an info argument is neither an object nor MPI_INFO_NULL.
func checkInfo(h uintptr) error {
	_, err := infoValue(h, "")
	return err
}

// commHints is the C form of the hints of a communicator.
type commHints = C.struct_gompi_comm_hints

// hintsOf returns the hints of an info object for a new communicator. The caller passes them to openComm or dropHints.
func hintsOf(h uintptr) (any, error) {
	if h == abi.MPI_INFO_NULL {
		return nil, nil
	}
	var hints commHints
	err := errorOf(func(v *C.struct_gompi_error_status) C.int {
		return C.gompi_comm_hints_set(&hints, C.MPI_Info(pointer(h)), v)
	})
	return hints, err
}

// dropHints frees the hints of a communicator that could not be created. The argument `hints` may be nil.
func dropHints(hints any) {
	if h, ok := hints.(commHints); ok {
		C.free(unsafe.Pointer(h.alloc_kinds))
	}
}

// winHints returns the hints of an info object for a new window or for MPI_Alloc_mem. Its errors are MPI_ERR_INFO and
// MPI_ERR_INFO_VALUE.
func winHints(h uintptr) (hints rma.Hints, err error) {
	var c C.struct_gompi_hints
	err = errorOf(func(v *C.struct_gompi_error_status) C.int {
		return C.gompi_hints_read(&c, C.MPI_Info(pointer(h)), v)
	})
	if err != nil {
		return rma.DefaultHints(), err
	}
	var kinds *string
	if c.kinds != nil {
		kinds = new(string)
		*kinds = C.GoString(c.kinds)
		C.free(unsafe.Pointer(c.kinds))
	}
	return rma.Hints{
		Common:    rma.Common{Promises: uint64(c.common.promises), Granularity: uint64(c.common.granularity)},
		Alignment: int64(c.alignment), HugePages: bool(c.huge_pages), InPlace: uint8(c.in_place),
		AllocKinds: kinds}, nil
}
