package p2p

import "unsafe"

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(startOf(b))) }

func startOf(b []byte) *byte { return unsafe.SliceData(b) }

// addressOfProgram returns the address of a datatype's program, which the datatype keeps alive.
func addressOfProgram(p []int64) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(p))) }
