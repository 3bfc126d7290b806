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

// Constructs the datatypes (MPI-5.0 5.1.2 to 5.1.4, 5.1.7, 5.1.10) that datatype/construct.c leaves to Go, and Go's
// copies of the types that C has constructed. The time of a constructor is proportional to the length of its lists,
// independent of the counts.

// copyList copies an array argument of n ints or, if `wide` is true, of n 64-bit integers. It returns MPI_ERR_COUNT if
// n is negative, and MPI_ERR_ARG if the array is NULL.
func copyList(name string, n int64, wide bool, address uintptr) ([]int64, error) {
	switch {
	case n < 0:
		return nil, mpierr.New(abi.MPI_ERR_COUNT, "count is %d; it must not be negative", n)
	case address == 0 && n > 0:
		return nil, mpierr.New(abi.MPI_ERR_ARG, "%s is NULL, but must have %d elements", name, n)
	}
	var err error
	if wide {
		_, err = array[int64](address, n)
	} else {
		_, err = array[int32](address, n)
	}
	if err != nil {
		return nil, mpierr.Wrap(err, "%s", name)
	}
	return integers(address, int(n), wide), nil
}

// recipe is the C form of a constructor call.
type recipe = C.struct_gompi_recipe

var (
	blockLists = []string{"array_of_blocklengths", "array_of_displacements"}
	// listsOf maps a constructor with lists to the names of its list arguments; "" marks a list that the
	// constructor does not have.
	listsOf = map[C.int][]string{
		abi.MPI_COMBINER_INDEXED: blockLists, abi.MPI_COMBINER_HINDEXED: blockLists,
		abi.MPI_COMBINER_STRUCT:         blockLists,
		abi.MPI_COMBINER_INDEXED_BLOCK:  {"", "array_of_displacements"},
		abi.MPI_COMBINER_HINDEXED_BLOCK: {"", "array_of_displacements"},
		abi.MPI_COMBINER_SUBARRAY:       {"array_of_sizes", "array_of_subsizes", "array_of_starts"},
		abi.MPI_COMBINER_DARRAY: {"array_of_gsizes", "array_of_distribs", "array_of_dargs",
			"array_of_psizes"},
	}
)

// construct creates the type that a recipe describes. The function `find` converts a handle in the recipe to the type.
func construct(r *recipe, form datatype.Form, find func(h uintptr) (*datatype.Type, error)) (*datatype.Type, error) {
	n, a, b := int64(r.n), int64(r.a), int64(r.b)
	if r.combiner == abi.MPI_COMBINER_SUBARRAY || r.combiner == abi.MPI_COMBINER_DARRAY {
		n = max(n, 0)
	}
	var l [C.GOMPI_RECIPE_LISTS][]int64
	copyLists := func() (err error) {
		for i, name := range listsOf[r.combiner] {
			if name == "" {
				continue
			}
			if l[i], err = copyList(name, n, bool(r.is_64bit[i]), uintptr(r.list[i])); err != nil {
				return err
			}
		}
		return nil
	}
	types := uintptr(unsafe.Pointer(r.types))
	if r.combiner == abi.MPI_COMBINER_STRUCT {
		if err := copyLists(); err != nil {
			return nil, err
		}
		handles, err := copyList("array_of_types", n, true, types)
		if err != nil {
			return nil, err
		}
		old := make([]*datatype.Type, n)
		for i, h := range handles {
			if old[i], err = find(uintptr(h)); err != nil {
				return nil, mpierr.Wrap(err, "array_of_types[%d]", i)
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

// gompi_construct_type constructs a datatype from unchecked arguments in the cases that C leaves to Go, and stores the
// handle of the type. It returns the result of the call.
//
//gompi:callback int (const struct gompi_recipe *recipe, uintptr_t newtype) as recipe->call
//export gompi_construct_type
func gompi_construct_type(recipeAt, newtype uintptr) int32 {
	r := out[recipe](recipeAt)
	return newType(C.GoString(r.call), newtype, func() (*datatype.Type, error) {
		return construct(r, formOf(bool(r.is_large)), datatype.Get)
	})
}
