package p2p

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
	"gompirma/core/shm"
)

func TestTypedRefuses(t *testing.T) {
	ints, err := datatype.Get(abi.MPI_INT)
	require.NoError(t, err)
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
		require.Equal(t, c.class, mpierr.ClassOf(err), c.name)
		if err == nil {
			require.Equal(t, 4*c.count, b.size)
		}
	}
	base := addressOf(mem)
	// One int with a displacement or an extent of that distance.
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
		require.Equal(t, c.class, mpierr.ClassOf(err), "%s: %v", c.name, err)
	}
	runtime.KeepAlive(mem)
}

// TestBarrierSize compares the two definitions of the size of a barrier: core/comm must not import core/shm, so it has
// its own.
func TestBarrierSize(t *testing.T) {
	for _, n := range []int{1, 2, 7, 4096} {
		require.Equal(t, shm.BarrierSize(n), comm.BarrierSize(n))
	}
}
