package main

/*
#include "group/group.h"
*/
import "C"

import (
	"runtime"
	"slices"
	"unsafe"

	"gompirma/core/abi"
	"gompirma/core/group"
	"gompirma/core/mpierr"
)

// Groups are C's (capi/group/); this is what Go tells C of groups that it makes, and asks about those of the
// application.

// ranksOf describes a group for C. pin keeps its list where it is.
func ranksOf(g *group.Group, pin *runtime.Pinner) C.struct_gompi_ranks {
	first, stride, list := g.Form()
	ranks := C.struct_gompi_ranks{n: C.int32_t(g.Size()), first: C.int32_t(first), stride: C.int32_t(stride)}
	if len(list) > 0 {
		pin.Pin(&list[0])
		ranks.list = (*C.int32_t)(&list[0])
	}
	return ranks
}

// groupOf returns the group behind a handle. MPI_ERR_GROUP: there is none.
func groupOf(h uintptr) (*group.Group, error) {
	g := C.gompi_group_get(C.MPI_Group(pointer(h)))
	if g == nil {
		return nil, mpierr.New(abi.MPI_ERR_GROUP, "%#x is no group, or one that was freed", h)
	}
	r := &g.ranks
	if r.list == nil {
		return group.Range(int32(r.first), int32(r.n), int32(r.stride)), nil
	}
	return group.Of(slices.Clone(unsafe.Slice((*int32)(r.list), int(r.n)))), nil
}
