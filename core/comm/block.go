package comm

import (
	"gompirma/core/group"
)

// The control block of n members:
//
//	0                BarrierSize(n) bytes  the barrier's (capi/base/barrier.h)
//	CollOffset(n)    CollSize(n) bytes     the other collectives' (core/coll)
//	tail             64 bytes              number of members that have unmapped it

const (
	cacheLine = 64
	pageSize  = 4096
)

// BarrierSize returns the size of the memory of a barrier of n members: a line of arrivals, one of the phase and two a
// member.
func BarrierSize(n int) int64 { return cacheLine * (2 + 2*int64(n)) }

// CollSize returns the size of the memory that core/coll uses in the control block of n members; core/coll sets it
// before the first communicator is made.
var CollSize = func(n int) int64 { return 0 }

// CollOffset returns where the memory of core/coll begins, on a page of its own.
func CollOffset(n int) int64 { return (BarrierSize(n) + pageSize - 1) / pageSize * pageSize }

// BlockSize returns the size of the control block of n members.
func BlockSize(n int) int64 {
	used := CollOffset(n) + (CollSize(n)+cacheLine-1)/cacheLine*cacheLine + cacheLine
	return (used + pageSize - 1) / pageSize * pageSize
}

// wantsBlock returns whether the members of g can share a control block, and need one.
func wantsBlock(host Host, g *group.Group) bool {
	if g.Size() < 2 {
		return false
	}
	node := host.Node(g.World(0))
	for i := 1; i < g.Size(); i++ {
		if host.Node(g.World(i)) != node {
			return false
		}
	}
	return true
}

// dropBlock leaves the control block. The member that leaves last has its memory given back.
func (c *Comm) dropBlock() {
	if c.Block == nil {
		return
	}
	b := c.Block
	c.Block = nil
	last := leave(b, c.size)
	c.host.DropBlock(b, c.leader, c.blockOff, int64(len(b)), last)
}
