package main

/*
#include "datatype/atomic.h"
#include "datatype/predefined.h"
*/
import "C"

import "gompirma/core/datatype"

// openTypes passes the properties of the predefined types to C. It is called once for each instance, before any window
// exists.
func openTypes() {
	datatype.Predefined(func(t *datatype.Type) {
		b := t.Basic()
		swappable := false
		switch b.Class {
		case datatype.Signed, datatype.Unsigned, datatype.Logical, datatype.Address, datatype.Byte,
			datatype.Character:
			swappable = true
		}
		C.gompi_type_fill_tables(C.uintptr_t(b.Handle), C.int(b.Size), C.bool(b.Size == b.Extent),
			elementClass(b),
			C.bool(swappable))
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
