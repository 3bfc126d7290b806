package rma

import (
	"bytes"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"gompirma/core/abi"
	"gompirma/core/group"
	"gompirma/core/mpierr"
	"gompirma/core/shm"
)

// TestControlMemoryLayout checks that control memory has an entry for each rank from the lowest to the highest member
// on the node. Only pages with entries of members on the node must have memory.
func TestControlMemoryLayout(t *testing.T) {
	every := func(n, first, step int32) (ranks []int32) {
		for i := range n {
			ranks = append(ranks, first+i*step)
		}
		return ranks
	}
	memory := func(v localMembers) (sum int64) {
		end := int64(-1)
		for _, x := range v.usedPages() {
			require.Greater(t, x.off, end, "no page twice, and gaps between")
			require.Zero(t, x.off%shm.PageSize+x.size%shm.PageSize)
			end = x.off + x.size
			sum += x.size
		}
		require.Equal(t, roundToPages(v.controlBytes()), end)
		return sum
	}
	alone := localMembers{ranks: every(100, 0, 1)}
	require.Equal(t, memory(alone), roundToPages(alone.controlBytes()))

	block := localMembers{ranks: every(100, 99_900, 1)}
	require.Equal(t, alone.controlBytes(), block.controlBytes(), "only ranks between members of the node count")
	require.Equal(t, memory(alone), memory(block))

	// If the ranks are distributed cyclically over 1,000 nodes, each member's entry may be on a page of its own. So
	// at most one page for each member is added.
	turns := localMembers{ranks: every(100, 7, 1000)}
	require.Greater(t, turns.controlBytes(), int64(99_000*WinMemberBytes))
	require.LessOrEqual(t, memory(turns), memory(alone)+100*shm.PageSize)

	// With the table of all members, the control memory grows by the table and at most one page.
	for _, v := range []localMembers{block, turns} {
		table := v
		table.members, table.table = 100_000, true
		require.Zero(t, table.rowsOff()%shm.CacheLine)
		require.GreaterOrEqual(t, table.rowsOff(), v.controlBytes())
		require.Equal(t, table.rowsOff()+100_000*WinRemoteBytes, table.controlBytes())
		require.LessOrEqual(t, memory(table), memory(v)+100_000*WinRemoteBytes+shm.PageSize)
		require.Equal(t, v.usesAllPages(), table.usesAllPages())
		next := 0
		for table.me = range table.ranks {
			rows := table.writtenRows()
			require.Equal(t, next, rows.From, "each row is written by one process")
			next = rows.To
		}
		require.Equal(t, 100_000, next)
	}

	for _, v := range []localMembers{alone, block, turns} {
		require.GreaterOrEqual(t, v.leaveOff(), v.barrierOff()+shm.BarrierSize(100)+100*100)
		require.Zero(t, v.leaveOff()%shm.CacheLine)
		require.Equal(t, v.controlBytes(), v.hintsOff(100))
	}
}

// pretended is the data path of a process that the test simulates. It stores the plan that Install receives.
type pretended struct {
	DataPath
	plan *Plan
}

func (p *pretended) Install(plan *Plan) error { p.plan = plan; return nil }
func (*pretended) Remove(uintptr)             {}
func (*pretended) Unregister(Region)          {}
func (*pretended) Register(a uintptr, size int64) Region {
	return Region{Key: uint64(size), Address: uint64(a)}
}

