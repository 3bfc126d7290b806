package p2p

import "unsafe"

// view returns n bytes at an address of the application as a slice, for the length of one call.
func view(addr uintptr, n int64) []byte {
	if n == 0 {
		return nil
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), n)
}

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(startOf(b))) }

func startOf(b []byte) *byte { return unsafe.SliceData(b) }

// addressOfProgram returns where a datatype's program lies, which the datatype keeps.
func addressOfProgram(p []int64) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(p))) }
