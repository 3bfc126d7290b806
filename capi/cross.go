package main

/*
#include "cross.h"
*/
import "C"

import (
	"unsafe"

	"gompirma/core/boot/pmi1"
	"gompirma/core/stack"
)

func init() {
	pmi1.TakeSignals = func() { C.gompi_take_signals() }
}

// gompi_grow_stack makes the stack of the calling thread's goroutine large, for good, and returns an address near its
// top.
//
//export gompi_grow_stack
func gompi_grow_stack() uintptr {
	stack.Grow()
	var here byte
	return uintptr(unsafe.Pointer(&here))
}
