package op

import (
	"encoding/binary"
	"math"
	"math/rand"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
)

func bytesOf[T any](v ...T) []byte {
	return append([]byte{}, unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))...)
}

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
		o, err := Get(c.op)
		require.NoError(t, err)
		b := datatype.BasicOf(c.typ)
		require.True(t, Defined(c.op, b), c.name)
		got, told := append([]byte{}, c.target...), append([]byte{}, c.target...)
		require.NoError(t, o.Combine(b, c.origin, got, len(got)/int(b.Extent)))
		require.Equal(t, c.want, got, c.name)
		require.True(t, reference(c.op, b, c.origin, told, len(told)/int(b.Extent)))
		require.Equal(t, c.want, told, c.name)
	}
}

// TestHalf converts every binary16 number there and back and looks at the roundings that go wrong most easily.
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

func TestDefined(t *testing.T) {
	class := func(op, typ uintptr) int32 {
		o, err := Get(op)
		require.NoError(t, err)
		d, err := datatype.Get(typ)
		require.NoError(t, err)
		return mpierr.ClassOf(o.ForReduce(d))
	}
	for _, ok := range [][2]uintptr{
		{abi.MPI_SUM, abi.MPI_AINT}, {abi.MPI_MAX, abi.MPI_INTEGER8}, {abi.MPI_BOR, abi.MPI_INTEGER},
		{abi.MPI_LAND, abi.MPI_LOGICAL},
		{abi.MPI_PROD, abi.MPI_C_LONG_DOUBLE_COMPLEX}, {abi.MPI_MINLOC, abi.MPI_SHORT_INT},
		{abi.MPI_BAND, abi.MPI_BYTE}, {abi.MPI_SUM, abi.MPI_REAL2},
		{abi.MPI_SUM, abi.MPI_CHAR}, {abi.MPI_LAND, abi.MPI_CHARACTER}, {abi.MPI_BOR, abi.MPI_CHARACTER},
		{abi.MPI_LAND, abi.MPI_AINT}, {abi.MPI_LOR, abi.MPI_COUNT}, {abi.MPI_LXOR, abi.MPI_OFFSET},
	} {
		require.EqualValues(t, abi.MPI_SUCCESS, class(ok[0], ok[1]), "%#x", ok)
	}
	for _, bad := range [][2]uintptr{
		{abi.MPI_SUM, abi.MPI_WCHAR}, {abi.MPI_SUM, abi.MPI_BYTE}, {abi.MPI_SUM, abi.MPI_C_BOOL},
		{abi.MPI_MAX, abi.MPI_COMPLEX}, {abi.MPI_BAND, abi.MPI_DOUBLE},
		{abi.MPI_LAND, abi.MPI_INTEGER}, {abi.MPI_LAND, abi.MPI_DOUBLE}, {abi.MPI_LOR, abi.MPI_REAL8},
		{abi.MPI_MINLOC, abi.MPI_INT}, {abi.MPI_SUM, abi.MPI_2INT},
		{abi.MPI_SUM, abi.MPI_PACKED}, {abi.MPI_REPLACE, abi.MPI_INT}, {abi.MPI_NO_OP, abi.MPI_INT},
	} {
		require.EqualValues(t, abi.MPI_ERR_OP, class(bad[0], bad[1]), "%#x", bad)
	}
}

// A predefined operation is for predefined types only, a user's for any.
func TestForReduceOfDerivedTypes(t *testing.T) {
	sum, _ := Get(abi.MPI_SUM)
	integer, _ := datatype.Get(abi.MPI_INT)
	double, _ := datatype.Get(abi.MPI_DOUBLE)
	vector, err := datatype.Vector(datatype.Small, 3, 2, 4, integer)
	require.NoError(t, err)
	require.EqualValues(t, abi.MPI_ERR_OP, mpierr.ClassOf(sum.ForReduce(vector)))
	mixed, err := datatype.Struct(datatype.Small, []int64{1, 1}, []int64{0, 8}, []*datatype.Type{integer, double})
	require.NoError(t, err)
	user, err := Create(1, false, true)
	require.NoError(t, err)
	require.NoError(t, user.ForReduce(mixed))
	require.NoError(t, user.Free())
	require.NoError(t, vector.Free())
	require.NoError(t, mixed.Free())
}

