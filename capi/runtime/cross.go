package runtime

import "C"

import (
	"unsafe"

	"gompirma/core/stack"
)

// gompi_grow_stack permanently enlarges the stack of the calling thread's goroutine, and returns an address near its
// top.
//
//export gompi_grow_stack
func gompi_grow_stack() uintptr {
	stack.Grow()
	var here byte
	return uintptr(unsafe.Pointer(&here))
}
