package main

import "C"

import (
	"slices"

	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
)

// The constructors of datatypes (MPI-5.0 5.1.2 to 5.1.4, 5.1.7). Each form with int counts is an export of its own:
// MPI_Type_get_contents tells which one was called. They cost time in proportion to the lists they are given, never to
// counts.

// lists copies arrays of n counts each, ints or 64-bit integers. MPI_ERR_COUNT: n is negative. MPI_ERR_ARG: an array is
// missing.
func lists(n int64, wide bool, addresses ...uintptr) ([][]int64, error) {
	if n < 0 {
		return nil, mpierr.New(abi.MPI_ERR_COUNT, "count is %d, it must not be negative", n)
	}
	all := make([][]int64, len(addresses))
	for i, a := range addresses {
		if a == 0 && n > 0 {
			return nil, mpierr.New(abi.MPI_ERR_ARG, "an array of %d elements is a null pointer", n)
		}
		var err error
		if wide {
			_, err = array[int64](a, n)
		} else {
			_, err = array[int32](a, n)
		}
		if err != nil {
			return nil, err
		}
		all[i] = integers(a, int(n), wide)
	}
	return all, nil
}

//export gompi_type_contiguous
func gompi_type_contiguous(count int32, oldtype, newtype uintptr) int32 {
	return fromType("MPI_Type_contiguous", oldtype, newtype, func(old *datatype.Type) (*datatype.Type, error) {
		return datatype.Contiguous(datatype.Small, int64(count), old)
	})
}

//export gompi_type_contiguous_c
func gompi_type_contiguous_c(count int64, oldtype, newtype uintptr) int32 {
	return fromType("MPI_Type_contiguous_c", oldtype, newtype, func(old *datatype.Type) (*datatype.Type, error) {
		return datatype.Contiguous(datatype.Large, count, old)
	})
}

//export gompi_type_vector
func gompi_type_vector(count, blocklength, stride int32, oldtype, newtype uintptr) int32 {
	return fromType("MPI_Type_vector", oldtype, newtype, func(old *datatype.Type) (*datatype.Type, error) {
		return datatype.Vector(datatype.Small, int64(count), int64(blocklength), int64(stride), old)
	})
}

//export gompi_type_vector_c
func gompi_type_vector_c(count, blocklength, stride int64, oldtype, newtype uintptr) int32 {
	return fromType("MPI_Type_vector_c", oldtype, newtype, func(old *datatype.Type) (*datatype.Type, error) {
		return datatype.Vector(datatype.Large, count, blocklength, stride, old)
	})
}

//export gompi_type_create_hvector
func gompi_type_create_hvector(count, blocklength int32, stride int64, oldtype, newtype uintptr) int32 {
	return fromType("MPI_Type_create_hvector", oldtype, newtype, func(old *datatype.Type) (*datatype.Type, error) {
		return datatype.Hvector(datatype.Small, int64(count), int64(blocklength), stride, old)
	})
}

//export gompi_type_create_hvector_c
func gompi_type_create_hvector_c(count, blocklength, stride int64, oldtype, newtype uintptr) int32 {
	return fromType("MPI_Type_create_hvector_c", oldtype, newtype, func(old *datatype.Type) (*datatype.Type,
		error) {
		return datatype.Hvector(datatype.Large, count, blocklength, stride, old)
	})
}

// indexedType serves the constructors with a blocklength for each block. wideLengths and wideDispls say which of the
// arrays are of 64-bit integers.
func indexedType(function string, count int64, lengths, displs uintptr, wideLengths, wideDispls bool,
	oldtype, newtype uintptr,
	make func(datatype.Form, []int64, []int64, *datatype.Type) (*datatype.Type, error)) int32 {
	return fromType(function, oldtype, newtype, func(old *datatype.Type) (*datatype.Type, error) {
		l, err := lists(count, wideLengths, lengths)
		if err != nil {
			return nil, err
		}
		d, err := lists(count, wideDispls, displs)
		if err != nil {
			return nil, err
		}
		return make(datatype.Form(wideLengths), l[0], d[0], old)
	})
}

