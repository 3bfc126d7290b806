package main

/*
#include "base/go_callbacks.h"
*/
import "C"

import (
	"unsafe"

	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
)

// Packing in the canonical representation (MPI-5.0 5.3). No function communicates or blocks.

// externalType checks the arguments of a call on data in the canonical representation. It returns the type, and the
// packed size of count copies in bytes.
func externalType(datarep uintptr, count int64, h uintptr) (*datatype.Type, int64, error) {
	if rep := cString(datarep); rep != "external32" {
		return nil, 0, mpierr.New(abi.MPI_ERR_ARG, "datarep is %q; only \"external32\" is supported", rep)
	}
	t, err := datatype.GetCommitted(h)
	if err != nil {
		return nil, 0, err
	}
	if count < 0 {
		return nil, 0, mpierr.New(abi.MPI_ERR_COUNT, "count is %d; it must not be negative", count)
	}
	n, ok := t.ExternalSize(count)
	l := t.Layout()
	_, _, bounded := l.Bounds(count)
	if _, sized := l.Packed(count); !ok || !bounded || !sized {
		return nil, 0, mpierr.New(abi.MPI_ERR_COUNT, "%d elements of datatype %s exceed the range of 64-bit "+
			"sizes", count, t)
	}
	return t, n, nil
}

// gompi_external_in_go packs or unpacks data, beginning at the given position in the packed buffer, and advances the
// position (pack/external.c).
//
//gompi:callback int (const struct gompi_external *x, bool packs) as x->call
//export gompi_external_in_go
func gompi_external_in_go(arguments uintptr, packs bool) int32 {
	x := out[C.struct_gompi_external](arguments)
	return runNoObject(C.GoString(x.call), func() error {
		count, packed, size := int64(x.count), uintptr(x.packed), int64(x.packed_bytes)
		if err := checkNotNull("position", uintptr(unsafe.Pointer(x.position))); err != nil {
			return err
		}
		t, n, err := externalType(uintptr(unsafe.Pointer(x.datarep)), count,
			uintptr(unsafe.Pointer(x.datatype)))
		if err != nil {
			return err
		}
		at := int64(*x.position)
		switch {
		case at < 0 || at > size:
			return mpierr.New(abi.MPI_ERR_ARG, "position is %d, but the packed buffer has %d bytes", at,
				size)
		case n > size-at:
			return mpierr.New(abi.MPI_ERR_TRUNCATE,
				"%d bytes from position %d exceed the packed buffer of %d bytes", n, at, size)
		case n == 0:
			return nil
		case datatype.IsUnmapped(packed, at):
			return mpierr.New(abi.MPI_ERR_BUFFER,
				"the packed buffer %#x is not valid memory for %d bytes", packed, n)
		}
		if err := t.InMemory("data's", uintptr(x.data), count); err != nil {
			return err
		}
		bytes := slice[byte](packed+uintptr(at), int(n))
		if packs {
			err = t.PackExternal(bytes, uintptr(x.data), count)
		} else {
			t.UnpackExternal(uintptr(x.data), bytes, count)
		}
		if err == nil {
			*x.position += C.MPI_Aint(n)
		}
		return err
	})
}

// gompi_external_size_in_go implements MPI_Pack_external_size for the cases that pack/external.c leaves to Go.
//
//gompi:callback int (const char *call, const char *datarep, int64_t count, uintptr_t datatype, int64_t *size) as call
//export gompi_external_size_in_go
func gompi_external_size_in_go(function, datarep uintptr, count int64, h, size uintptr) int32 {
	return storeNoObject(cString(function), "size", size, func() (int64, error) {
		_, n, err := externalType(datarep, count, h)
		return n, err
	})
}