// TestWindowOnTwoNodes opens a window of five members at each member, and checks the plans and the shared table. Ranks
// 0, 2 and 3 are on one node, the other two ranks on another node.
func TestWindowOnTwoNodes(t *testing.T) {
	const n = 5
	nodeOf := [n]int{0, 1, 0, 0, 1}
	indexOf := [n]int{0, 0, 1, 2, 1}
	var fd [2]int
	for i, processes := range []int{3, 2} {
		f, err := shm.CreateControl(processes, 1)
		require.NoError(t, err)
		fd[i], err = unix.Dup(int(f.Fd()))
		require.NoError(t, err)
		f.Close()
	}
	var windows [n]*Window
	var all records
	for r := range windows {
		d, err := unix.Dup(fd[nodeOf[r]])
		require.NoError(t, err)
		nd, err := shm.Open(d, indexOf[r])
		require.NoError(t, err)
		t.Cleanup(nd.Close)
		h := &Host{Node: nd, Data: &pretended{}, NodeIndex: func(world int32) int {
			if nodeOf[world] != nodeOf[r] {
				return -1
			}
			return indexOf[world]
		}, NodeOf: func(world int32) int32 { return int32(nodeOf[world]) }}
		g := group.Range(0, n, 1)
		w := &Window{host: h, Group: g, Rank: r, Flavor: abi.MPI_WIN_FLAVOR_ALLOCATE, Size: int64(r) * 5000,
			DispUnit: int32(r + 1), hints: DefaultHints(), local: h.localMembersOf(n, r, g.World)}
		windows[r] = w
		m := record{flavor: w.Flavor, size: w.Size, dispUnit: w.DispUnit, memfdOff: -1, alignment: 64,
			hints: w.hints.Common}
		all = append(all, m.encode()...)
	}
	t.Cleanup(func() {
		for _, w := range windows {
			w.close(creationFailed)
		}
		unix.Close(fd[0])
		unix.Close(fd[1])
	})
	require.Equal(t, localMembers{ranks: []int32{0, 2, 3}, me: 1, members: n, table: true}, windows[2].local)
	require.Equal(t, localMembers{ranks: []int32{1, 4}, me: 1, members: n, table: true}, windows[4].local)
	for _, w := range windows {
		require.NoError(t, w.agree(nil, all))
		require.NoError(t, w.reserve(all))
		require.Equal(t, w.Rank < 2, len(w.reserved) == 2, "the lowest of each node reserves")
	}
	for _, w := range windows {
		from := windows[w.local.leader()].reserved
		w.controlOff, w.segmentOff = from[0].off, from[1].off
		require.NoError(t, w.open(all))
		want := Region{}
		if w.Size > 0 {
			want = Region{Key: uint64(w.Size), Address: uint64(w.Base)}
		}
		require.Equal(t, want, w.region)
	}
	for _, w := range windows {
		p := w.host.Data.(*pretended).plan
		require.Len(t, p.Local, len(w.local.ranks))
		require.Equal(t, address(w.control)+uintptr(w.local.rowsOff()), p.Table)
		if w.Rank < 2 {
			require.Equal(t, []int32{0, 1}, p.Leaders)
			require.Equal(t, w.Rank, p.Node)
		} else {
			require.Empty(t, p.Leaders)
		}
		require.Equal(t, Member{Size: 15000, DispUnit: 4, Peer: 3}, p.MemberOf(3))
		if w.Size > 0 {
			bytesOf(w.Base, w.Size)[w.Size-1] = byte(w.Rank)
		}
	}
	for _, w := range windows {
		for i, r := range w.local.ranks {
			m := w.targets[i]
			require.Equal(t, []int32{r, r + 1}, []int32{m.Rank, m.DispUnit})
			require.Equal(t, int64(r)*5000, m.Size)
			if r > 0 {
				require.True(t, m.Direct)
				require.Equal(t, byte(r), bytesOf(m.Base, m.Size)[m.Size-1], "rank %d sees that of %d",
					w.Rank, r)
			}
		}
	}
	w := windows[0]
	w.Flavor = abi.MPI_WIN_FLAVOR_SHARED
	for i := range n {
		m := all.at(i)
		m.flavor = w.Flavor
		copy(all[i*recordSize:], m.encode())
	}
	require.Equal(t, int32(abi.MPI_ERR_RMA_SHARED), mpierr.ClassOf(w.agree(nil, all)))
}

// newNode creates the shared memory of a node with n processes, and opens it as the first one.
func newNode(t *testing.T, n int) *shm.Node {
	t.Helper()
	f, err := shm.CreateControl(n, 1)
	require.NoError(t, err)
	fd, err := unix.Dup(int(f.Fd()))
	require.NoError(t, err)
	f.Close()
	nd, err := shm.Open(fd, 0)
	require.NoError(t, err)
	t.Cleanup(nd.Close)
	return nd
}

// TestWindowOfManyNodes creates one member's part of a window of 10^5 members on 10^3 nodes. It checks that the memory
// that Go keeps for the window does not grow with the number of members.
func TestWindowOfManyNodes(t *testing.T) {
	const n, nodes, here = 100_000, 1000, 100
	nd := newNode(t, here)
	h := &Host{Node: nd, Data: &pretended{}, NodeIndex: func(world int32) int {
		if world/here == 7 {
			return int(world % here)
		}
		return -1
	}, NodeOf: func(world int32) int32 { return world / here }}
	m := record{flavor: abi.MPI_WIN_FLAVOR_ALLOCATE, size: 4096, dispUnit: 8, memfdOff: -1, alignment: 64}
	all := records(bytes.Repeat(m.encode(), n))
	g := group.Range(0, n, 1)
	kept := func() uint64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	before := kept()
	w := &Window{host: h, Group: g, Rank: 7 * here, Flavor: m.flavor, Size: m.size, DispUnit: m.dispUnit,
		local: h.localMembersOf(n, 7*here, g.World)}
	t.Cleanup(func() { w.close(creationFailed) })
	began := time.Now()
	require.NoError(t, w.agree(nil, all))
	require.NoError(t, w.reserve(all))
	w.controlOff, w.segmentOff = w.reserved[0].off, w.reserved[1].off
	require.NoError(t, w.open(all))
	t.Logf("%v", time.Since(began))
	data := h.Data.(*pretended)
	require.Equal(t, Rows{0, n / here}, data.plan.Rows)
	require.Len(t, data.plan.Leaders, nodes)
	require.Equal(t, 7, data.plan.Node)
	data.plan = nil
	require.Less(t, int64(kept()-before), int64(64<<10)) // negative if other memory has been freed meanwhile
	runtime.KeepAlive(w)
	runtime.KeepAlive(all)
}
