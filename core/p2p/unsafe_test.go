package p2p

import "unsafe"

// alignedBytes returns n zeroed bytes that begin on a cache line.
func alignedBytes(n int) []byte {
	b := make([]byte, n+line)
	skip := -uintptr(unsafe.Pointer(&b[0])) & (line - 1)
	return b[skip : int(skip)+n]
}
