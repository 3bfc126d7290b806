// Package reference owns an implementation in Go of the predefined operations, one element at a time, for tests of the
// production code. It must not know that code.
package reference

import (
	"encoding/binary"
	"math"
	"math/bits"

	"gompirma/core/abi"
	"gompirma/core/datatype"
)

// Combine executes target op= origin. Returns false if Go has no type for the elements: long double and 16-byte reals.
func Combine(h uintptr, b *datatype.Basic, origin, target []byte, n int) bool {
	f := element(h, b)
	if f == nil {
		return false
	}
	for i := 0; i < n; i++ {
		at := int64(i) * b.Extent
		f(origin[at:at+b.Extent], target[at:at+b.Extent])
	}
	return true
}

// element returns the operation on one element: b = b op a.
func element(h uintptr, t *datatype.Basic) func(a, b []byte) {
	switch {
	case h == abi.MPI_NO_OP:
		return func(a, b []byte) {}
	case t.Class == datatype.Pair:
		return pairElement(h, t)
	case h == abi.MPI_REPLACE:
		return func(a, b []byte) { copy(b, a) }
	case t.Long || t.Class == datatype.Floating && t.Size == 16 || t.Class == datatype.Complex && t.Size == 32:
		return nil
	case t.Class == datatype.Floating:
		f := floating(h)
		return func(a, b []byte) { storeFloat(b, f(loadFloat(a), loadFloat(b))) }
	case t.Class == datatype.Complex:
		return complexElement(h, t)
	default:
		signed := t.Class == datatype.Signed || t.Class == datatype.Address || t.Class == datatype.Character
		f := integer(h, signed)
		return func(a, b []byte) { f(loadInt(a, signed), loadInt(b, signed)).store(b) }
	}
}

// wide is an integer of up to 128 bits in two's complement, extended from its own size.
type wide struct{ hi, lo uint64 }

func loadInt(p []byte, signed bool) wide {
	var w wide
	switch len(p) {
	case 1:
		w.lo = uint64(int64(int8(p[0])))
	case 2:
		w.lo = uint64(int64(int16(binary.NativeEndian.Uint16(p))))
	case 4:
		w.lo = uint64(int64(int32(binary.NativeEndian.Uint32(p))))
	case 8:
		w.lo = binary.NativeEndian.Uint64(p)
	default:
		return wide{binary.NativeEndian.Uint64(p[8:]), binary.NativeEndian.Uint64(p)}
	}
	if signed {
		w.hi = uint64(int64(w.lo) >> 63)
	} else {
		w.lo &= 1<<(8*len(p)) - 1
	}
	return w
}

func (w wide) store(p []byte) {
	switch len(p) {
	case 1:
		p[0] = byte(w.lo)
	case 2:
		binary.NativeEndian.PutUint16(p, uint16(w.lo))
	case 4:
		binary.NativeEndian.PutUint32(p, uint32(w.lo))
	default:
		binary.NativeEndian.PutUint64(p, w.lo)
		if len(p) == 16 {
			binary.NativeEndian.PutUint64(p[8:], w.hi)
		}
	}
}

func (w wide) less(x wide, signed bool) bool {
	if w.hi != x.hi {
		if signed {
			return int64(w.hi) < int64(x.hi)
		}
		return w.hi < x.hi
	}
	return w.lo < x.lo
}

func (w wide) truth() bool { return w.hi|w.lo != 0 }

func truth(b bool) wide {
	if b {
		return wide{0, 1}
	}
	return wide{}
}

func integer(h uintptr, signed bool) func(a, b wide) wide {
	switch h {
	case abi.MPI_SUM:
		return func(a, b wide) wide {
			lo, carry := bits.Add64(a.lo, b.lo, 0)
			hi, _ := bits.Add64(a.hi, b.hi, carry)
			return wide{hi, lo}
		}
	case abi.MPI_PROD:
		return func(a, b wide) wide {
			hi, lo := bits.Mul64(a.lo, b.lo)
			return wide{hi + a.hi*b.lo + a.lo*b.hi, lo}
		}
	case abi.MPI_MIN:
		return func(a, b wide) wide {
			if a.less(b, signed) {
				return a
			}
			return b
		}
	case abi.MPI_MAX:
		return func(a, b wide) wide {
			if b.less(a, signed) {
				return a
			}
			return b
		}
	case abi.MPI_BAND:
		return func(a, b wide) wide { return wide{a.hi & b.hi, a.lo & b.lo} }
	case abi.MPI_BOR:
		return func(a, b wide) wide { return wide{a.hi | b.hi, a.lo | b.lo} }
	case abi.MPI_BXOR:
		return func(a, b wide) wide { return wide{a.hi ^ b.hi, a.lo ^ b.lo} }
	case abi.MPI_LAND:
		return func(a, b wide) wide { return truth(a.truth() && b.truth()) }
	case abi.MPI_LOR:
		return func(a, b wide) wide { return truth(a.truth() || b.truth()) }
	default:
		return func(a, b wide) wide { return truth(a.truth() != b.truth()) }
	}
}

