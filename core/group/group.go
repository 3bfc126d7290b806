// Package group owns MPI's groups: immutable ordered lists of processes. A process is identified by its
// number in the process table (package proc).
//
// The package must not depend on communicators, nodes, messages or handles. MPI's calls on groups are implemented in C
// (capi/group/), which has groups of its own. A Group is an ordinary Go value, which the garbage collector frees.
package group

import (
	"slices"
	"sync"

	"gompirma/core/abi"
)

// Undefined is the rank of a process that is not a member.
const Undefined = abi.MPI_UNDEFINED

// Group is an ordered list of distinct processes. It is immutable and safe for concurrent use.
//
// A group with a constant distance between the process numbers of its members (COMM_WORLD, the ranks of one node, a
// split into even and odd) is stored as three numbers. Other groups take 4 bytes for each member, and 4 more after the
// first call of Rank.
type Group struct {
	Session uint32 // handle of the session that the group is derived from; 0 if none

	n             int32
	first, stride int32   // used if list is nil
	list          []int32 // process number of each member; nil if their distance is constant

	once   sync.Once
	sorted []int32 // ranks in the order of their process numbers; the first call of Rank creates the slice
}

// Empty is the group without members (MPI_GROUP_EMPTY).
var Empty = &Group{}

// Range returns the group of the n processes with the numbers first, first+stride, ...
func Range(first, n, stride int32) *Group { return &Group{n: n, first: first, stride: stride} }

// Of returns the group of the processes with the given numbers, which must be distinct. The group refers to the slice,
// except if the distance between the numbers is constant. The caller must not change the slice afterwards.
func Of(world []int32) *Group {
	if len(world) == 0 {
		return Empty
	}
	stride := int32(1)
	if len(world) > 1 {
		stride = world[1] - world[0]
	}
	for i, w := range world {
		if w != world[0]+int32(i)*stride {
			return &Group{n: int32(len(world)), list: world}
		}
	}
	return Range(world[0], int32(len(world)), stride)
}

// DerivedFrom sets the session of g, a new group, to that of another group, unless g is empty. It returns g.
func (g *Group) DerivedFrom(from *Group) *Group {
	if g.n > 0 {
		g.Session = from.Session
	}
	return g
}

// Size returns the number of members.
func (g *Group) Size() int { return int(g.n) }

// World returns the process number of the member of rank i. Precondition: 0 <= i < Size().
func (g *Group) World(i int) int32 {
	if g.list != nil {
		return g.list[i]
	}
	return g.first + int32(i)*g.stride
}

// Form returns the representation of the group. If the result `list` is nil, the members are first, first+stride, ...;
// otherwise `list` has the members. The caller must not change it.
func (g *Group) Form() (first, stride int32, list []int32) { return g.first, g.stride, g.list }

// Rank returns the rank of the process with number w, Undefined if it is not a member. It costs O(log n), or O(1)
// if the distance between the members is constant.
func (g *Group) Rank(w int32) int {
	if g.list == nil {
		d := w - g.first
		if g.n == 0 || d%g.stride != 0 || d/g.stride < 0 || d/g.stride >= g.n {
			return Undefined
		}
		return int(d / g.stride)
	}
	g.once.Do(func() {
		g.sorted = make([]int32, g.n)
		for i := range g.sorted {
			g.sorted[i] = int32(i)
		}
		slices.SortFunc(g.sorted, func(a, b int32) int { return int(g.list[a]) - int(g.list[b]) })
	})
	i, ok := slices.BinarySearchFunc(g.sorted, w, func(r, w int32) int { return int(g.list[r]) - int(w) })
	if !ok {
		return Undefined
	}
	return int(g.sorted[i])
}

// Members returns the process numbers of all members in order, in a new slice.
func (g *Group) Members() []int32 {
	out := make([]int32, g.n)
	for i := range out {
		out[i] = g.World(i)
	}
	return out
}
