package kernels

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/datatype"
)

// combine executes target = target op origin in Go for n elements. It returns false for long double and reals of 16
// bytes, for which Go has no type.
func combine(h uintptr, b *datatype.Basic, origin, target []byte, n int) bool {
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
	case h == abi.MPI_REPLACE && t.Class != datatype.Pair:
		return func(a, b []byte) { copy(b, a) }
	case t.Class == datatype.Pair && (!t.Long || h == abi.MPI_REPLACE):
		return func(a, b []byte) { combinePair(h, t, a, b) }
	case t.Long || t.Class == datatype.Floating && t.Size == 16 || t.Class == datatype.Complex && t.Size == 32:
		return nil
	case t.Class == datatype.Floating:
		return func(a, b []byte) { storeFloat(b, floating(h, len(b), loadFloat(a), loadFloat(b))) }
	case t.Class == datatype.Complex:
		return func(a, b []byte) { combineComplex(h, a, b) }
	}
	return func(a, b []byte) { storeInt(b, integer(h, loadInt(t, a), loadInt(t, b))) }
}

// isSigned reports whether the elements of an integer type are signed.
func isSigned(t *datatype.Basic) bool {
	return t.Class == datatype.Signed || t.Class == datatype.Address || t.Class == datatype.Character
}

func loadInt(t *datatype.Basic, p []byte) *big.Int {
	bigEndian := slices.Clone(p)
	slices.Reverse(bigEndian)
	x := new(big.Int).SetBytes(bigEndian)
	if isSigned(t) && x.Bit(8*len(p)-1) == 1 {
		x.Sub(x, modulus(p))
	}
	return x
}

// storeInt stores the low bits of x in the size of p.
func storeInt(p []byte, x *big.Int) {
	new(big.Int).Mod(x, modulus(p)).FillBytes(p)
	slices.Reverse(p)
}

// modulus returns the number of different values of an integer that has the size of p.
func modulus(p []byte) *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(8*len(p))) }

func integer(h uintptr, a, b *big.Int) *big.Int {
	x := new(big.Int)
	truth := func(v bool) *big.Int {
		if v {
			x.SetInt64(1)
		}
		return x
	}
	switch h {
	case abi.MPI_SUM:
		return x.Add(a, b)
	case abi.MPI_PROD:
		return x.Mul(a, b)
	case abi.MPI_MIN:
		if a.Cmp(b) < 0 {
			return a
		}
		return b
	case abi.MPI_MAX:
		if a.Cmp(b) > 0 {
			return a
		}
		return b
	case abi.MPI_BAND:
		return x.And(a, b)
	case abi.MPI_BOR:
		return x.Or(a, b)
	case abi.MPI_BXOR:
		return x.Xor(a, b)
	case abi.MPI_LAND:
		return truth(a.Sign() != 0 && b.Sign() != 0)
	case abi.MPI_LOR:
		return truth(a.Sign() != 0 || b.Sign() != 0)
	}
	return truth((a.Sign() != 0) != (b.Sign() != 0))
}

func loadFloat(p []byte) float64 {
	switch len(p) {
	case 2:
		return float64(fromHalf(binary.NativeEndian.Uint16(p)))
	case 4:
		return float64(math.Float32frombits(binary.NativeEndian.Uint32(p)))
	}
	return math.Float64frombits(binary.NativeEndian.Uint64(p))
}

func storeFloat(p []byte, x float64) {
	switch len(p) {
	case 2:
		binary.NativeEndian.PutUint16(p, toHalf(float32(x)))
	case 4:
		binary.NativeEndian.PutUint32(p, math.Float32bits(float32(x)))
	default:
		binary.NativeEndian.PutUint64(p, math.Float64bits(x))
	}
}

// round rounds x, the result of an operation on numbers of `bytes` bytes, to the precision in which C computes. That is
// single precision for numbers of at most 4 bytes, also for half precision. The explicit conversions, also of a float64
// to float64, forbid the Go compiler to fuse a multiplication with a following addition.
func round(bytes int, x float64) float64 {
	if bytes <= 4 {
		return float64(float32(x))
	}
	return float64(x)
}

