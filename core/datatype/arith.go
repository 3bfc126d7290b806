package datatype

import "math/bits"

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
