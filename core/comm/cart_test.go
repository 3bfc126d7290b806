package comm

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

func TestCart(t *testing.T) {
	c := &Cart{Dims: []int32{3, 4}, Periods: []bool{true, false}}
	for r := 0; r < 12; r++ {
		at := c.Coords(r)
		require.Equal(t, []int32{int32(r / 4), int32(r % 4)}, at)
		back, err := c.Rank(at)
		require.NoError(t, err)
		require.Equal(t, int32(r), back)
	}
	r, err := c.Rank([]int32{-4, 1})
	require.NoError(t, err)
	require.Equal(t, int32(9), r)
	_, err = c.Rank([]int32{0, 4})
	require.Equal(t, int32(abi.MPI_ERR_ARG), mpierr.ClassOf(err))
	for _, x := range []struct {
		rank, dim    int
		disp         int32
		source, dest int32
	}{
		{0, 0, 1, 8, 4}, {0, 1, 1, abi.MPI_PROC_NULL, 1}, {3, 1, 1, 2, abi.MPI_PROC_NULL}, {5, 1, -1, 6, 4},
		{5, 0, 7, 1, 9}, {5, 0, 0, 5, 5},
		{5, 1, 1<<31 - 1, abi.MPI_PROC_NULL, abi.MPI_PROC_NULL},
	} {
		s, d := c.Shift(x.rank, x.dim, x.disp)
		require.Equal(t, []int32{x.source, x.dest}, []int32{s, d}, "%+v", x)
	}
}
