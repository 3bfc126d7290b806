package main

/*
#include <stdlib.h>
#include "datatype/datatype.h"
*/
import "C"

import (
	"unsafe"

	"gompirma/core/datatype"
)

// Wrappers of datatype/cursor.c and datatype/copy.c for Go's tests, which cannot use cgo. The types must be committed.
// The addresses are buffer addresses as in MPI, so the data may begin at an offset from them.

func copyTyped(dst unsafe.Pointer, dcount int64, dt *datatype.Type, src unsafe.Pointer, scount int64,
	st *datatype.Type) int64 {
	return int64(C.gompi_typed_copy(dst, C.int64_t(dcount), cType(dt), src, C.int64_t(scount), cType(st)))
}

func overlapsTyped(t *datatype.Type, count int64) bool {
	return bool(C.gompi_type_overlaps(cType(t), C.int64_t(count)))
}

// walkTyped returns the segments that C's cursor returns from a position on. Each segment has at most `limit` bytes. If
// `runs` is true, walkTyped uses gompi_cursor_run where that function returns a run.
func walkTyped(t *datatype.Type, count int64, elements bool, position, limit int64,
	runs bool) (segments [][2]int64) {
	view := uint32(C.GOMPI_BYTES)
	if elements {
		view = C.GOMPI_ELEMENTS
	}
	c := (*C.struct_gompi_cursor)(C.malloc(C.sizeof_struct_gompi_cursor))
	defer C.free(unsafe.Pointer(c))
	C.gompi_cursor_init(c, cType(t), C.int64_t(count), view)
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

func cType(t *datatype.Type) *C.struct_gompi_type {
	return C.gompi_type_get(C.MPI_Datatype(pointer(t.Handle())))
}
