package main

/*
#include "op.h"
*/
import "C"

import "unsafe"

// applyKernel runs the C kernel of a predefined operation on a predefined type (handles) over n elements; false if there is none.
func applyKernel(op, typ uintptr, in, inout unsafe.Pointer, n int) bool {
	return C.gompi_op_apply(C.uintptr_t(op), C.uintptr_t(typ), in, inout, C.size_t(n)) == 0
}
