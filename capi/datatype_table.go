package main

/*
#include "datatype.h"
*/
import "C"

import (
	"unsafe"

	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
)

// The predefined types are in C's table from the beginning.
func init() {
	datatype.Predefined(func(t *datatype.Type) {
		if err := installType(t); err != nil {
			panic(err)
		}
	})
}

// installType gives C the flattened form of a committed type. MPI_ERR_NO_MEM: there is no memory for it.
func installType(t *datatype.Type) error {
	prog := t.Program()
	if !C.gompi_type_install(C.uintptr_t(t.Handle()), (*C.int64_t)(unsafe.Pointer(&prog[0])), C.int64_t(len(prog))) {
		return mpierr.New(abi.MPI_ERR_NO_MEM, "no memory for the %d bytes that describe datatype %s", 8*len(prog), t)
	}
	return nil
}

// removeType takes a type, of which C may not know, from C.
func removeType(t *datatype.Type) { C.gompi_type_remove(C.uintptr_t(t.Handle())) }