//export gompi_type_indexed
func gompi_type_indexed(count int32, blocklengths, displacements, oldtype, newtype uintptr) int32 {
	return indexedType("MPI_Type_indexed", int64(count), blocklengths, displacements, false, false, oldtype,
		newtype, datatype.Indexed)
}

//export gompi_type_indexed_c
func gompi_type_indexed_c(count int64, blocklengths, displacements, oldtype, newtype uintptr) int32 {
	return indexedType("MPI_Type_indexed_c", count, blocklengths, displacements, true, true, oldtype, newtype,
		datatype.Indexed)
}

//export gompi_type_create_hindexed
func gompi_type_create_hindexed(count int32, blocklengths, displacements, oldtype, newtype uintptr) int32 {
	return indexedType("MPI_Type_create_hindexed", int64(count), blocklengths, displacements, false, true, oldtype,
		newtype, datatype.Hindexed)
}

//export gompi_type_create_hindexed_c
func gompi_type_create_hindexed_c(count int64, blocklengths, displacements, oldtype, newtype uintptr) int32 {
	return indexedType("MPI_Type_create_hindexed_c", count, blocklengths, displacements, true, true, oldtype,
		newtype, datatype.Hindexed)
}

// blockType serves the constructors with one blocklength for all blocks.
func blockType(function string, form datatype.Form, count, blocklength int64, displs uintptr, wide bool,
	oldtype, newtype uintptr,
	make func(datatype.Form, int64, []int64, *datatype.Type) (*datatype.Type, error)) int32 {
	return fromType(function, oldtype, newtype, func(old *datatype.Type) (*datatype.Type, error) {
		d, err := lists(count, wide, displs)
		if err != nil {
			return nil, err
		}
		return make(form, blocklength, d[0], old)
	})
}

//export gompi_type_create_indexed_block
func gompi_type_create_indexed_block(count, blocklength int32, displacements, oldtype, newtype uintptr) int32 {
	return blockType("MPI_Type_create_indexed_block", datatype.Small, int64(count), int64(blocklength),
		displacements, false, oldtype, newtype, datatype.IndexedBlock)
}

//export gompi_type_create_indexed_block_c
func gompi_type_create_indexed_block_c(count, blocklength int64, displacements, oldtype, newtype uintptr) int32 {
	return blockType("MPI_Type_create_indexed_block_c", datatype.Large, count, blocklength, displacements, true,
		oldtype, newtype, datatype.IndexedBlock)
}

//export gompi_type_create_hindexed_block
func gompi_type_create_hindexed_block(count, blocklength int32, displacements, oldtype, newtype uintptr) int32 {
	return blockType("MPI_Type_create_hindexed_block", datatype.Small, int64(count), int64(blocklength),
		displacements, true, oldtype, newtype, datatype.HindexedBlock)
}

//export gompi_type_create_hindexed_block_c
func gompi_type_create_hindexed_block_c(count, blocklength int64, displacements, oldtype, newtype uintptr) int32 {
	return blockType("MPI_Type_create_hindexed_block_c", datatype.Large, count, blocklength, displacements, true,
		oldtype, newtype, datatype.HindexedBlock)
}

func structType(function string, count int64, blocklengths, displacements, types uintptr, wide bool,
	newtype uintptr) int32 {
	return newType(function, newtype, func() (*datatype.Type, error) {
		l, err := lists(count, wide, blocklengths)
		if err != nil {
			return nil, err
		}
		d, err := lists(count, true, displacements, types)
		if err != nil {
			return nil, err
		}
		old := make([]*datatype.Type, count)
		for i, h := range d[1] {
			if old[i], err = datatype.Get(uintptr(h)); err != nil {
				return nil, mpierr.Wrap(err, "type %d of %d", i, count)
			}
		}
		return datatype.Struct(datatype.Form(wide), l[0], d[0], old)
	})
}

