package coll

import (
	"math/bits"
	"sync"

	"gompirma/core/abi"
	"gompirma/core/limit"
	"gompirma/core/mpierr"
)

// noRoom is what room panics with.
type noRoom struct{ error }

// room returns n bytes of the library's own for data of a call. Without memory for them it panics, which whoever began
// the call turns into its error (orNoRoom).
func room(n int) []byte {
	b, err := limit.Bytes(int64(n))
	if err != nil {
		panic(noRoom{mpierr.New(abi.MPI_ERR_NO_MEM, "%v", err)})
	}
	return b
}

// rooms is memory that a blocking call has until it ends, when other calls get it: to make it anew each time would have
// the garbage collector run in every few calls with much data, on the cores that move that. What nobody takes for long
// goes to the collector. It is not zero.
type rooms struct{ taken []*[]byte }

// Buffers are of eight sizes between a power of two and the next, from leastSpare on.
const (
	leastSpare  = 32 << 10
	spareSteps  = 8
	spareShifts = 3 // log2 of that
)

var spares [64 * spareSteps]sync.Pool

// spareSize returns the size of the buffers that n bytes come from, and their place in spares.
func spareSize(n int) (size, place int) {
	shift := bits.Len(uint(n-1)) - 1 - spareShifts
	steps := (n - 1) >> shift // spareSteps to 2*spareSteps-1
	return (steps + 1) << shift, shift*spareSteps + steps - spareSteps
}

// room returns n bytes as the function room does.
func (r *rooms) room(n int) []byte {
	if n < leastSpare {
		return room(n)
	}
	size, place := spareSize(n)
	b, ok := spares[place].Get().(*[]byte)
	if !ok {
		whole := room(size)
		b = &whole
	}
	r.taken = append(r.taken, b)
	return (*b)[:n:n]
}

// end gives the memory away, which nothing refers to any longer.
func (r *rooms) end() {
	for _, b := range r.taken {
		_, place := spareSize(len(*b))
		spares[place].Put(b)
	}
	r.taken = nil
}

// orNoRoom is deferred where a call begins. MPI_ERR_NO_MEM.
func orNoRoom(err *error) {
	switch p := recover().(type) {
	case nil:
	case noRoom:
		*err = p.error
	default:
		panic(p)
	}
}
