package base

/*
#include "base/table.h"
*/
import "C"

import "unsafe"

// Handles is a table of handles that C creates. A test compares its handles with those of core/handle.
type Handles struct{ c C.struct_gompi_handles }

// Open initializes an empty table. The parameter `above` holds the constant high bits of each handle. The parameter
// `numbers` is the largest number in the low bits.
func (t *Handles) Open(above, numbers uint32) {
	C.gompi_handles_open(&t.c, C.uint32_t(above), C.uint32_t(numbers))
}

// Add creates a handle for a placeholder object and returns it. It returns 0 if the maximum number of handles is live.
func (t *Handles) Add() uintptr {
	return uintptr(C.gompi_handles_add(&t.c, unsafe.Pointer(&C.gompi_table_empty)))
}

// Remove removes a live handle.
func (t *Handles) Remove(h uintptr) { C.gompi_handles_remove(&t.c, C.uintptr_t(h)) }

// Close frees the memory of the table.
func (t *Handles) Close() { C.gompi_handles_close(&t.c) }