// floating returns a op b. Its comparisons follow < in C: with NaN they are false, so that the result of MPI_MIN and
// MPI_MAX is b.
func floating(h uintptr, bytes int, a, b float64) float64 {
	switch {
	case h == abi.MPI_SUM:
		return round(bytes, b+a)
	case h == abi.MPI_PROD:
		return round(bytes, b*a)
	case h == abi.MPI_MIN && a < b || h == abi.MPI_MAX && b < a:
		return a
	}
	return b
}

func combineComplex(h uintptr, a, b []byte) {
	half := len(a) / 2
	ar, ai, br, bi := loadFloat(a[:half]), loadFloat(a[half:]), loadFloat(b[:half]), loadFloat(b[half:])
	r := func(x float64) float64 { return round(half, x) }
	if h == abi.MPI_SUM {
		br, bi = r(br+ar), r(bi+ai)
	} else {
		br, bi = r(r(br*ar)-r(bi*ai)), r(r(br*ai)+r(bi*ar))
	}
	storeFloat(b[:half], br)
	storeFloat(b[half:], bi)
}

func combinePair(h uintptr, t *datatype.Basic, a, b []byte) {
	value, index := datatype.BasicOf(t.Value), datatype.BasicOf(t.Index)
	end := t.IndexAt + index.Size
	av, ai, bv, bi := a[:value.Size], a[t.IndexAt:end], b[:value.Size], b[t.IndexAt:end]
	if h == abi.MPI_REPLACE {
		copy(bv, av)
		copy(bi, ai)
		return
	}
	less, equal, greater := compare(value, av, bv)
	firstIndex, _, _ := compare(index, ai, bi)
	switch {
	case h == abi.MPI_MINLOC && less || h == abi.MPI_MAXLOC && greater:
		copy(bv, av)
		copy(bi, ai)
	case equal && firstIndex:
		copy(bi, ai)
	}
}

// compare returns the order of two values of a type. With NaN, all three results are false.
func compare(t *datatype.Basic, a, b []byte) (less, equal, greater bool) {
	if t.Class == datatype.Floating {
		x, y := loadFloat(a), loadFloat(b)
		return x < y, x == y, x > y
	}
	order := loadInt(t, a).Cmp(loadInt(t, b))
	return order < 0, order == 0, order > 0
}

// fromHalf widens an IEEE 754 binary16 number.
func fromHalf(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10&31), uint32(h&0x3ff)
	switch {
	case exp == 31:
		if frac != 0 {
			frac |= 0x200 // like the hardware, turns a signaling NaN into a quiet one
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

// toHalf rounds to the nearest binary16 number, and ties to even.
func toHalf(f float32) uint16 {
	u := math.Float32bits(f)
	sign, abs := uint16(u>>16)&0x8000, u&0x7fffffff
	switch {
	case abs > 0x7f800000:
		return sign | 0x7e00 | uint16(abs>>13)&0x3ff
	case abs >= 0x477ff000: // rounds to a value above 65504
		return sign | 0x7c00
	case abs < 0x38800000: // subnormal or zero: the addition rounds to units of 2^-24
		return sign | uint16(math.Float32bits(math.Float32frombits(abs)+0.5)-0x3f000000)
	}
	abs += 0xfff + abs>>13&1
	return sign | uint16((abs>>13)-(112<<10))
}

// TestHalf checks that every binary16 number survives conversion to float32 and back, and checks difficult roundings.
func TestHalf(t *testing.T) {
	for h := 0; h < 1<<16; h++ {
		f := fromHalf(uint16(h))
		if f != f {
			require.NotZero(t, toHalf(f)&0x3ff)
			continue
		}
		require.Equal(t, uint16(h), toHalf(f), "%#x is %g", h, f)
	}
	for f, want := range map[float32]uint16{
		65504: 0x7bff, 65519.996: 0x7bff, 65520: 0x7c00, 1e9: 0x7c00, 1 + 1.0/2048: 0x3c00,
		1 + 3.0/2048: 0x3c02, 1.0 / (1 << 25): 0, 1.5 / (1 << 25): 1,
		2047.0 / (1 << 25): 0x400, -1: 0xbc00,
	} {
		require.Equal(t, want, toHalf(f), "%g", f)
	}
}
