package main

/*
#include "datatype/recipe.h"
*/
import "C"

import (
	"unsafe"

	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
)

// Construction of datatypes (MPI-5.0 5.1.2 to 5.1.4, 5.1.7, 5.1.10) that datatype/construct.c leaves to Go, and of Go's
// copies of types that C has constructed. The time of a constructor is proportional to the length of its lists,
// independent of the counts.

// lists copies arrays of n counts each, of ints or, if wide, of 64-bit integers. It returns MPI_ERR_COUNT if n is
// negative, and MPI_ERR_ARG if an array is missing.
func lists(n int64, wide bool, addresses ...uintptr) ([][]int64, error) {
	if n < 0 {
		return nil, mpierr.New(abi.MPI_ERR_COUNT, "count is %d; it must not be negative", n)
	}
	all := make([][]int64, len(addresses))
	for i, a := range addresses {
		if a == 0 && n > 0 {
			return nil, mpierr.New(abi.MPI_ERR_ARG, "an array of %d elements is NULL", n)
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

// recipe is the C form of a constructor call.
type recipe = C.struct_gompi_recipe

// listsOf maps a constructor with lists to the indices of the lists that it uses.
var listsOf = map[C.int][]int{
	abi.MPI_COMBINER_INDEXED: {0, 1}, abi.MPI_COMBINER_HINDEXED: {0, 1}, abi.MPI_COMBINER_STRUCT: {0, 1},
	abi.MPI_COMBINER_INDEXED_BLOCK: {1}, abi.MPI_COMBINER_HINDEXED_BLOCK: {1},
	abi.MPI_COMBINER_SUBARRAY: {0, 1, 2}, abi.MPI_COMBINER_DARRAY: {0, 1, 2, 3},
}

// construct creates the type of a recipe. find returns the type for a type argument of the recipe.
func construct(r *recipe, form datatype.Form, find func(h uintptr) (*datatype.Type, error)) (*datatype.Type, error) {
	n, a, b := int64(r.n), int64(r.a), int64(r.b)
	if r.combiner == abi.MPI_COMBINER_SUBARRAY || r.combiner == abi.MPI_COMBINER_DARRAY {
		n = max(n, 0)
	}
	var l [C.GOMPI_RECIPE_LISTS][]int64
	copyLists := func() error {
		for _, i := range listsOf[r.combiner] {
			all, err := lists(n, bool(r.is_64bit[i]), uintptr(r.list[i]))
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
	case abi.MPI_COMBINER_DARRAY:
		return datatype.Darray(form, int32(a), int32(b), l[0], narrow(l[1]), narrow(l[2]), narrow(l[3]),
			int32(r.order), old)
	case abi.MPI_COMBINER_RESIZED:
		return datatype.Resized(form, old, a, b)
	}
	return datatype.Dup(form, old)
}

// narrow converts values that fit an int back to ints.
func narrow(list []int64) []int32 {
	ints := make([]int32, len(list))
	for i, v := range list {
		ints[i] = int32(v)
	}
	return ints
}

// formOf returns the form of the constructor: with int or with MPI_Count arguments.
func formOf(large bool) datatype.Form {
	if large {
		return datatype.Large
	}
	return datatype.Small
}

// gompi_construct_type constructs a datatype from unchecked arguments in the cases that C leaves to Go, and stores its
// handle. It returns the result of the call.
//
//gompi:callback int (const struct gompi_recipe *recipe, uintptr_t newtype) as recipe->call
//export gompi_construct_type
func gompi_construct_type(recipeAt, newtype uintptr) int32 {
	r := out[recipe](recipeAt)
	return newType(C.GoString(r.call), newtype, func() (*datatype.Type, error) {
		return construct(r, formOf(bool(r.is_large)), datatype.Get)
	})
}
