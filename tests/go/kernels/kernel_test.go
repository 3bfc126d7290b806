// Package kernels tests the C loops of the predefined operations, which core/op calls.
package kernels

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	kernels "gompirma/capi/datatype"
	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/op"
)

func init() { op.Kernel = kernels.Apply }

// fillElement writes a random value of type b to p. The value is often an edge case of comparisons and carries.
func fillElement(r *rand.Rand, b *datatype.Basic, p []byte) {
	switch {
	case b.Class == datatype.Pair:
		v, i := datatype.BasicOf(b.Value), datatype.BasicOf(b.Index)
		fillElement(r, v, p[:v.Size])
		fillElement(r, i, p[b.IndexAt:b.IndexAt+i.Size])
	case b.Class == datatype.Complex || b.Class == datatype.Floating:
		size := int(b.Size)
		if b.Class == datatype.Complex {
			size /= 2
		}
		for at := 0; at < int(b.Size); at += size {
			values := []float64{0, math.Copysign(0, -1), 1, -1, 1.5, math.NaN(), math.Inf(1), math.Inf(-1),
				r.NormFloat64(), r.NormFloat64() * 1e3}
			x := values[r.Intn(len(values))]
			switch size {
			case 2:
				binary.NativeEndian.PutUint16(p[at:], uint16(r.Intn(1<<16)))
			case 4:
				binary.NativeEndian.PutUint32(p[at:], math.Float32bits(float32(x)))
			case 8:
				binary.NativeEndian.PutUint64(p[at:], math.Float64bits(x))
			}
		}
	default:
		r.Read(p)
		switch r.Intn(4) {
		case 0:
			clear(p)
		case 1:
			clear(p)
			p[0] = byte(r.Intn(3))
		}
	}
}

// isNaN reports whether the floating-point number p is NaN. The tests do not compare the bits of a NaN, because the
// payload of the sum of two NaN values depends on the hardware.
func isNaN(p []byte) bool {
	switch len(p) {
	case 2:
		return binary.NativeEndian.Uint16(p)&0x7fff > 0x7c00
	case 4:
		return binary.NativeEndian.Uint32(p)&0x7fffffff > 0x7f800000
	default:
		return binary.NativeEndian.Uint64(p)&(1<<63-1) > 0x7ff<<52
	}
}

// TestKernelsAgainstGo checks that the C loops support the same pairs of operation and type as the implementation in
// Go, and give the same results. It tests all alignments, and few and many elements.
func TestKernelsAgainstGo(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 16, 203} {
		compareKernels(t, n)
	}
}

// compareKernels compares all C loops with the implementation in Go, for n elements.
func compareKernels(t *testing.T, n int) {
	r := rand.New(rand.NewSource(int64(n)))
	pairs := 0
	for h := uintptr(abi.MPI_OP_NULL); h < 0x40; h++ {
		o, err := op.Get(h)
		for typ := uintptr(abi.MPI_DATATYPE_NULL); typ < 0x300; typ++ {
			b := datatype.BasicOf(typ)
			none := op.Kernel(h, typ, []byte{0}, []byte{0}, 0)
			if err != nil || b == nil || !op.Defined(h, b) {
				require.False(t, none, "kernel for op %#x, type %#x", h, typ)
				continue
			}
			require.True(t, none, "no kernel for %s on %s", o, b.Name)
			pairs++
			shift := r.Intn(2)
			origin, target := make([]byte, n*int(b.Extent)+1)[shift:],
				make([]byte, n*int(b.Extent)+1)[shift:]
			for i := 0; i < n; i++ {
				at := i * int(b.Extent)
				fillElement(r, b, origin[at:at+int(b.Extent)])
				fillElement(r, b, target[at:at+int(b.Extent)])
				if r.Intn(4) == 0 {
					copy(target[at:], origin[at:at+int(b.Extent)])
				}
			}
			want, got := append([]byte{}, target...), append([]byte{}, target...)
			if !combine(h, b, origin, want, n) {
				continue // Go has no such type; TestLongKernels tests it
			}
			require.NoError(t, o.Combine(b, origin, got, n))
			part := int(b.Size)
			if b.Class == datatype.Complex {
				part /= 2
			}
			if b.Class == datatype.Floating || b.Class == datatype.Complex {
				for at := 0; at+part <= len(want); at += part {
					if isNaN(want[at:at+part]) && isNaN(got[at:at+part]) {
						clear(want[at : at+part])
						clear(got[at : at+part])
					}
				}
			}
			for i := 0; i < n; i++ {
				at, end := i*int(b.Extent), (i+1)*int(b.Extent)
				require.Equal(t, want[at:end], got[at:end], "%s on %s: %x op %x", o, b.Name,
					target[at:end], origin[at:end])
			}
		}
	}
	require.Greater(t, pairs, 400)
}

