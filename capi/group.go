package main

/*
#include "group/group.h"
*/
import "C"

import (
	"runtime"

	"gompirma/core/abi"
	"gompirma/core/group"
	"gompirma/core/mpierr"
)

// Groups (MPI-5.0 7.3); what only asks is in group/group.c. They belong to no communicator, so their errors are raised
// on MPI_COMM_SELF. None of the calls communicates.

// groupOf returns the group behind a handle. MPI_ERR_GROUP: there is none.
func groupOf(h uintptr) (*group.Group, error) {
	if g := group.Lookup(h); g != nil {
		return g, nil
	}
	return nil, mpierr.New(abi.MPI_ERR_GROUP, "%#x is no group, or one that was freed", h)
}

// groupHandle returns the handle of g, which is to be freed once more. MPI_ERR_NO_MEM: too many groups have one.
func groupHandle(g *group.Group) (uintptr, error) {
	h, ok := g.Hold()
	if !ok {
		return 0, mpierr.New(abi.MPI_ERR_NO_MEM, "%d groups exist already", group.MostHandles)
	}
	return h, nil
}

// null returns an error if one of the addresses that a call stores its results at is null.
func null(addresses ...uintptr) error {
	for _, a := range addresses {
		if a == 0 {
			return mpierr.New(abi.MPI_ERR_ARG, "the address of a result is NULL")
		}
	}
	return nil
}

// storeGroup stores a handle of g at result.
func storeGroup(g *group.Group, result uintptr) error {
	return store(result, func() (uintptr, error) { return groupHandle(g) })
}

// listAt returns the n elements at an address. MPI_ERR_ARG: n is negative, or there is none there.
func listAt[T any](what string, n int32, at uintptr) ([]T, error) {
	if n < 0 || n > 0 && at == 0 {
		return nil, mpierr.New(abi.MPI_ERR_ARG, "%d %s at address %#x", n, what, at)
	}
	return array[T](at, int64(n))
}

// gompi_tell_group gives C the members of a group when it is asked about it first; 0: there is no such group.
//
//export gompi_tell_group
func gompi_tell_group(h uintptr) int32 {
	g := group.Lookup(h)
	if g == nil {
		return 0
	}
	first, stride, list := g.Form()
	ranks := C.struct_gompi_ranks{n: C.int32_t(g.Size()), first: C.int32_t(first), stride: C.int32_t(stride)}
	var pin runtime.Pinner
	defer pin.Unpin()
	if len(list) > 0 {
		pin.Pin(&list[0])
		ranks.list = (*C.int32_t)(&list[0])
	}
	if !C.gompi_group_put(C.uintptr_t(h), ranks) {
		return 0
	}
	return 1
}

//export gompi_compare_groups
func gompi_compare_groups(group1, group2 uintptr) int32 {
	a, b := group.Lookup(group1), group.Lookup(group2)
	if a == nil || b == nil {
		return abi.MPI_UNEQUAL
	}
	return group.Compare(a, b)
}

//export gompi_translate_ranks
func gompi_translate_ranks(group1 uintptr, n int32, ranks1, group2, ranks2 uintptr) {
	if a, b := group.Lookup(group1), group.Lookup(group2); a != nil && b != nil {
		group.Translate(a, slice[int32](ranks1, int(n)), b, slice[int32](ranks2, int(n)))
	}
}

// combine stores the group that f makes of two.
func combine(function string, group1, group2, result uintptr, f func(a, b *group.Group) *group.Group) int32 {
	return alone(function, func() error {
		a, err := groupOf(group1)
		if err != nil {
			return err
		}
		b, err := groupOf(group2)
		if err != nil {
			return err
		}
		return storeGroup(f(a, b), result)
	})
}

//export gompi_group_union
func gompi_group_union(group1, group2, newgroup uintptr) int32 {
	return combine("MPI_Group_union", group1, group2, newgroup, group.Union)
}

//export gompi_group_intersection
func gompi_group_intersection(group1, group2, newgroup uintptr) int32 {
	return combine("MPI_Group_intersection", group1, group2, newgroup, group.Intersection)
}

//export gompi_group_difference
func gompi_group_difference(group1, group2, newgroup uintptr) int32 {
	return combine("MPI_Group_difference", group1, group2, newgroup, group.Difference)
}

// choose stores the group that f makes of one and a list of n ranks, or of n ranges of three numbers each.
func choose[T any](function, what string, from uintptr, n int32, list, result uintptr,
	f func(*group.Group, []T) (*group.Group, error)) int32 {
	return alone(function, func() error {
		g, err := groupOf(from)
		if err != nil {
			return err
		}
		chosen, err := listAt[T](what, n, list)
		if err != nil {
			return err
		}
		made, err := f(g, chosen)
		if err != nil {
			return err
		}
		return storeGroup(made, result)
	})
}

//export gompi_group_incl
func gompi_group_incl(from uintptr, n int32, ranks, newgroup uintptr) int32 {
	return choose("MPI_Group_incl", "ranks", from, n, ranks, newgroup, group.Include)
}

//export gompi_group_excl
func gompi_group_excl(from uintptr, n int32, ranks, newgroup uintptr) int32 {
	return choose("MPI_Group_excl", "ranks", from, n, ranks, newgroup, group.Exclude)
}

//export gompi_group_range_incl
func gompi_group_range_incl(from uintptr, n int32, ranges, newgroup uintptr) int32 {
	return choose("MPI_Group_range_incl", "ranges", from, n, ranges, newgroup, group.RangeInclude)
}

//export gompi_group_range_excl
func gompi_group_range_excl(from uintptr, n int32, ranges, newgroup uintptr) int32 {
	return choose("MPI_Group_range_excl", "ranges", from, n, ranges, newgroup, group.RangeExclude)
}

//export gompi_group_free
func gompi_group_free(at uintptr) int32 {
	return freeing("MPI_Group_free", at, abi.MPI_GROUP_NULL, func(h uintptr) error {
		gone, ok := group.Release(h)
		if !ok {
			return mpierr.New(abi.MPI_ERR_GROUP, "%#x is no group, or one that was freed", h)
		}
		if gone {
			C.gompi_known_forget(&C.gompi_groups, C.uintptr_t(h))
			groupFreed()
		}
		return nil
	})
}
