package runtime

// #include "runtime/leaks.h"
import "C"

import "unsafe"

// heapObject is an object in Go's heap.
var heapObject *int

func init() {
	heapObject = new(int)
	C.gompi_lsan_register_heap(C.uintptr_t(uintptr(unsafe.Pointer(heapObject))))
}
