package collectives

import (
	"fmt"
	"math/rand"
	"sync/atomic"
	"unsafe"

	"gompirma/core/coll"
	"gompirma/tests/go/types"
)

// input returns the random data that process i contributes.
func input(seed, i, size int) []byte {
	b := make([]byte, size)
	rand.New(rand.NewSource(int64(seed)*1000 + int64(i))).Read(b)
	return b
}

// compose is an associative operation that is not commutative: the composition of maps. An element of 2 bytes (a, b) is
// the map x -> a*x+b modulo 256.
func compose(in, inout []byte) error {
	if len(in) != len(inout) || len(in)%2 != 0 {
		return fmt.Errorf("combine of %d and %d bytes", len(in), len(inout))
	}
	for i := 0; i < len(in); i += 2 {
		a, b := in[i], in[i+1]
		inout[i], inout[i+1] = a*inout[i], a*inout[i+1]+b
	}
	return nil
}

// reduction returns the expected result: the inputs of ranks [lo, hi) reduced from left to right.
func reduction(seed, lo, hi, size int) []byte {
	acc := input(seed, lo, size)
	for i := lo + 1; i < hi; i++ {
		next := input(seed, i, size)
		if err := compose(acc, next); err != nil {
			panic(err)
		}
		acc = next
	}
	return acc
}

// pack copies the data of the buffer b to dst.
func pack(dst []byte, b *coll.Buffer) {
	types.Pack(dst, b.Addr, b.Count, b.Type.Program(), 0)
}

// unpack copies src to the data of the buffer b.
func unpack(b *coll.Buffer, src []byte) {
	types.Unpack(b.Addr, b.Count, b.Type.Program(), 0, src)
}

// address returns the address of b, or 0 for an empty slice. The caller keeps b alive. The address stays valid, because
// the assignment to lastAddressed makes the compiler allocate b on the heap: a goroutine's stack may move.
func address(b []byte) uintptr {
	lastAddressed.Store(unsafe.SliceData(b))
	return uintptr(unsafe.Pointer(unsafe.SliceData(b)))
}

var lastAddressed atomic.Pointer[byte]
