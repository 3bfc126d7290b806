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
	"gompirma/core/comm"
	"gompirma/core/group"
	"gompirma/core/mpierr"
)

// Conversion of groups between Go and C, which implements them (capi/group/).

// ranksOf returns the C form of a group. It pins the list of the group with `pin`.
func ranksOf(g *group.Group, pin *runtime.Pinner) C.struct_gompi_ranks {
	first, stride, list := g.Form()
	ranks := C.struct_gompi_ranks{n: C.int32_t(g.Size()), first: C.int32_t(first), stride: C.int32_t(stride),
		session: C.int32_t(g.Session)}
	if len(list) > 0 {
		pin.Pin(&list[0])
		ranks.list = (*C.int32_t)(&list[0])
	}
	return ranks
}

// groupOf returns the group with a handle, or MPI_ERR_GROUP if no group has the handle.
func groupOf(h uintptr) (*group.Group, error) {
	g := C.gompi_group_get(C.MPI_Group(pointer(h)))
	if g == nil && h == abi.MPI_GROUP_NULL {
		return nil, mpierr.New(abi.MPI_ERR_GROUP, "the group is MPI_GROUP_NULL")
	}
	if g == nil {
		return nil, mpierr.New(abi.MPI_ERR_GROUP, "%#x is not a group, or has been freed", h)
	}
	r := &g.ranks
	copied := group.Range(int32(r.first), int32(r.n), int32(r.stride))
	if r.list != nil {
		copied = group.Of(slices.Clone(unsafe.Slice((*int32)(r.list), int(r.n))))
	}
	if r.n > 0 {
		copied.Session = uint32(r.session)
	}
	return copied, nil
}

// groupFor returns the group with a handle, for a call that uses it with the communicator c. It returns MPI_ERR_GROUP
// if no group has the handle, or if the two are derived from different sessions.
func groupFor(c *comm.Comm, h uintptr) (*group.Group, error) {
	g, err := groupOf(h)
	if err == nil && g.Size() > 0 && g.Session != c.Group().Session {
		err = mpierr.New(abi.MPI_ERR_GROUP,
			"the communicator and the group are derived from different sessions")
	}
	return g, err
}
