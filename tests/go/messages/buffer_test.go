package messages

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/tests/go/types"
)

func predefined(t *testing.T, h uintptr) *datatype.Type {
	x, err := datatype.Get(h)
	require.NoError(t, err)
	return x
}

// TestDerivedTypes checks messages between every pair of datatypes with equal signatures. Small messages use eager
// records; large ones use CMA (system calls that read another process's memory) or, without CMA, segments.
func TestDerivedTypes(t *testing.T) {
	ints := predefined(t, abi.MPI_INT)
	vector, err := types.Vector(types.Small, 4, 2, 5, ints) // 8 of 17 ints
	require.NoError(t, err)
	wide, err := types.Vector(types.Small, 2, 4, 3000, ints) // 8 ints at large distances
	require.NoError(t, err)
	indexed, err := types.Indexed(types.Small, []int64{3, 1, 4}, []int64{9, 0, 2}, ints)
	require.NoError(t, err)
	eight, err := types.Contiguous(types.Small, 8, ints)
	require.NoError(t, err)
	layouts := []*datatype.Type{vector, wide, indexed, eight}
	for _, x := range layouts {
		types.Commit(x)
	}
	for _, noCMA := range []bool{false, true} {
		setCMA(t, noCMA)
		es := job(t, 2)
		for _, count := range []int64{1, 3, 500, 5000} {
			for i, from := range layouts {
				for k, to := range layouts {
					want := pattern(int(32*count), i*10+k)
					src := make([]byte, from.Extent()*count+32)
					dst := bytes.Repeat([]byte{0xAA}, int(to.Extent()*count+32))
					b := Typed(addressOf(src), count, from)
					unpack(addressOf(src), count, from, want)
					r := Typed(addressOf(dst), count, to)
					all(t, es, func(e *Engine) error {
						if e.world == 0 {
							return e.Send(e.World, 0, b, 1, 0, Standard)
						}
						return e.Recv(e.World, 0, r, 0, 0, nil)
					})
					got := make([]byte, len(want))
					pack(got, addressOf(dst), count, to)
					require.Equal(t, want, got, "%d of %s to %s", count, from, to)
					unpack(addressOf(dst), count, to, bytes.Repeat([]byte{0xAA}, len(got)))
					require.Equal(t, bytes.Repeat([]byte{0xAA}, len(dst)), dst,
						"the receive wrote outside of the data")
					runtime.KeepAlive(src)
				}
			}
		}
	}
}
