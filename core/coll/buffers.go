package coll

import (
	"math/bits"
	"sync"

	"gompirma/core/abi"
	"gompirma/core/limit"
	"gompirma/core/mpierr"
)

// noMemory is the value with which alloc panics.
type noMemory struct{ error }

// alloc allocates n bytes for data of a collective call. If memory is short, it panics. The functions that execute a
// call defer recoverNoMemory, which turns this panic into the call's error.
func alloc(n int) []byte {
	b, err := limit.Bytes(int64(n))
	if err != nil {
		panic(noMemory{mpierr.New(abi.MPI_ERR_NO_MEM, "%v", err)})
	}
	return b
}

// callBuffers is the memory that a blocking call uses. Later calls reuse it. If each call allocated its memory, calls
// with much data would start the garbage collector every few calls, on the cores that move the data. The pools are
// sync.Pools, so the collector frees buffers that stay unused. The memory is not zeroed.
type callBuffers struct{ acquired []*[]byte }

// The sizes of pooled buffers begin at minPooledBytes. There are sizesPerDoubling sizes, evenly spaced, from each power
// of two to the next.
const (
	minPooledBytes   = 32 << 10
	sizesPerDoubling = 8
	sizesShift       = 3 // log2 of sizesPerDoubling
)

var bufferPools [64 * sizesPerDoubling]sync.Pool

// poolSize returns the size of the pooled buffers that serve a request of n bytes, and their index in bufferPools. The
// size is n rounded up to a multiple of 1<<shift, an eighth of the power of two below n.
func poolSize(n int) (size, place int) {
	shift := bits.Len(uint(n-1)) - 1 - sizesShift
	steps := (n - 1) >> shift // sizesPerDoubling to 2*sizesPerDoubling-1
	return (steps + 1) << shift, shift*sizesPerDoubling + steps - sizesPerDoubling
}

// alloc allocates n bytes like the function alloc, from a pooled buffer if possible.
func (r *callBuffers) alloc(n int) []byte {
	if n < minPooledBytes {
		return alloc(n)
	}
	size, place := poolSize(n)
	b, ok := bufferPools[place].Get().(*[]byte)
	if !ok {
		whole := alloc(size)
		b = &whole
	}
	r.acquired = append(r.acquired, b)
	return (*b)[:n:n]
}

// release makes the memory available to other calls. Precondition: nothing refers to the memory any longer.
func (r *callBuffers) release() {
	for _, b := range r.acquired {
		_, place := poolSize(len(*b))
		bufferPools[place].Put(b)
	}
	r.acquired = nil
}

// recoverNoMemory recovers from a panic of alloc and stores MPI_ERR_NO_MEM to *err. A call defers it at its beginning.
func recoverNoMemory(err *error) {
	switch p := recover().(type) {
	case nil:
	case noMemory:
		*err = p.error
	default:
		panic(p)
	}
}