//export gompi_type_create_struct
func gompi_type_create_struct(count int32, blocklengths, displacements, types, newtype uintptr) int32 {
	return structType("MPI_Type_create_struct", int64(count), blocklengths, displacements, types, false, newtype)
}

//export gompi_type_create_struct_c
func gompi_type_create_struct_c(count int64, blocklengths, displacements, types, newtype uintptr) int32 {
	return structType("MPI_Type_create_struct_c", count, blocklengths, displacements, types, true, newtype)
}

func subarrayType(function string, ndims int32, sizes, subsizes, starts uintptr, wide bool, order int32,
	oldtype, newtype uintptr) int32 {
	return fromType(function, oldtype, newtype, func(old *datatype.Type) (*datatype.Type, error) {
		a, err := lists(int64(max(ndims, 0)), wide, sizes, subsizes, starts)
		if err != nil {
			return nil, err
		}
		return datatype.Subarray(datatype.Form(wide), a[0], a[1], a[2], order, old)
	})
}

//export gompi_type_create_subarray
func gompi_type_create_subarray(ndims int32, sizes, subsizes, starts uintptr, order int32,
	oldtype, newtype uintptr) int32 {
	return subarrayType("MPI_Type_create_subarray", ndims, sizes, subsizes, starts, false, order, oldtype, newtype)
}

//export gompi_type_create_subarray_c
func gompi_type_create_subarray_c(ndims int32, sizes, subsizes, starts uintptr, order int32,
	oldtype, newtype uintptr) int32 {
	return subarrayType("MPI_Type_create_subarray_c", ndims, sizes, subsizes, starts, true, order, oldtype, newtype)
}

func darrayType(function string, size, rank, ndims int32, gsizes uintptr, wide bool, distribs, dargs, psizes uintptr,
	order int32, oldtype, newtype uintptr) int32 {
	return fromType(function, oldtype, newtype, func(old *datatype.Type) (*datatype.Type, error) {
		g, err := lists(int64(max(ndims, 0)), wide, gsizes)
		if err != nil {
			return nil, err
		}
		if ndims > 0 && (distribs == 0 || dargs == 0 || psizes == 0) {
			return nil, mpierr.New(abi.MPI_ERR_ARG, "an array of %d elements is a null pointer", ndims)
		}
		n := int(max(ndims, 0))
		var copies [3][]int32
		for i, at := range []uintptr{distribs, dargs, psizes} {
			a, err := array[int32](at, int64(n))
			if err != nil {
				return nil, err
			}
			copies[i] = slices.Clone(a)
		}
		return datatype.Darray(datatype.Form(wide), size, rank, g[0], copies[0], copies[1], copies[2], order,
			old)
	})
}

//export gompi_type_create_darray
func gompi_type_create_darray(size, rank, ndims int32, gsizes, distribs, dargs, psizes uintptr, order int32,
	oldtype, newtype uintptr) int32 {
	return darrayType("MPI_Type_create_darray", size, rank, ndims, gsizes, false, distribs, dargs, psizes, order,
		oldtype, newtype)
}

//export gompi_type_create_darray_c
func gompi_type_create_darray_c(size, rank, ndims int32, gsizes, distribs, dargs, psizes uintptr, order int32,
	oldtype, newtype uintptr) int32 {
	return darrayType("MPI_Type_create_darray_c", size, rank, ndims, gsizes, true, distribs, dargs, psizes, order,
		oldtype, newtype)
}

//export gompi_type_create_resized
func gompi_type_create_resized(oldtype uintptr, lb, extent int64, newtype uintptr) int32 {
	return fromType("MPI_Type_create_resized", oldtype, newtype, func(old *datatype.Type) (*datatype.Type, error) {
		return datatype.Resized(datatype.Small, old, lb, extent)
	})
}

//export gompi_type_create_resized_c
func gompi_type_create_resized_c(oldtype uintptr, lb, extent int64, newtype uintptr) int32 {
	return fromType("MPI_Type_create_resized_c", oldtype, newtype, func(old *datatype.Type) (*datatype.Type,
		error) {
		return datatype.Resized(datatype.Large, old, lb, extent)
	})
}
