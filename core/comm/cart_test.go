package comm

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

func TestDimsCreate(t *testing.T) {
	for _, c := range []struct {
		n          int32
		dims, want []int32
		class      int32
	}{
		{6, []int32{0, 0}, []int32{3, 2}, 0},
		{7, []int32{0, 0}, []int32{7, 1}, 0},
		{6, []int32{0, 3, 0}, []int32{2, 3, 1}, 0},
		{12, []int32{0, 0, 0}, []int32{3, 2, 2}, 0},
		{16, []int32{0, 0}, []int32{4, 4}, 0},
		{24, []int32{0, 0}, []int32{6, 4}, 0},
		{36, []int32{0, 0, 0}, []int32{4, 3, 3}, 0},
		{7488, []int32{0, 0, 0}, []int32{26, 18, 16}, 0},
		{5 * 7488, []int32{0, 5, 0, 0}, []int32{26, 5, 18, 16}, 0},
		{5040, []int32{0, 0, 0}, []int32{21, 16, 15}, 0}, // 20, 18 and 14 are no closer to each other
		{12, make([]int32, 6), []int32{3, 2, 2, 1, 1, 1}, 0},
		{1, []int32{0, 0, 0}, []int32{1, 1, 1}, 0},
		{8, []int32{8, 1}, []int32{8, 1}, 0},
		{2147483647, []int32{0, 0}, []int32{2147483647, 1}, 0},
		{1 << 30, make([]int32, 10), []int32{8, 8, 8, 8, 8, 8, 8, 8, 8, 8}, 0},
		{7, []int32{0, 3, 0}, nil, abi.MPI_ERR_DIMS},
		{8, []int32{4, 1}, nil, abi.MPI_ERR_DIMS},
		{8, []int32{-1, 0}, nil, abi.MPI_ERR_DIMS},
		{0, []int32{0}, nil, abi.MPI_ERR_ARG},
		{5, []int32{}, nil, abi.MPI_ERR_DIMS},
		{1, []int32{}, []int32{}, 0},
	} {
		err := DimsCreate(c.n, c.dims)
		require.Equal(t, c.class, mpierr.ClassOf(err), "%d %v", c.n, c.dims)
		if err == nil {
			require.Equal(t, c.want, c.dims, "%d", c.n)
		}
	}
}

// TestDimsCreateAlwaysDivides: the product is right and the numbers do not increase, for many sizes.
func TestDimsCreateAlwaysDivides(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for i := 0; i < 500; i++ {
		n, dims := int32(1+rnd.Intn(100_000)), make([]int32, 1+rnd.Intn(6))
		require.NoError(t, DimsCreate(n, dims))
		product := int32(1)
		for k, d := range dims {
			product *= d
			require.True(t, k == 0 || d <= dims[k-1], "%d: %v", n, dims)
		}
		require.Equal(t, n, product)
	}
}

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
