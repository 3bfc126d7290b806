package base

/*
#include "base/table.h"
*/
import "C"

import "unsafe"

// Handles is a table of handles that C makes, for the test that compares its rule with core/handle's.
type Handles struct{ c C.struct_gompi_handles }

// Open makes the table empty.
func (t *Handles) Open(above, numbers uint32) {
	C.gompi_handles_open(&t.c, C.uint32_t(above), C.uint32_t(numbers))
}

// Add returns a handle for some object; 0: as many are live as can be.
func (t *Handles) Add() uintptr {
	return uintptr(C.gompi_handles_add(&t.c, unsafe.Pointer(&C.gompi_table_nothing)))
}

// Remove takes a live handle away.
func (t *Handles) Remove(h uintptr) { C.gompi_handles_remove(&t.c, C.uintptr_t(h)) }

// Close gives the memory back.
func (t *Handles) Close() { C.gompi_handles_close(&t.c) }
