package types

import (
	"math/bits"

	"gompirma/core/datatype"
)

// Layout is the description of a type by its program, for a type of this process or of another one. The zero value is
// not valid.
type Layout struct {
	prog []int64
}

// Flag returns whether all given flags are set.
func (l Layout) Flag(f int64) bool { return l.prog[datatype.HeadFlags]&f == f }

// Size returns the bytes of data of one copy.
func (l Layout) Size() int64 { return l.prog[datatype.HeadSize] }

// Segments returns the number of contiguous parts of one copy.
func (l Layout) Segments() int64 { return l.prog[datatype.HeadSegments] }

// Contiguous returns whether count copies are count*Size bytes without a gap, beginning at Origin.
func (l Layout) Contiguous() bool { return l.Flag(datatype.FlagContiguous) }

// Origin returns the displacement of the first byte in typemap order.
func (l Layout) Origin() int64 { return l.prog[datatype.HeadOrigin] }

// Packed returns the bytes of data of count copies; ok is false if that does not fit 64 bits or count is negative.
func (l Layout) Packed(count int64) (n int64, ok bool) {
	var a arith
	n = a.mul(count, l.prog[datatype.HeadSize])
	return n, !a.overflow && count >= 0
}

// Bounds returns the lowest byte and one past the highest byte that count copies touch, relative to the buffer's
// address; both are 0 if the copies have no bytes. It returns ok = false if a bound does not fit 64 bits or count is
// negative.
func (l Layout) Bounds(count int64) (lo, hi int64, ok bool) {
	if count < 0 {
		return 0, 0, false
	}
	if count == 0 || l.prog[datatype.HeadSize] == 0 {
		return 0, 0, true
	}
	var a arith
	lo, hi = l.prog[datatype.HeadTrueLB], l.prog[datatype.HeadTrueUB]
	if last := a.mul(count-1, l.prog[datatype.HeadExtent]); last >= 0 {
		hi = a.add(hi, last)
	} else {
		lo = a.add(lo, last)
	}
	return lo, hi, !a.overflow
}

// layoutOf commits a type and returns its layout.
func layoutOf(t *Type) Layout { return Layout{program(t)} }

// program commits a type and returns its program.
func program(t *Type) []int64 { return Commit(t).Program() }

// arith computes with 64-bit integers and records whether any result has overflowed.
type arith struct{ overflow bool }

func (a *arith) add(x, y int64) int64 {
	s := x + y
	if (x >= 0) == (y >= 0) && (s >= 0) != (x >= 0) {
		a.overflow = true
	}
	return s
}

func (a *arith) sub(x, y int64) int64 {
	d := x - y
	if (x >= 0) != (y >= 0) && (d >= 0) != (x >= 0) {
		a.overflow = true
	}
	return d
}

func (a *arith) mul(x, y int64) int64 {
	neg := (x < 0) != (y < 0)
	hi, lo := bits.Mul64(magnitude(x), magnitude(y))
	limit := uint64(1)<<63 - 1
	if neg {
		limit++
	}
	if hi != 0 || lo > limit {
		a.overflow = true
	}
	if neg {
		return -int64(lo)
	}
	return int64(lo)
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}
