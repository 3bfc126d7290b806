package comm

import (
	"slices"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// Cart is a Cartesian grid. Ranks are in row-major order: the last coordinate varies fastest.
type Cart struct {
	Dims    []int32
	Periods []bool
}

// NewCart creates the communicator of a grid of the first members (MPI_Cart_create). It returns nil at the other
// members. Collective. Errors: MPI_ERR_DIMS if a dimension is not positive; MPI_ERR_ARG if the grid has more positions
// than c has members.
func (c *Comm) NewCart(dims []int32, periods []bool) (*Comm, error) {
	n, err := c.gridSize(dims)
	if err != nil {
		return nil, err
	}
	x, err := c.prefix(n)
	if x != nil {
		x.Topology = &Cart{Dims: slices.Clone(dims), Periods: slices.Clone(periods)}
	}
	return x, err
}

// gridSize returns the number of positions in a grid. Errors as for NewCart.
func (c *Comm) gridSize(dims []int32) (int, error) {
	n := int64(1)
	for i, d := range dims {
		if d <= 0 {
			return 0, mpierr.New(abi.MPI_ERR_DIMS, "dims[%d] is %d; it must be positive", i, d)
		}
		if n *= int64(d); n > int64(c.size) {
			return 0, mpierr.New(abi.MPI_ERR_ARG,
				"the grid %v needs more processes than the communicator has (%d)", dims, c.size)
		}
	}
	return int(n), nil
}

// Coords returns the coordinates of a rank, which the caller has validated.
func (t *Cart) Coords(rank int) []int32 {
	at := make([]int32, len(t.Dims))
	for i := len(t.Dims) - 1; i >= 0; i-- {
		at[i] = int32(rank) % t.Dims[i]
		rank /= int(t.Dims[i])
	}
	return at
}

// Rank returns the rank at coordinates. Coordinates of a periodic dimension may be out of range. Errors: MPI_ERR_ARG if
// a coordinate of a non-periodic dimension is out of range.
func (t *Cart) Rank(coords []int32) (int32, error) {
	rank := int32(0)
	for i, x := range coords {
		d := t.Dims[i]
		if x < 0 || x >= d {
			if !t.Periods[i] {
				return 0, mpierr.New(abi.MPI_ERR_ARG,
					"coords[%d] is %d; it must be from 0 to %d, because the dimension is not "+
						"periodic", i, x, d-1)
			}
			x = (x%d + d) % d
		}
		rank = rank*d + x
	}
	return rank, nil
}

// Shift returns the ranks `disp` positions before and after a rank along a dimension (MPI_Cart_shift). It returns
// MPI_PROC_NULL for a position beyond the ends of the grid.
func (t *Cart) Shift(rank, dim int, disp int32) (source, dest int32) {
	at := t.Coords(rank)
	x := int64(at[dim])
	walk := func(to int64) int32 {
		d := int64(t.Dims[dim])
		if to < 0 || to >= d {
			if !t.Periods[dim] {
				return abi.MPI_PROC_NULL
			}
			to = (to%d + d) % d
		}
		at[dim] = int32(to)
		r, _ := t.Rank(at)
		return r
	}
	return walk(x - int64(disp)), walk(x + int64(disp))
}

// CartSub splits a grid into subgrids of the dimensions that remain (MPI_Cart_sub). Collective.
func (c *Comm) CartSub(remain []bool) (*Comm, error) {
	t, ok := c.Topology.(*Cart)
	if !ok {
		return nil, mpierr.New(abi.MPI_ERR_TOPOLOGY, "the communicator has no Cartesian topology")
	}
	sub := &Cart{}
	color, key := int32(0), int32(0)
	for i, x := range t.Coords(c.rank) {
		if remain[i] {
			key = key*t.Dims[i] + x
			sub.Dims = append(sub.Dims, t.Dims[i])
			sub.Periods = append(sub.Periods, t.Periods[i])
		} else {
			color = color*t.Dims[i] + x
		}
	}
	n, err := c.Split(color, key)
	if err != nil {
		return nil, err
	}
	n.Topology = sub
	return n, nil
}