// number is a floating-point number: single precision in f if its format has at most 4 bytes (half is calculated in
// single precision), otherwise double precision in d.
type number struct {
	f      float32
	d      float64
	double bool
}

func loadFloat(p []byte) number {
	switch len(p) {
	case 2:
		return number{f: fromHalf(binary.NativeEndian.Uint16(p))}
	case 4:
		return number{f: math.Float32frombits(binary.NativeEndian.Uint32(p))}
	default:
		return number{d: math.Float64frombits(binary.NativeEndian.Uint64(p)), double: true}
	}
}

func storeFloat(p []byte, x number) {
	switch len(p) {
	case 2:
		binary.NativeEndian.PutUint16(p, toHalf(x.f))
	case 4:
		binary.NativeEndian.PutUint32(p, math.Float32bits(x.f))
	default:
		binary.NativeEndian.PutUint64(p, math.Float64bits(x.d))
	}
}

func (x number) less(y number) bool {
	if x.double {
		return x.d < y.d
	}
	return x.f < y.f
}

func (x number) add(y number) number { return number{x.f + y.f, x.d + y.d, x.double} }
func (x number) sub(y number) number { return number{x.f - y.f, x.d - y.d, x.double} }

// mul rounds explicitly, so that no compiler fuses it with an addition.
func (x number) mul(y number) number { return number{float32(x.f * y.f), float64(x.d * y.d), x.double} }

// floating returns an operation whose comparisons are those of C's <: a comparison with NaN is false and leaves b.
func floating(h uintptr) func(a, b number) number {
	switch h {
	case abi.MPI_SUM:
		return func(a, b number) number { return b.add(a) }
	case abi.MPI_PROD:
		return func(a, b number) number { return b.mul(a) }
	case abi.MPI_MIN:
		return func(a, b number) number {
			if a.less(b) {
				return a
			}
			return b
		}
	default:
		return func(a, b number) number {
			if b.less(a) {
				return a
			}
			return b
		}
	}
}

func complexElement(h uintptr, t *datatype.Basic) func(a, b []byte) {
	half := t.Size / 2
	return func(a, b []byte) {
		ar, ai, br, bi := loadFloat(a[:half]), loadFloat(a[half:]), loadFloat(b[:half]), loadFloat(b[half:])
		if h == abi.MPI_SUM {
			br, bi = br.add(ar), bi.add(ai)
		} else {
			br, bi = br.mul(ar).sub(bi.mul(ai)), br.mul(ai).add(bi.mul(ar))
		}
		storeFloat(b[:half], br)
		storeFloat(b[half:], bi)
	}
}

func pairElement(h uintptr, t *datatype.Basic) func(a, b []byte) {
	v, i := datatype.BasicOf(t.Value), datatype.BasicOf(t.Index)
	parts := func(p []byte) (value, index []byte) { return p[:v.Size], p[t.IndexAt : t.IndexAt+i.Size] }
	less := func(b *datatype.Basic) func(x, y []byte) bool {
		if b.Class == datatype.Floating {
			return func(x, y []byte) bool { return loadFloat(x).less(loadFloat(y)) }
		}
		signed := b.Class == datatype.Signed
		return func(x, y []byte) bool { return loadInt(x, signed).less(loadInt(y, signed), signed) }
	}
	equal := func(x, y []byte) bool {
		if v.Class == datatype.Floating {
			return loadFloat(x) == loadFloat(y)
		}
		return string(x) == string(y)
	}
	if t.Long && h != abi.MPI_REPLACE {
		return nil
	}
	lessV, lessI := less(v), less(i)
	return func(a, b []byte) {
		av, ai := parts(a)
		bv, bi := parts(b)
		switch {
		case h == abi.MPI_REPLACE || h == abi.MPI_MINLOC && lessV(av, bv) ||
			h == abi.MPI_MAXLOC && lessV(bv, av):
			copy(bv, av)
			copy(bi, ai)
		case equal(av, bv) && lessI(ai, bi):
			copy(bi, ai)
		}
	}
}

// fromHalf widens an IEEE 754 binary16 number.
func fromHalf(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10&31), uint32(h&0x3ff)
	switch {
	case exp == 31:
		if frac != 0 {
			frac |= 0x200 // a signalling NaN becomes quiet, as in hardware
		}
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	case exp == 0:
		f := float32(frac) / (1 << 24)
		if sign != 0 {
			return -f
		}
		return f
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// toHalf rounds to the nearest binary16 number, ties to even.
func toHalf(f float32) uint16 {
	u := math.Float32bits(f)
	sign, abs := uint16(u>>16)&0x8000, u&0x7fffffff
	switch {
	case abs > 0x7f800000:
		return sign | 0x7e00 | uint16(abs>>13)&0x3ff
	case abs >= 0x477ff000: // rounds to a value above 65504
		return sign | 0x7c00
	case abs < 0x38800000: // subnormal, or zero: in units of 2^-24, which the addition rounds to
		return sign | uint16(math.Float32bits(math.Float32frombits(abs)+0.5)-0x3f000000)
	}
	abs += 0xfff + abs>>13&1
	return sign | uint16((abs>>13)-(112<<10))
}
