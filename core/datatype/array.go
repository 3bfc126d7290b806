package datatype

import (
	"slices"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// Subarray creates the type of a part of an array whose elements have the type `old` (MPI-5.0 5.1.3). Dimension i of
// the array has sizes[i] elements; the part has subsizes[i] of them from starts[i] on. The argument `order` is
// MPI_ORDER_C or MPI_ORDER_FORTRAN. The extent is that of the whole array. Precondition: the slices have the same
// length. Errors: MPI_ERR_DIMS if there are no dimensions; MPI_ERR_ARG if `order`, a size, a subsize or a start is out
// of range.
func Subarray(form Form, sizes, subsizes, starts []int64, order int32, old *Type) (*Type, error) {
	if err := checkOrder(len(sizes), order); err != nil {
		return nil, err
	}
	for i, n := range sizes {
		switch {
		case n < 1:
			return nil, mpierr.New(abi.MPI_ERR_ARG, "array_of_sizes[%d] is %d; it must be positive", i, n)
		case subsizes[i] < 1 || subsizes[i] > n:
			return nil, mpierr.New(abi.MPI_ERR_ARG,
				"array_of_subsizes[%d] is %d; it must be from 1 to %d (array_of_sizes)",
				i, subsizes[i], n)
		case starts[i] < 0 || starts[i] > n-subsizes[i]:
			return nil, mpierr.New(abi.MPI_ERR_ARG,
				"array_of_starts[%d] is %d; it must be from 0 to %d (size %d minus subsize %d)", i,
				starts[i], n-subsizes[i], n, subsizes[i])
		}
	}
	a := args{
		combiner: abi.MPI_COMBINER_SUBARRAY, form: form, ints: []int32{int32(len(sizes)), order},
		counts: slices.Concat(sizes, subsizes, starts),
		types:  []*Type{old},
	}
	dims := make([]dimension, len(sizes))
	for i, n := range sizes {
		dims[i] = dimension{size: n, start: starts[i], block: subsizes[i], blocks: 1, last: subsizes[i]}
	}
	return array(a, dims, order, old)
}

// Darray creates the type of the part of a distributed array that belongs to process `rank` (MPI-5.0 5.1.4). The
// elements of the array have the type `old`. The array is distributed over a grid of `size` processes. Dimension i has
// gsizes[i] elements, which are distributed over psizes[i] processes by distribs[i] with dargs[i]. The extent is that
// of the whole array. Precondition: the slices have the same length. Errors: MPI_ERR_DIMS if there are no dimensions,
// or the grid does not have `size` processes; MPI_ERR_RANK if `rank` is not in the grid; MPI_ERR_ARG if another
// argument is out of range.
func Darray(form Form, size, rank int32, gsizes []int64, distribs, dargs, psizes []int32, order int32,
	old *Type) (*Type, error) {
	if err := checkOrder(len(gsizes), order); err != nil {
		return nil, err
	}
	if size < 1 {
		return nil, mpierr.New(abi.MPI_ERR_ARG, "size is %d; it must be positive", size)
	}
	if rank < 0 || rank >= size {
		return nil, mpierr.New(abi.MPI_ERR_RANK, "rank is %d; it must be from 0 to %d", rank, size-1)
	}
	grid := arith{}
	processes := int64(1)
	for i, p := range psizes {
		if p < 1 {
			return nil, mpierr.New(abi.MPI_ERR_ARG,
				"array_of_psizes[%d] is %d; it must be positive", i, p)
		}
		processes = grid.mul(processes, int64(p))
	}
	if grid.overflow || processes != int64(size) {
		return nil, mpierr.New(abi.MPI_ERR_DIMS, "the product of array_of_psizes %v must be equal to size, "+
			"which is %d",
			psizes, size)
	}
	dims := make([]dimension, len(gsizes))
	// MPI orders the processes of the grid in row-major order, for both orders of the array.
	rest, at := int64(size), int64(rank)
	for i := range gsizes {
		rest /= int64(psizes[i])
		coordinate := at / rest
		at %= rest
		var err error
		if dims[i], err = distribute(i, gsizes[i], distribs[i], dargs[i], int64(psizes[i]),
			coordinate); err != nil {
			return nil, err
		}
	}
	a := args{
		combiner: abi.MPI_COMBINER_DARRAY, form: form,
		ints:   slices.Concat([]int32{size, rank, int32(len(gsizes))}, distribs, dargs, psizes, []int32{order}),
		counts: slices.Clone(gsizes), types: []*Type{old},
	}
	return array(a, dims, order, old)
}

// distribute returns the part of dimension i that belongs to the process with the given coordinate. The dimension is
// distributed over the given number of processes.
func distribute(i int, size int64, distrib, darg int32, processes, coordinate int64) (dimension, error) {
	if size < 1 {
		return dimension{}, mpierr.New(abi.MPI_ERR_ARG,
			"array_of_gsizes[%d] is %d; it must be positive", i, size)
	}
	block := int64(darg)
	byDefault := darg == abi.MPI_DISTRIBUTE_DFLT_DARG
	if !byDefault && distrib != abi.MPI_DISTRIBUTE_NONE && darg < 1 {
		return dimension{}, mpierr.New(abi.MPI_ERR_ARG,
			"array_of_dargs[%d] is %d; it must be positive or MPI_DISTRIBUTE_DFLT_DARG", i, darg)
	}
	switch distrib {
	case abi.MPI_DISTRIBUTE_NONE:
		if processes != 1 {
			return dimension{}, mpierr.New(abi.MPI_ERR_ARG,
				"dimension %d is not distributed (MPI_DISTRIBUTE_NONE), but its entry in "+
					"array_of_psizes is %d; it must be 1", i, processes)
		}
		block = size
	case abi.MPI_DISTRIBUTE_BLOCK:
		if byDefault {
			block = (size-1)/processes + 1
		} else if (size-1)/block >= processes {
			return dimension{}, mpierr.New(abi.MPI_ERR_ARG,
				"dimension %d has %[4]d elements, which do not fit into %[2]d blocks of %[3]d (one "+
					"per process)", i,
				processes, block, size)
		}
	case abi.MPI_DISTRIBUTE_CYCLIC:
		if byDefault {
			block = 1
		}
	default:
		return dimension{}, mpierr.New(abi.MPI_ERR_ARG, "array_of_distribs[%d] is %d, which is not an "+
			"MPI_DISTRIBUTE_ constant", i,
			distrib)
	}
	var a arith
	d := dimension{size: size, block: block, step: a.mul(block, processes)}
	if a.overflow {
		d.step = 1<<63 - 1 // larger than any index, so the process has one block
	}
	if (size-1)/block >= coordinate {
		d.start = block * coordinate
		d.blocks = (size-1-d.start)/d.step + 1
		d.last = min(block, size-d.start-(d.blocks-1)*d.step)
	}
	return d, nil
}

func checkOrder(ndims int, order int32) error {
	if ndims < 1 {
		return mpierr.New(abi.MPI_ERR_DIMS, "ndims is %d; it must be positive", ndims)
	}
	if order != abi.MPI_ORDER_C && order != abi.MPI_ORDER_FORTRAN {
		return mpierr.New(abi.MPI_ERR_ARG, "order is %d; it must be MPI_ORDER_C or MPI_ORDER_FORTRAN", order)
	}
	return nil
}

// dimension describes which indices of one array dimension belong to a type. The dimension has `size` indices. Those
// that belong to the type form `blocks` blocks of consecutive indices. The first block begins at index `start`; each
// further block begins `step` indices after the previous one. The last block has `last` indices, every other block
// `block`.
type dimension struct {
	size, start, block, blocks, step, last int64
}

// array creates the type of the elements of an array that `dims` selects. The elements have the type `old`.
func array(a args, dims []dimension, order int32, old *Type) (*Type, error) {
	b := &builder{}
	if order == abi.MPI_ORDER_C {
		slices.Reverse(dims) // the fastest-varying dimension first
	}
	n, whole := int64(1), old.Extent()
	for _, d := range dims {
		here := int64(0)
		if d.blocks > 0 {
			here = b.add(b.mul(d.blocks-1, d.block), d.last)
		}
		n, whole = b.mul(n, here), b.mul(whole, d.size)
	}
	t := compose(b, a, []component{{t: old, n: n}}, func(view func(*Type) placed) placed {
		at, extent := view(old), old.Extent()
		for _, d := range dims {
			if d.blocks == 0 {
				return placed{}
			}
			row := b.repeat(at, d.block, extent)
			step := b.mul(d.step, extent)
			parts := []placed{b.repeat(at, d.last, extent)}
			if d.last == d.block {
				parts = []placed{b.repeat(row, d.blocks, step)}
			} else if d.blocks > 1 {
				last := b.at(parts[0], b.mul(d.blocks-1, step))
				parts = []placed{b.repeat(row, d.blocks-1, step), last}
			}
			at = b.at(b.concat(parts), b.mul(d.start, extent))
			extent = b.mul(extent, d.size)
		}
		return at
	})
	t.lb, t.ub, t.resized = 0, whole, true
	return t.register(b)
}