// x87 converts an integer to the x87 format of 80 bits. The function quad converts it to IEEE quadruple precision.
func x87(x int) []byte {
	p := make([]byte, 16)
	if x != 0 {
		m, e := uint64(max(x, -x)), uint16(16383+63)
		for ; m>>63 == 0; m <<= 1 {
			e--
		}
		binary.LittleEndian.PutUint64(p, m)
		binary.LittleEndian.PutUint16(p[8:], e)
		if x < 0 {
			p[9] |= 0x80
		}
	}
	return p
}

func quad(x int) []byte {
	p := make([]byte, 16)
	if x != 0 {
		l := x87(x)
		m := binary.LittleEndian.Uint64(l) << 1 // without the leading 1 bit
		binary.LittleEndian.PutUint64(p[6:], m)
		binary.LittleEndian.PutUint16(p[14:], binary.LittleEndian.Uint16(l[8:]))
	}
	return p
}

// TestLongKernels checks operations on the floating-point formats that Go does not have. The operands have integral
// values.
func TestLongKernels(t *testing.T) {
	join := func(f func(int) []byte, x ...int) (out []byte) {
		for _, v := range x {
			out = append(out, f(v)...)
		}
		return out
	}
	for _, c := range []struct {
		op, typ              uintptr
		f                    func(int) []byte
		origin, target, want []int
	}{
		{abi.MPI_SUM, abi.MPI_LONG_DOUBLE, x87, []int{3, -5}, []int{4, 5}, []int{7, 0}},
		{abi.MPI_MIN, abi.MPI_LONG_DOUBLE, x87, []int{3, -5}, []int{4, 5}, []int{3, -5}},
		{abi.MPI_PROD, abi.MPI_REAL16, quad, []int{3, -5}, []int{4, 5}, []int{12, -25}},
		{abi.MPI_MAX, abi.MPI_REAL16, quad, []int{3, -5}, []int{4, 5}, []int{4, 5}},
		{abi.MPI_PROD, abi.MPI_C_LONG_DOUBLE_COMPLEX, x87, []int{1, 2}, []int{3, 4}, []int{-5, 10}},
		{abi.MPI_SUM, abi.MPI_COMPLEX32, quad, []int{1, 2}, []int{3, 4}, []int{4, 6}},
	} {
		name := fmt.Sprintf("%#x on %s", c.op, datatype.BasicOf(c.typ).Name)
		b := datatype.BasicOf(c.typ)
		got := join(c.f, c.target...)
		require.True(t, op.Kernel(c.op, c.typ, join(c.f, c.origin...), got, len(got)/int(b.Extent)), name)
		want := join(c.f, c.want...)
		for at := 0; at < len(want); at += 16 {
			require.Equal(t, want[at:at+10], got[at:at+10], name)
		}
	}
	pair := func(v, i int) []byte {
		p := make([]byte, 32)
		copy(p, x87(v))
		binary.LittleEndian.PutUint32(p[16:], uint32(i))
		return p
	}
	got := append(append(pair(5, 3), pair(5, 3)...), pair(6, 3)...)
	require.True(t, op.Kernel(abi.MPI_MAXLOC, abi.MPI_LONG_DOUBLE_INT, append(append(pair(7, 9), pair(5, 1)...),
		pair(5, 1)...), got, 3))
	want := append(append(pair(7, 9), pair(5, 1)...), pair(6, 3)...)
	for at := 0; at < len(want); at += 16 {
		require.Equal(t, want[at:at+10], got[at:at+10])
	}
}

func bytesOf[T any](v ...T) []byte {
	return append([]byte{}, unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))...)
}

