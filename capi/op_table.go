package main

/*
#include "datatype/op.h"
*/
import "C"

import (
	"unsafe"

	"gompirma/core/op"
)

func init() { op.Kernel = applyKernel }

// applyKernel is op.Kernel: the loops of op_kernels.c.
func applyKernel(op, typ uintptr, origin, target []byte, n int) bool {
	return C.gompi_op_apply(C.uintptr_t(op), C.uintptr_t(typ), unsafe.Pointer(unsafe.SliceData(origin)),
		unsafe.Pointer(unsafe.SliceData(target)), C.size_t(n)) == 0
}
