package rma

import (
	"gompirma/core/shm"
)

// A window has control memory and a segment on each node of its members. The lowest member of the node, its leader,
// reserves them. An offset in a node's memfd is valid only on that node.

// localMembers describes the members of a window on this process' node.
type localMembers struct {
	ranks   []int32 // ranks in the window, ascending
	me      int     // index of this process in ranks
	members int     // number of members of the window, on all nodes
	// True if the node's control memory contains the table of all members, which its members on the node share. It
	// is false if all members are on this node, which needs no table. It is also false if memory for the table is
	// short, or if the window has members of other jobs, for which processes use different numbers; each process
	// then has a table of its own. The node leader reports this to the other members on the node in the second
	// exchange.
	table bool
}

// localMembersOf returns which of the n members of a window are on the node of this process. The argument `rank` is the
// rank of this process. The function `world` returns the process number of a member.
func (h *Host) localMembersOf(n, rank int, world func(rank int) int32) localMembers {
	v := localMembers{members: n}
	for i := range n {
		if i == rank {
			v.me = len(v.ranks)
		} else if h.NodeIndex(world(i)) < 0 {
			continue
		}
		v.ranks = append(v.ranks, int32(i))
	}
	v.table = len(v.ranks) < n && !h.hasForeign(n, world)
	return v
}

// hasForeign returns whether a member belongs to a job that this process' job is only connected to.
func (h *Host) hasForeign(n int, world func(rank int) int32) bool {
	for i := range n {
		if h.IsForeign != nil && h.IsForeign(world(i)) {
			return true
		}
	}
	return false
}

// leader returns the rank of the node leader, which reserves the memory that the node's members share.
func (v localMembers) leader() int { return int(v.ranks[0]) }

// isLeader returns whether this process is the node leader.
func (v localMembers) isLeader() bool { return v.me == 0 }

// leaders returns the process number of the lowest member of each node, and the index of this process in that list.
// Precondition: this process is the lowest member of its node.
func (w *Window) leaders() (list []int32, me int) {
	seen := map[int32]bool{}
	for i := range w.Group.Size() {
		world := w.Group.World(i)
		if node := w.host.NodeOf(world); !seen[node] {
			seen[node] = true
			if i == w.Rank {
				me = len(list)
			}
			list = append(list, world)
		}
	}
	return list, me
}

// Layout of the control memory on a node (capi/win/win.h). It begins with an entry for each rank from the lowest to the
// highest member on the node. The next parts are for the members on the node: a barrier, the counters of posts, a cache
// line that counts the members that have left, and the hints for MPI_Win_set_info. The last part is the table of all
// members of the window.

func (v localMembers) barrierOff() int64 {
	return WinMemberBytes * int64(v.ranks[len(v.ranks)-1]-v.ranks[0]+1)
}

// TracksLocks is true in a fault-tolerant job. The control memory then also has a word for each pair of members on the
// node, for the shared locks that one of them holds at the other. It is set before the first window is created.
var TracksLocks bool

// leaveOff returns the offset of the cache line that counts the members that have left the control memory.
func (v localMembers) leaveOff() int64 {
	n := len(v.ranks)
	used := v.barrierOff() + shm.BarrierSize(n) + int64(n)*int64(n)
	if TracksLocks {
		used = (used+3)/4*4 + 4*int64(n)*int64(n)
	}
	return (used + shm.CacheLine - 1) / shm.CacheLine * shm.CacheLine
}

// hintsOff returns the offset where the i-th member of the node publishes its hints for MPI_Win_set_info.
func (v localMembers) hintsOff(i int) int64 {
	return v.leaveOff() + shm.CacheLine + int64(i)*HintsMessageBytes
}

// rowsOff returns the offset of the table of all members.
func (v localMembers) rowsOff() int64 {
	return (v.hintsOff(len(v.ranks)) + shm.CacheLine - 1) / shm.CacheLine * shm.CacheLine
}

// controlBytes returns the size of the control memory in bytes.
func (v localMembers) controlBytes() int64 {
	if v.table {
		return v.rowsOff() + WinRemoteBytes*int64(v.members)
	}
	return v.hintsOff(len(v.ranks))
}

// writtenRows returns which entries of the table of all members this process writes.
func (v localMembers) writtenRows() Rows {
	if !v.table {
		return Rows{0, v.members}
	}
	n := len(v.ranks)
	return Rows{v.members * v.me / n, v.members * (v.me + 1) / n}
}

// usesAllPages returns whether all pages of the control memory are used. In this case the control memory is a block of
// shared memory (AllocBlock), because all pages of a block have memory.
func (v localMembers) usesAllPages() bool { return len(v.usedPages()) == 1 }

// usedPages returns the pages of the control memory that are used, as a list of extents with gaps between them. Pages
// that hold only entries of members on other nodes need no memory.
func (v localMembers) usedPages() (list []extent) {
	add := func(from, to int64) {
		from, to = from/shm.PageSize*shm.PageSize, roundToPages(to)
		if n := len(list); n > 0 && from <= list[n-1].off+list[n-1].size {
			list[n-1].size = to - list[n-1].off
			return
		}
		list = append(list, extent{from, to - from})
	}
	for _, r := range v.ranks {
		at := WinMemberBytes * int64(r-v.ranks[0])
		add(at, at+WinMemberBytes)
	}
	add(v.barrierOff(), v.controlBytes())
	return list
}