// TestReference checks that the C loops and the implementation in Go compute the results that are listed here.
func TestReference(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	negZero := math.Copysign(0, -1)
	type doubleInt struct {
		v float64
		i int32
		_ int32
	}
	for _, c := range []struct {
		name           string
		op, typ        uintptr
		origin, target []byte
		want           []byte
	}{
		{"int8 wraps", abi.MPI_SUM, abi.MPI_INT8_T, bytesOf[int8](100, -100), bytesOf[int8](100, -100),
			bytesOf[int8](-56, 56)},
		{"uint16 product wraps", abi.MPI_PROD, abi.MPI_UINT16_T, bytesOf[uint16](65535), bytesOf[uint16](65535),
			bytesOf[uint16](1)},
		{"int64 product wraps", abi.MPI_PROD, abi.MPI_INT64_T, bytesOf[int64](math.MaxInt64), bytesOf[int64](2),
			bytesOf[int64](-2)},
		{"unsigned min", abi.MPI_MIN, abi.MPI_UINT16_T, bytesOf[uint16](0x8000), bytesOf[uint16](1),
			bytesOf[uint16](1)},
		{"unsigned max", abi.MPI_MAX, abi.MPI_UINT32_T, bytesOf[uint32](0x80000000), bytesOf[uint32](1),
			bytesOf[uint32](0x80000000)},
		{"signed min", abi.MPI_MIN, abi.MPI_INT16_T, bytesOf[int16](-1), bytesOf[int16](1), bytesOf[int16](-1)},
		{"128 bits carry", abi.MPI_SUM, abi.MPI_INTEGER16, bytesOf[uint64](1, 0),
			bytesOf[uint64](math.MaxUint64, 0), bytesOf[uint64](0, 1)},
		{"128 bits min", abi.MPI_MIN, abi.MPI_INTEGER16, bytesOf[uint64](5, math.MaxUint64),
			bytesOf[uint64](4, 0), bytesOf[uint64](5, math.MaxUint64)},
		{"128 bits product", abi.MPI_PROD, abi.MPI_INTEGER16, bytesOf[uint64](1<<63, 0), bytesOf[uint64](6, 0),
			bytesOf[uint64](0, 3)},
		{"logical and of any true", abi.MPI_LAND, abi.MPI_INT, bytesOf[int32](2, 2), bytesOf[int32](4, 0),
			bytesOf[int32](1, 0)},
		{"logical xor", abi.MPI_LXOR, abi.MPI_C_BOOL, bytesOf[uint8](1, 1, 0), bytesOf[uint8](0, 1, 0),
			bytesOf[uint8](1, 0, 0)},
		{"bitwise on bytes", abi.MPI_BXOR, abi.MPI_BYTE, []byte{0xf0}, []byte{0xff}, []byte{0x0f}},
		{"min with NaN leaves the target", abi.MPI_MIN, abi.MPI_DOUBLE, bytesOf(nan, 1), bytesOf(1, nan),
			bytesOf(1, nan)},
		{"min of zeros leaves the target", abi.MPI_MIN, abi.MPI_DOUBLE, bytesOf(negZero, 0),
			bytesOf(0, negZero), bytesOf(0, negZero)},
		{"sum of infinities", abi.MPI_SUM, abi.MPI_DOUBLE, bytesOf(inf), bytesOf(1.0), bytesOf(inf)},
		{"complex product", abi.MPI_PROD, abi.MPI_C_FLOAT_COMPLEX, bytesOf[float32](1, 2),
			bytesOf[float32](3, 4), bytesOf[float32](-5, 10)},
		{"replace", abi.MPI_REPLACE, abi.MPI_CHAR, []byte("ab"), []byte("xy"), []byte("ab")},
		{"no op", abi.MPI_NO_OP, abi.MPI_CHAR, []byte("ab"), []byte("xy"), []byte("xy")},
		{
			"minloc", abi.MPI_MINLOC, abi.MPI_DOUBLE_INT,
			bytesOf(doubleInt{v: 1, i: 7}, doubleInt{v: 2, i: 3}, doubleInt{v: 3, i: 3}),
			bytesOf(doubleInt{v: 2, i: 1}, doubleInt{v: 2, i: 4}, doubleInt{v: 2, i: 9}),
			bytesOf(doubleInt{v: 1, i: 7}, doubleInt{v: 2, i: 3}, doubleInt{v: 2, i: 9}),
		},
		{"maxloc of Fortran pairs", abi.MPI_MAXLOC, abi.MPI_2REAL, bytesOf[float32](3, 2),
			bytesOf[float32](3, 5), bytesOf[float32](3, 2)},
	} {
		o, err := op.Get(c.op)
		require.NoError(t, err)
		b := datatype.BasicOf(c.typ)
		require.True(t, op.Defined(c.op, b), c.name)
		got, reference := append([]byte{}, c.target...), append([]byte{}, c.target...)
		require.NoError(t, o.Combine(b, c.origin, got, len(got)/int(b.Extent)))
		require.Equal(t, c.want, got, c.name)
		require.True(t, combine(c.op, b, c.origin, reference, len(reference)/int(b.Extent)))
		require.Equal(t, c.want, reference, c.name)
	}
}
