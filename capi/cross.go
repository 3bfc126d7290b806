package main

/*
#include "cross.h"
*/
import "C"

import (
	"unsafe"

	"gompirma/core/stack"
)

// gompi_grow_stack makes the stack of the calling thread's goroutine large, for good, and returns an address near its
// top.
//
//export gompi_grow_stack
func gompi_grow_stack() uintptr {
	stack.Grow()
	var here byte
	return uintptr(unsafe.Pointer(&here))
}