func TestHandles(t *testing.T) {
	for _, h := range []uintptr{0, abi.MPI_OP_NULL, 0x3f, abi.MPI_INT, 0x08000000, ^uintptr(0)} {
		_, err := Get(h)
		require.EqualValues(t, abi.MPI_ERR_OP, mpierr.ClassOf(err), "%#x", h)
	}
	o, err := Create(0x1234, true, false)
	require.NoError(t, err)
	got, err := Get(o.Handle())
	require.NoError(t, err)
	require.Same(t, o, got)
	require.False(t, o.Commutative())
	require.NoError(t, o.Free())
	require.EqualValues(t, abi.MPI_ERR_OP, mpierr.ClassOf(o.Free()))
	_, err = Get(o.Handle())
	require.EqualValues(t, abi.MPI_ERR_OP, mpierr.ClassOf(err))
	max, _ := Get(abi.MPI_MAX)
	require.True(t, max.Commutative())
	require.EqualValues(t, abi.MPI_ERR_OP, mpierr.ClassOf(max.Free()))
	_, err = Create(0, false, true)
	require.EqualValues(t, abi.MPI_ERR_ARG, mpierr.ClassOf(err))
	require.Zero(t, table.Len())
}

// TestUserCountBeyondInt: a function without _c gets at most 2^31-1 elements at a time.
func TestUserCountBeyondInt(t *testing.T) {
	type call struct {
		in    uintptr
		count int64
	}
	var calls []call
	CallUser = func(_ uintptr, _ bool, in, _ uintptr, count int64,
		_ uintptr) {
		calls = append(calls, call{in, count})
	}
	defer func() { CallUser = nil }()
	integer, _ := datatype.Get(abi.MPI_INT)
	for _, large := range []bool{false, true} {
		o, err := Create(1, large, true)
		require.NoError(t, err)
		require.NoError(t, o.Call(integer, 16, 32, 1<<32))
		require.NoError(t, o.Free())
	}
	const most = 1<<31 - 1
	require.Equal(t, []call{{16, most}, {16 + 4*most, most}, {16 + 8*most, 2}, {16, 1 << 32}}, calls)
}

// The loops for few elements give the bits of the reference, NaN, infinities and overflow included.
func TestFew(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	loops := 0
	for h := uintptr(abi.MPI_SUM); h <= abi.MPI_MAXLOC; h++ {
		datatype.Predefined(func(d *datatype.Type) {
			b := d.Basic()
			if !Defined(h, b) {
				return
			}
			for n := 1; n <= fewMost; n++ {
				x, y := make([]byte, n*int(b.Extent)), make([]byte, n*int(b.Extent))
				rnd.Read(x)
				rnd.Read(y)
				if b.Class == datatype.Floating && b.Size == 8 {
					copy(x, bytesOf(math.NaN()))
					copy(x[len(x)-8:], bytesOf(math.Inf(1)))
					copy(y[len(y)-8:], bytesOf(math.Inf(-1)))
				}
				want, got := append([]byte{}, y...), append([]byte{}, y...)
				if !few(h, b, x, got, n) {
					require.Equal(t, y, got)
					return
				}
				loops++
				require.True(t, reference(h, b, x, want, n))
				if b.Class == datatype.Floating { // which NaN comes out of a sum is open
					for i := 0; i < n; i++ {
						w, g := want[i*int(b.Size):][:b.Size], got[i*int(b.Size):][:b.Size]
						if isNaN(w) && isNaN(g) {
							copy(g, w)
						}
					}
				}
				require.Equal(t, want, got, "%#x on %s", h, b.Name)
			}
		})
	}
	require.Greater(t, loops, 3*10*fewMost)
}

func isNaN(b []byte) bool {
	if len(b) == 4 {
		f := math.Float32frombits(binary.NativeEndian.Uint32(b))
		return f != f
	}
	return math.IsNaN(math.Float64frombits(binary.NativeEndian.Uint64(b)))
}
