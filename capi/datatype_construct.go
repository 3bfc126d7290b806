package main

/*
#include "datatype/recipe.h"
*/
import "C"

import (
	"slices"
	"unsafe"

	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
)

// Constructing datatypes (MPI-5.0 5.1.2 to 5.1.4, 5.1.7, 5.1.10) where datatype/construct.c does not, and again what it
// has constructed. All cost time in proportion to the lists they are given, never to counts.

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

// recipe is how a type is constructed, as C has it.
type recipe = C.struct_gompi_recipe

// listsOf says which of its lists the constructors with lists have.
var listsOf = map[C.int][]int{
	abi.MPI_COMBINER_INDEXED: {0, 1}, abi.MPI_COMBINER_HINDEXED: {0, 1}, abi.MPI_COMBINER_STRUCT: {0, 1},
	abi.MPI_COMBINER_INDEXED_BLOCK: {1}, abi.MPI_COMBINER_HINDEXED_BLOCK: {1},
	abi.MPI_COMBINER_SUBARRAY: {0, 1, 2},
}

// construct makes the type of a recipe. find returns what one of its types stands for.
func construct(r *recipe, form datatype.Form, find func(h uintptr) (*datatype.Type, error)) (*datatype.Type, error) {
	n, a, b := int64(r.n), int64(r.a), int64(r.b)
	if r.combiner == abi.MPI_COMBINER_SUBARRAY {
		n = max(n, 0)
	}
	var l [3][]int64
	copyLists := func() error {
		for _, i := range listsOf[r.combiner] {
			all, err := lists(n, bool(r.wide[i]), uintptr(r.list[i]))
			if err != nil {
				return err
			}
			l[i] = all[0]
		}
		return nil
	}
	types := uintptr(unsafe.Pointer(r.types))
	if r.combiner == abi.MPI_COMBINER_STRUCT {
		if err := copyLists(); err != nil {
			return nil, err
		}
		all, err := lists(n, true, types)
		if err != nil {
			return nil, err
		}
		old := make([]*datatype.Type, n)
		for i, h := range all[0] {
			if old[i], err = find(uintptr(h)); err != nil {
				return nil, mpierr.Wrap(err, "type %d of %d", i, n)
			}
		}
		return datatype.Struct(form, l[0], l[1], old)
	}
	old, err := find(*out[uintptr](types))
	if err == nil {
		err = copyLists()
	}
	if err != nil {
		return nil, err
	}
	switch r.combiner {
	case abi.MPI_COMBINER_CONTIGUOUS:
		return datatype.Contiguous(form, n, old)
	case abi.MPI_COMBINER_VECTOR:
		return datatype.Vector(form, n, a, b, old)
	case abi.MPI_COMBINER_HVECTOR:
		return datatype.Hvector(form, n, a, b, old)
	case abi.MPI_COMBINER_INDEXED:
		return datatype.Indexed(form, l[0], l[1], old)
	case abi.MPI_COMBINER_HINDEXED:
		return datatype.Hindexed(form, l[0], l[1], old)
	case abi.MPI_COMBINER_INDEXED_BLOCK:
		return datatype.IndexedBlock(form, a, l[1], old)
	case abi.MPI_COMBINER_HINDEXED_BLOCK:
		return datatype.HindexedBlock(form, a, l[1], old)
	case abi.MPI_COMBINER_SUBARRAY:
		return datatype.Subarray(form, l[0], l[1], l[2], int32(r.order), old)
	case abi.MPI_COMBINER_RESIZED:
		return datatype.Resized(form, old, a, b)
	}
	return datatype.Dup(form, old)
}

// formOf tells by which form of its constructor a type is made.
func formOf(large bool) datatype.Form {
	if large {
		return datatype.Large
	}
	return datatype.Small
}

// gompi_make_type is every constructor but MPI_Type_create_darray for what C leaves to Go.
//
//export gompi_make_type
func gompi_make_type(recipeAt, newtype uintptr) int32 {
	r := out[recipe](recipeAt)
	return newType(C.GoString(r.call), newtype, func() (*datatype.Type, error) {
		return construct(r, formOf(bool(r.large)), datatype.Get)
	})
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
		return datatype.Darray(formOf(wide), size, rank, g[0], copies[0], copies[1], copies[2], order,
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
