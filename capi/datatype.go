package main

/*
#include "base/go_callbacks.h"
#include "datatype/atomic.h"
#include "datatype/attributes.h"
#include "datatype/predefined.h"
*/
import "C"

import (
	kernels "gompirma/capi/datatype"
	"gompirma/core/abi"
	"gompirma/core/datatype"
)

// Connects core/datatype to the datatypes of C (capi/datatype).

func init() {
	datatype.Named = func(h uintptr) string {
		return nameOf(func(name *C.char) C.int { return C.gompi_type_name(C.uintptr_t(h), name) })
	}
	datatype.Pack, datatype.Unpack, datatype.Handles = kernels.Pack, kernels.Unpack, kernels.Handles{}
	datatype.Predefined(func(t *datatype.Type) {
		b := t.Basic()
		count, bytes := b.Numbers()
		kernels.Install(b.Handle, b.Name, t.Program(), kernels.Props{Size: b.Size, Extent: b.Extent,
			TrueExtent: b.End(), BasicCount: count, BasicBytes: bytes, External: b.External(),
			Combiner: abi.MPI_COMBINER_NAMED, Align: int32(b.Align), SwapUnit: b.Reversed()})
	})
}

// fillTypeTables passes the properties of the predefined types to C's fast paths. It is called once for each instance,
// before any window exists.
func fillTypeTables() {
	datatype.Predefined(func(t *datatype.Type) {
		b := t.Basic()
		swappable := false
		switch b.Class {
		case datatype.Signed, datatype.Unsigned, datatype.Logical, datatype.Address, datatype.Byte,
			datatype.Character:
			swappable = true
		}
		C.gompi_type_fill_tables(C.uintptr_t(b.Handle), C.int(b.Size), C.bool(b.Size == b.Extent),
			elementClass(b), C.bool(swappable))
	})
}

// elementClass returns the class of atomic updates for the elements of a predefined type.
func elementClass(b *datatype.Basic) C.int {
	sized := func(classes ...C.int) C.int {
		for i, c := range classes {
			if b.Size == 1<<i && b.Extent == b.Size {
				return c
			}
		}
		return C.GOMPI_NO_CLASS
	}
	switch b.Class {
	case datatype.Signed, datatype.Address, datatype.Character:
		return sized(C.GOMPI_I8, C.GOMPI_I16, C.GOMPI_I32, C.GOMPI_I64)
	case datatype.Unsigned:
		return sized(C.GOMPI_U8, C.GOMPI_U16, C.GOMPI_U32, C.GOMPI_U64)
	case datatype.Floating:
		return sized(C.GOMPI_NO_CLASS, C.GOMPI_NO_CLASS, C.GOMPI_F32, C.GOMPI_F64)
	case datatype.Logical:
		return sized(C.GOMPI_L8, C.GOMPI_L16, C.GOMPI_L32, C.GOMPI_L64)
	case datatype.Byte, datatype.Packed:
		return sized(C.GOMPI_BYTE)
	}
	return C.GOMPI_NO_CLASS
}

// gompi_f90_kind stores the handle of the predefined type that has the representation of the type of
// MPI_Type_create_f90_integer, MPI_Type_create_f90_real or MPI_Type_create_f90_complex, selected by `combiner`, with
// precision p and range r. It returns the result of the MPI function. datatype/named.c calls gompi_f90_kind when a type
// is first requested.
//
//gompi:callback int (const char *call, int combiner, int p, int r, MPI_Datatype *named) as call
//export gompi_f90_kind
func gompi_f90_kind(function uintptr, combiner, p, r int32, named uintptr) int32 {
	return storeNoObject(cString(function), "named", named, func() (uintptr, error) {
		b, err := datatype.F90Kind(combiner, p, r)
		if err != nil {
			return 0, err
		}
		return b.Handle, nil
	})
}
