package main

/*
#include <stdlib.h>

#include "comm/comm.h"
#include "info/info.h"
#include "win/hints.h"
*/
import "C"

import (
	"unsafe"

	"gompirma/core/abi"
	"gompirma/core/rma"
)

// What Go asks of info objects, which are C's (capi/info/), and the hints that communicators and windows begin with
// (MPI-5.0 7.4.4, 12.2.7).

// pair is a key of an info object with its value.
type pair struct{ key, value string }

// storeInfo makes an info object and stores its handle. MPI_ERR_NO_MEM.
func storeInfo(at uintptr, pairs []pair) error {
	if err := null(at); err != nil {
		return err
	}
	var text []byte
	for _, p := range pairs {
		text = append(append(append(append(text, p.key...), 0), p.value...), 0)
	}
	text = append(text, 0) // so that there is a first byte
	var h C.MPI_Info
	err := verdictOf(func(v *C.struct_gompi_verdict) C.int {
		return C.gompi_info_make(C.int(len(pairs)), (*C.char)(unsafe.Pointer(&text[0])), &h, v)
	})
	if err != nil {
		return err
	}
	*out[uintptr](at) = uintptr(unsafe.Pointer(h))
	return nil
}

// putFlag stores a logical value.
func putFlag(at uintptr, value bool) {
	*out[int32](at) = 0
	if value {
		*out[int32](at) = 1
	}
}

// infoValue returns the value of one key in an info argument, "" if it is not there. MPI_ERR_INFO: there is no such
// object.
func infoValue(h uintptr, key string) (string, error) {
	var value [C.MPI_MAX_INFO_VAL]C.char
	err := verdictOf(func(v *C.struct_gompi_verdict) C.int {
		return C.gompi_info_value(C.MPI_Info(pointer(h)), cText(key), &value[0], v)
	})
	return C.GoString(&value[0]), err
}

// checkInfo returns an error if an info argument is neither an object nor MPI_INFO_NULL. MPI_ERR_INFO.
func checkInfo(h uintptr) error {
	_, err := infoValue(h, "")
	return err
}

// commHints are the hints of a communicator as C has them.
type commHints = C.struct_gompi_comm_hints

// hintsOf returns the hints of a communicator that is made with an info object; openComm or dropHints takes them.
func hintsOf(h uintptr) (any, error) {
	if h == abi.MPI_INFO_NULL {
		return nil, nil
	}
	var hints commHints
	err := verdictOf(func(v *C.struct_gompi_verdict) C.int {
		return C.gompi_comm_hints_take(&hints, C.MPI_Info(pointer(h)), v)
	})
	return hints, err
}

// dropHints frees the hints of a communicator that is not made, or nil.
func dropHints(hints any) {
	if h, ok := hints.(commHints); ok {
		C.free(unsafe.Pointer(h.kinds))
	}
}

// winHints returns the hints of a window or memory that is made with an info object. MPI_ERR_INFO, MPI_ERR_INFO_VALUE.
func winHints(h uintptr) (hints rma.Hints, err error) {
	var c C.struct_gompi_hints
	err = verdictOf(func(v *C.struct_gompi_verdict) C.int {
		return C.gompi_hints_read(&c, C.MPI_Info(pointer(h)), v)
	})
	if err != nil {
		return rma.DefaultHints(), err
	}
	defer C.free(unsafe.Pointer(c.kinds))
	return rma.Hints{
		Common:    rma.Common{Promises: uint64(c.common.promises), Granularity: uint64(c.common.granularity)},
		Alignment: int64(c.alignment), HugePages: bool(c.huge_pages), InPlace: uint8(c.in_place),
		AllocKinds: C.GoString(c.kinds)}, nil
}
