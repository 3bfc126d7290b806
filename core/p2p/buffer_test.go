package p2p

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/datatype"
)

func predefined(t *testing.T, h uintptr) *datatype.Type {
	x, err := datatype.Get(h)
	require.NoError(t, err)
	return x
}

func TestTypedRefuses(t *testing.T) {
	ints := predefined(t, abi.MPI_INT)
	mem := make([]byte, 100)
	for _, c := range []struct {
		name  string
		addr  uintptr
		count int64
		class int32
	}{
		{"negative count", addressOf(mem), -1, abi.MPI_ERR_COUNT},
		{"huge count", addressOf(mem), 1 << 62, abi.MPI_ERR_VALUE_TOO_LARGE},
		{"null address", 0, 1, abi.MPI_ERR_BUFFER},
		{"MPI_IN_PLACE", abi.MPI_IN_PLACE, 1, abi.MPI_ERR_BUFFER},
		{"null address of nothing", 0, 0, 0},
		{"the end of all addresses", ^uintptr(7), 3, abi.MPI_ERR_BUFFER},
		{"good", addressOf(mem), 25, 0},
	} {
		b, err := Typed(c.addr, c.count, ints)
		require.Equal(t, c.class, class(err), c.name)
		if err == nil {
			require.Equal(t, 4*c.count, b.size)
		}
	}
	base := addressOf(mem)
	// One int, placed or repeated as far away as that.
	for _, c := range []struct {
		name          string
		displ, extent int64
		count         int64
		class         int32
	}{
		{"at NULL", -int64(base), 4, 1, abi.MPI_ERR_BUFFER},
		{"across the last address", -int64(base) - 2, 4, 1, abi.MPI_ERR_BUFFER},
		{"far apart", 0, 1 << 62, 3, abi.MPI_ERR_COUNT},
		{"far apart, twice", 0, 1 << 62, 2, 0},
		{"below NULL", 0, -1 << 62, 2, abi.MPI_ERR_BUFFER},
	} {
		at, err := datatype.Hindexed(datatype.Small, []int64{1}, []int64{c.displ}, ints)
		require.NoError(t, err)
		x, err := datatype.Resized(datatype.Small, at, 0, c.extent)
		require.NoError(t, err)
		x.Commit()
		_, err = Typed(base, c.count, x)
		require.Equal(t, c.class, class(err), "%s: %v", c.name, err)
	}
	runtime.KeepAlive(mem)
}

// TestDerivedTypes sends every pair of layouts of the same data to each other, in records, by reading memory, and in
// pieces.
func TestDerivedTypes(t *testing.T) {
	ints := predefined(t, abi.MPI_INT)
	vector, err := datatype.Vector(datatype.Small, 4, 2, 5, ints) // 8 of 17 ints
	require.NoError(t, err)
	wide, err := datatype.Vector(datatype.Small, 2, 4, 3000, ints) // 8 ints far apart
	require.NoError(t, err)
	indexed, err := datatype.Indexed(datatype.Small, []int64{3, 1, 4}, []int64{9, 0, 2}, ints)
	require.NoError(t, err)
	eight, err := datatype.Contiguous(datatype.Small, 8, ints)
	require.NoError(t, err)
	types := []*datatype.Type{vector, wide, indexed, eight}
	for _, x := range types {
		x.Commit()
	}
	for _, noCMA := range []bool{false, true} {
		setCMA(t, noCMA)
		es := job(t, 2)
		for _, count := range []int64{1, 3, 500, 5000} {
			for i, from := range types {
				for k, to := range types {
					want := pattern(int(32*count), i*10+k)
					src := make([]byte, from.Extent()*count+32)
					dst := bytes.Repeat([]byte{0xAA}, int(to.Extent()*count+32))
					b, err := Typed(addressOf(src), count, from)
					require.NoError(t, err)
					b.unpack(0, want)
					r, err := Typed(addressOf(dst), count, to)
					require.NoError(t, err)
					all(t, es, func(e *Engine) error {
						if e.world == 0 {
							return e.Send(e.World, 0, b, 1, 0, Standard)
						}
						return e.Recv(e.World, 0, r, 0, 0, nil)
					})
					got := make([]byte, len(want))
					r.pack(got, 0)
					require.Equal(t, want, got, "%d of %s to %s", count, from, to)
					r.unpack(0, bytes.Repeat([]byte{0xAA}, len(got)))
					require.Equal(t, bytes.Repeat([]byte{0xAA}, len(dst)), dst,
						"written beside the data")
					runtime.KeepAlive(src)
				}
			}
		}
	}
}
