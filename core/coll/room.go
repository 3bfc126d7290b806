package coll

import (
	"math/bits"
	"sync"

	"gompirma/core/abi"
	"gompirma/core/limit"
	"gompirma/core/mpierr"
)

// noRoom is the value with which room panics.
type noRoom struct{ error }

// room allocates n bytes for data of a call. If there is no memory for them it panics; orNoRoom at the beginning of the
// call turns the panic into the call's error.
func room(n int) []byte {
	b, err := limit.Bytes(int64(n))
	if err != nil {
		panic(noRoom{mpierr.New(abi.MPI_ERR_NO_MEM, "%v", err)})
	}
	return b
}

// rooms is memory of a blocking call until its end; then other calls reuse it. A new allocation for each call would
// start the garbage collector every few calls with much data, on the cores that move the data. The collector frees
// buffers that are unused for long (sync.Pool). The memory is not zeroed.
type rooms struct{ taken []*[]byte }

// Buffers have eight sizes between a power of two and the next, from leastSpare on.
const (
	leastSpare  = 32 << 10
	spareSteps  = 8
	spareShifts = 3 // log2 of spareSteps
)

var spares [64 * spareSteps]sync.Pool

// spareSize returns the size of the buffers that serve n bytes, and their index in spares.
func spareSize(n int) (size, place int) {
	shift := bits.Len(uint(n-1)) - 1 - spareShifts
	steps := (n - 1) >> shift // spareSteps to 2*spareSteps-1
	return (steps + 1) << shift, shift*spareSteps + steps - spareSteps
}

// room allocates n bytes like the function room, from a cached buffer if possible.
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

// end makes the memory available to other calls. Precondition: nothing refers to it any longer.
func (r *rooms) end() {
	for _, b := range r.taken {
		_, place := spareSize(len(*b))
		spares[place].Put(b)
	}
	r.taken = nil
}

// orNoRoom recovers from a panic of room and stores MPI_ERR_NO_MEM to *err. Deferred at the beginning of a call.
func orNoRoom(err *error) {
	switch p := recover().(type) {
	case nil:
	case noRoom:
		*err = p.error
	default:
		panic(p)
	}
}
