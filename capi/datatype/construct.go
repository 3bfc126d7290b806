package datatype

/*
#include <stdlib.h>

#include "datatype/type_props.h"
#include "datatype/recipe.h"
*/
import "C"

import "unsafe"

// Recipe mirrors struct gompi_recipe, for the test that compares the types that C and core/datatype construct.
type Recipe struct {
	Combiner, Order int32
	Large           bool
	N, A, B         int64
	Lists           [C.GOMPI_RECIPE_LISTS][]int64
	Types           []uintptr
}

// Construct returns the handle of the type that C constructs from a recipe, or 0 if Go must construct the type.
func Construct(r Recipe) (h uintptr) {
	c := C.struct_gompi_recipe{
		combiner: C.int(r.Combiner), order: C.int(r.Order), is_large: C.bool(r.Large), n: C.int64_t(r.N),
		a: C.int64_t(r.A), b: C.int64_t(r.B), type_count: C.int64_t(len(r.Types)),
	}
	c.call = C.CString("a constructor")
	defer C.free(unsafe.Pointer(c.call))
	for i, l := range r.Lists {
		if l != nil {
			c.list[i], c.is_64bit[i] = listPointer(l), true
			defer C.free(c.list[i])
		}
	}
	types := listPointer(r.Types)
	defer C.free(types)
	c.types = (*C.MPI_Datatype)(types)
	t := C.gompi_recipe_construct(&c)
	if t == nil {
		return 0
	}
	return uintptr(C.gompi_type_add_handle(t))
}

func listPointer[T any](list []T) unsafe.Pointer {
	p := C.malloc(C.size_t(8*len(list) + 1))
	copy(unsafe.Slice((*T)(p), len(list)), list)
	return p
}

// Program returns the program and the properties of a live type.
func Program(h uintptr) (program, props []int64) {
	t := C.gompi_type_get_any(C.MPI_Datatype(*(*unsafe.Pointer)(unsafe.Pointer(&h))))
	f := C.gompi_type_props_of(t)
	for _, n := range []C.int64_t{f.size, f.lb, f.extent, f.true_lb, f.true_extent, f.basic_count,
		f.basic_bytes, f.integers,
		f.addresses, f.counts, f.types, C.int64_t(f.combiner), C.int64_t(f.align),
		C.int64_t(f.swap_unit_bytes)} {
		props = append(props, int64(n))
	}
	for _, b := range []C.bool{f.is_large, f.is_resized} {
		n := int64(0)
		if b {
			n = 1
		}
		props = append(props, n)
	}
	words := unsafe.Slice((*int64)(unsafe.Pointer(t)), int(t.words))
	return append(program, words...), props
}
