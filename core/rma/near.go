package rma

import (
	"gompirma/core/shm"
)

// A window whose members are on several nodes has control memory and a segment on each of these nodes. The lowest
// member of the node reserves them. An offset in a node's memfd is valid on that node only.

// near is the members of a window on this process' node.
type near struct {
	ranks   []int32 // in the window, ascending
	me      int     // index of this process in ranks
	members int     // number of members of the window, on all nodes
	// The table of all members is in the control memory of the node. It is not if all members are on this node, or
	// if there is not enough memory for it. In the latter case each process has its own table; all members on the
	// node learn this in the second exchange.
	table bool
}

// nearOf returns which of the n members of a window are on the node of this process, which is the member rank.
func (h *Host) nearOf(n, rank int, world func(rank int) int32) near {
	v := near{members: n}
	for i := range n {
		if i == rank {
			v.me = len(v.ranks)
		} else if h.NodeIndex(world(i)) < 0 {
			continue
		}
		v.ranks = append(v.ranks, int32(i))
	}
	v.table = len(v.ranks) < n
	return v
}

// leader returns the member that reserves what exists once on the node.
func (v near) leader() int { return int(v.ranks[0]) }

// leads returns whether this process is the leader.
func (v near) leads() bool { return v.me == 0 }

// leaders returns the world ranks of the lowest member of each node, and the index of this process in that list.
// Precondition: this process is one of them.
func (w *Window) leaders() (list []int32, me int) {
	seen := make([]bool, w.host.Nodes)
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

// MemberSize is sizeof(struct gompi_win_member) in capi/win/win.h, which compares it at compile time.
const MemberSize = 256

// RowSize is sizeof(struct gompi_win_remote) in capi/win/win.h, which compares it at compile time.
const RowSize = 32

// Layout of the control memory on a node (capi/win/win.h). It begins with an entry for each rank from the lowest to the
// highest member of the node. After these follow the barrier and posts of its members, a cache line that counts the
// members that have left, their words for MPI_Win_set_info, and the table of all members.

func (v near) barrier() int64 { return MemberSize * int64(v.ranks[len(v.ranks)-1]-v.ranks[0]+1) }

// left returns the offset of the cache line that counts the members that have left.
func (v near) left() int64 {
	n := len(v.ranks)
	used := v.barrier() + shm.BarrierSize(n) + int64(n)*int64(n)
	return (used + shm.CacheLine - 1) / shm.CacheLine * shm.CacheLine
}

// ToldSize is sizeof(struct gompi_told_hints) in capi/win/hints.h, compared at compile time there.
const ToldSize = 24

// hints returns the offset where the i-th member of the node publishes its hints for MPI_Win_set_info.
func (v near) hints(i int) int64 { return v.left() + shm.CacheLine + int64(i)*ToldSize }

// rows returns the offset of the table of all members.
func (v near) rows() int64 {
	return (v.hints(len(v.ranks)) + shm.CacheLine - 1) / shm.CacheLine * shm.CacheLine
}

// size returns the size of the control memory in bytes.
func (v near) size() int64 {
	if v.table {
		return v.rows() + RowSize*int64(v.members)
	}
	return v.hints(len(v.ranks))
}

// mine returns which rows of the table this process writes.
func (v near) mine() Rows {
	if !v.table {
		return Rows{0, v.members}
	}
	n := len(v.ranks)
	return Rows{v.members * v.me / n, v.members * (v.me + 1) / n}
}

// dense returns whether all pages of the control memory are used. It is then a block of shared memory, all of whose
// pages have memory.
func (v near) dense() bool { return len(v.used()) == 1 }

// used returns the pages of the control memory that are used, as extents of whole pages without gaps between them.
// Pages that hold only entries of members on other nodes need no memory.
func (v near) used() (list []extent) {
	add := func(from, to int64) {
		from, to = from/shm.PageSize*shm.PageSize, pages(to)
		if n := len(list); n > 0 && from <= list[n-1].off+list[n-1].size {
			list[n-1].size = to - list[n-1].off
			return
		}
		list = append(list, extent{from, to - from})
	}
	for _, r := range v.ranks {
		at := MemberSize * int64(r-v.ranks[0])
		add(at, at+MemberSize)
	}
	add(v.barrier(), v.size())
	return list
}
