package types

import (
	"encoding/binary"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	kernels "gompirma/capi/datatype"
	"gompirma/capi/pack"
	"gompirma/core/abi"
	"gompirma/core/datatype"
)

// TestExternal32 compares the external32 form of some values with the bytes that the standard prescribes.
func TestExternal32(t *testing.T) {
	le := binary.LittleEndian
	x87one := append(le.AppendUint64(nil, 1<<63), 0xff, 0x3f, 0, 0, 0, 0, 0, 0)
	x87minusTwoAndAHalf := append(le.AppendUint64(nil, 5<<61), 0x00, 0xc0, 0, 0, 0, 0, 0, 0)
	for _, c := range []struct {
		typ      uintptr
		native   []byte
		external []byte
	}{
		{abi.MPI_INT, le.AppendUint32(nil, 0x01020304), []byte{1, 2, 3, 4}},
		{abi.MPI_LONG, le.AppendUint64(nil, ^uint64(1)), []byte{0xff, 0xff, 0xff, 0xfe}},
		{abi.MPI_UNSIGNED_LONG, le.AppendUint64(nil, 0xfffffffe), []byte{0xff, 0xff, 0xff, 0xfe}},
		{abi.MPI_INT64_T, le.AppendUint64(nil, 1), []byte{0, 0, 0, 0, 0, 0, 0, 1}},
		{abi.MPI_WCHAR, le.AppendUint32(nil, 0x20ac), []byte{0x20, 0xac}},
		{abi.MPI_DOUBLE, le.AppendUint64(nil, 0x3ff0000000000000), []byte{0x3f, 0xf0, 0, 0, 0, 0, 0, 0}},
		{abi.MPI_C_FLOAT_COMPLEX, []byte{1, 2, 3, 4, 5, 6, 7, 8}, []byte{4, 3, 2, 1, 8, 7, 6, 5}},
		{abi.MPI_SHORT_INT, []byte{1, 2, 0, 0, 3, 4, 5, 6}, []byte{2, 1, 6, 5, 4, 3}},
		{abi.MPI_LONG_DOUBLE, x87one, []byte{0x3f, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
		{abi.MPI_LONG_DOUBLE, x87minusTwoAndAHalf, []byte{0xc0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
			0}},
		{abi.MPI_CHAR, []byte("x"), []byte("x")},
		{abi.MPI_LOGICAL, []byte{1, 0, 0, 0}, []byte{0, 0, 0, 1}},
	} {
		typ := named(c.typ)
		n := kernels.PropsOf(typ.Handle()).External
		require.EqualValues(t, len(c.external), n, typ)
		got := make([]byte, n)
		require.Zero(t, pack.Convert(typ.Handle(), addressOf(c.native, 0), 1, got, true))
		require.Equal(t, c.external, got, typ)
		back := make([]byte, len(c.native))
		pack.Convert(typ.Handle(), addressOf(back, 0), 1, got, false)
		require.Equal(t, c.native, back, typ)
	}
	for _, h := range []uintptr{abi.MPI_LONG, abi.MPI_UNSIGNED_LONG, abi.MPI_WCHAR} {
		native := le.AppendUint64(nil, 1<<31|1<<40)
		require.EqualValues(t, abi.MPI_ERR_CONVERSION,
			pack.Convert(h, addressOf(native, 0), 1, make([]byte, 4), true), named(h))
	}
}

// TestExternalLongDouble checks that a conversion to external32 and back preserves every 80-bit number. Encodings that
// hardware does not produce become the usual encodings of the same values.
func TestExternalLongDouble(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	native, external, back := make([]byte, 16), make([]byte, 16), make([]byte, 16)
	typ := named(abi.MPI_LONG_DOUBLE)
	for range 2000 {
		m, se := r.Uint64()|1<<63, uint16(r.Intn(1<<16))
		switch r.Intn(8) {
		case 0:
			m, se = r.Uint64()>>(1+r.Intn(64)), se&0x8000 // subnormal or zero
		case 1:
			m, se = 1<<63, se|0x7fff
		}
		binary.LittleEndian.PutUint64(native, m)
		binary.LittleEndian.PutUint16(native[8:], se)
		require.Zero(t, pack.Convert(typ.Handle(), addressOf(native, 0), 1, external, true))
		pack.Convert(typ.Handle(), addressOf(back, 0), 1, external, false)
		require.Equal(t, native, back, "%#x %#x", se, m)
	}
	// Fractions of more than 64 bits are rounded: to even, and up into the next power of two.
	for quad, want := range map[[2]uint64][2]uint64{
		{0x3fff << 48, 1 << 48}:               {1 << 63, 0x3fff},
		{0x3fff << 48, 1<<48 + 1}:             {1<<63 | 1, 0x3fff},
		{0x3fff << 48, 3 << 48}:               {1<<63 | 2, 0x3fff},
		{0x3fff<<48 | (1<<48 - 1), 1<<64 - 1}: {1 << 63, 0x4000},
		{1<<48 - 1, 1<<64 - 1}:                {1 << 63, 1},
		{0x7fff << 48, 1}:                     {3 << 62, 0x7fff},
	} {
		binary.BigEndian.PutUint64(external, quad[0])
		binary.BigEndian.PutUint64(external[8:], quad[1])
		pack.Convert(typ.Handle(), addressOf(back, 0), 1, external, false)
		require.Equal(t, want, [2]uint64{binary.LittleEndian.Uint64(back),
			uint64(binary.LittleEndian.Uint16(back[8:]))}, "%#x", quad)
	}
}

// TestExternalRandomTypes checks that packing and unpacking a random type restores its data, element by element in
// typemap order.
func TestExternalRandomTypes(t *testing.T) {
	for seed := int64(0); seed < 2000; seed++ {
		r := rand.New(rand.NewSource(seed))
		typ, m := randomType(t, r, 1+r.Intn(4), 0)
		count := int64(r.Intn(3))
		lo, hi, ok := layoutOf(typ).Bounds(count)
		require.True(t, ok)
		mem := make([]byte, hi-lo)
		r.Read(mem)
		n := count * kernels.PropsOf(typ.Handle()).External
		got, want := make([]byte, n), []byte{}
		require.Zero(t, pack.Convert(typ.Handle(), addressOf(mem, lo), count, got, true))
		for k := int64(0); k < count; k++ {
			for _, e := range m.entries {
				one := make([]byte, e.b.External())
				at := k*(m.ub-m.lb) + e.disp - lo
				native := append(append([]byte{},
					mem[at:min(at+e.b.Extent, int64(len(mem)))]...), make([]byte, 16)...)
				require.Zero(t, pack.Convert(e.b.Handle, addressOf(native, 0), 1, one, true))
				want = append(want, one...)
			}
		}
		require.Equal(t, want, got, "seed %d", seed)
		if layoutOf(typ).Flag(datatype.FlagOverlap) || typ.Extent() < hi-lo && count > 1 {
			continue
		}
		back := make([]byte, hi-lo)
		pack.Convert(typ.Handle(), addressOf(back, lo), count, got, false)
		again := make([]byte, n)
		require.Zero(t, pack.Convert(typ.Handle(), addressOf(back, lo), count, again, true))
		require.Equal(t, got, again, "seed %d", seed)
		FreeAll()
	}
}
