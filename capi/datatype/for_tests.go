package datatype

/*
#include <stdlib.h>

#include "base/status.h"
#include "datatype/recipe.h"
#include "datatype/type_props.h"
#include "datatype/z_calls.h"
*/
import "C"

import "unsafe"

// Wrappers for tests, which cannot use cgo.

// Recipe mirrors struct gompi_recipe.
type Recipe struct {
	Combiner, Order int32
	Large           bool
	N, A, B         int64
	Lists           [C.GOMPI_RECIPE_LISTS][]int64
	Types           []uintptr
}

// Construct returns the handle of the type that C constructs from a recipe, or the class and the text of the error.
func Construct(r Recipe) (h uintptr, class int32, text string) {
	c := C.struct_gompi_recipe{
		combiner: C.int(r.Combiner), order: C.int(r.Order), is_large: C.bool(r.Large), n: C.int64_t(r.N),
		a: C.int64_t(r.A), b: C.int64_t(r.B), type_count: C.int64_t(len(r.Types)),
	}
	for i, l := range r.Lists {
		if l != nil {
			c.list[i], c.is_64bit[i] = listPointer(l), true
			defer C.free(c.list[i])
		}
	}
	types := listPointer(r.Types)
	defer C.free(types)
	c.types = (*C.MPI_Datatype)(types)
	var v C.struct_gompi_error_status
	if class := C.gompi_recipe_new(&c, (*C.uintptr_t)(unsafe.Pointer(&h)), &v); class != C.MPI_SUCCESS {
		return 0, int32(class), C.GoString(&v.text[0])
	}
	return h, 0, ""
}

func listPointer[T any](list []T) unsafe.Pointer {
	p := C.malloc(C.size_t(8*len(list) + 1))
	copy(unsafe.Slice((*T)(p), len(list)), list)
	return p
}

func typeHandle(h uintptr) C.MPI_Datatype {
	return C.MPI_Datatype(*(*unsafe.Pointer)(unsafe.Pointer(&h)))
}

// Commit commits a type, and Free frees its handle.
func Commit(h uintptr)    { C.gompi_type_commit_handle(C.uintptr_t(h)) }
func Free(h uintptr) bool { return bool(C.gompi_type_remove(C.uintptr_t(h))) }

// References returns the number of references to a type.
func References(h uintptr) int64 {
	return int64(C.gompi_type_meta(C.gompi_type_get_any(typeHandle(h))).ref_count)
}

// PropsOf returns the properties of a type.
func PropsOf(h uintptr) Props {
	f := C.gompi_type_props_get(typeHandle(h))
	return Props{Size: int64(f.size), LB: int64(f.lb), Extent: int64(f.extent), TrueLB: int64(f.true_lb),
		TrueExtent: int64(f.true_extent), BasicCount: int64(f.basic_count), BasicBytes: int64(f.basic_bytes),
		External: int64(f.external_bytes), Integers: int64(f.integers), Addresses: int64(f.addresses),
		Counts: int64(f.counts), Types: int64(f.types), Combiner: int32(f.combiner), Large: bool(f.is_large)}
}

// Contents returns the results of MPI_Type_get_contents, or of its large-count form if the type was constructed so.
func Contents(h uintptr) (integers []int32, addresses, counts []int64, types []uintptr) {
	f := PropsOf(h)
	i, a, c, t := listPointer(make([]int32, 2*f.Integers)), listPointer(make([]int64, f.Addresses)),
		listPointer(make([]int64, f.Counts)), listPointer(make([]uintptr, f.Types))
	for _, p := range []unsafe.Pointer{i, a, c, t} {
		defer C.free(p)
	}
	C.gompi_type_get_contents_c(typeHandle(h), C.MPI_Count(f.Integers), C.MPI_Count(f.Addresses),
		C.MPI_Count(f.Counts), C.MPI_Count(f.Types), (*C.int)(i), (*C.MPI_Aint)(a), (*C.MPI_Count)(c),
		(*C.MPI_Datatype)(t))
	return append(integers, unsafe.Slice((*int32)(i), f.Integers)...),
		append(addresses, unsafe.Slice((*int64)(a), f.Addresses)...),
		append(counts, unsafe.Slice((*int64)(c), f.Counts)...),
		append(types, unsafe.Slice((*uintptr)(t), f.Types)...)
}

// ElementsIn returns the number of basic elements in the first bytes of data of a type; MPI_UNDEFINED if the data
// ends inside an element.
func ElementsIn(h uintptr, bytes int64) int64 {
	var s C.MPI_Status
	var n C.MPI_Count
	C.gompi_status_set_bytes(&s, C.int64_t(bytes))
	C.gompi_get_elements_c(&s, typeHandle(h), &n)
	return int64(n)
}

// BytesOf returns the number of bytes of the first n basic elements of a type.
func BytesOf(h uintptr, n int64) int64 {
	var s C.MPI_Status
	C.gompi_status_set_elements_c(&s, typeHandle(h), C.MPI_Count(n))
	return int64(C.gompi_status_bytes(&s))
}

// Copy is gompi_typed_copy for committed types.
func Copy(dst unsafe.Pointer, dcount int64, dt uintptr, src unsafe.Pointer, scount int64,
	st uintptr) int64 {
	return int64(C.gompi_typed_copy(dst, C.int64_t(dcount), committed(dt), src, C.int64_t(scount), committed(st)))
}

// Overlaps is gompi_type_overlaps.
func Overlaps(t uintptr, count int64) bool {
	return bool(C.gompi_type_overlaps(committed(t), C.int64_t(count)))
}

// IsCommitted returns whether gompi_type_get finds the type.
func IsCommitted(t uintptr) bool { return committed(t) != nil }

func committed(t uintptr) *C.struct_gompi_type {
	return C.gompi_type_get(typeHandle(t))
}

// Walk returns the segments that C's cursor returns from a position on. Each segment has at most `limit` bytes. If
// `runs` is true, Walk uses gompi_cursor_run where that function returns a run.
func Walk(t uintptr, count int64, elements bool, position, limit int64, runs bool) (segments [][2]int64) {
	view := uint32(C.GOMPI_BYTES)
	if elements {
		view = C.GOMPI_ELEMENTS
	}
	c := (*C.struct_gompi_cursor)(C.malloc(C.sizeof_struct_gompi_cursor))
	defer C.free(unsafe.Pointer(c))
	C.gompi_cursor_init(c, committed(t), C.int64_t(count), view)
	C.gompi_cursor_seek(c, C.int64_t(position))
	for {
		if runs {
			if r := C.gompi_cursor_run(c, C.int64_t(limit)); r.n > 0 {
				for i := C.int64_t(0); i < r.n; i++ {
					segments = append(segments, [2]int64{int64(r.offset + i*r.stride),
						int64(r.block)})
				}
				continue
			}
		}
		var offset C.int64_t
		n := C.gompi_cursor_next(c, C.int64_t(limit), &offset)
		if n == 0 {
			return segments
		}
		segments = append(segments, [2]int64{int64(offset), int64(n)})
	}
}
