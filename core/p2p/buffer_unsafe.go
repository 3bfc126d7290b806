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

// kept returns the Go memory of a buffer that Bytes or Copy made.
func (b *Buffer) kept() []byte { return unsafe.Slice(b.keep, b.size) }
