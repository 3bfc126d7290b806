package datatype

/*
#include "datatype/op.h"
*/
import "C"

import "unsafe"

// Apply implements core/op's Kernel with the loops of op_kernels.c.
func Apply(op, typ uintptr, origin, target []byte, n int) bool {
	return C.gompi_op_apply(C.uintptr_t(op), C.uintptr_t(typ), unsafe.Pointer(unsafe.SliceData(origin)),
		unsafe.Pointer(unsafe.SliceData(target)), C.size_t(n)) == 0
}
