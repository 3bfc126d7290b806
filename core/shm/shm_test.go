package shm

import (
	"math/rand"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// nodes creates the shared memory of a node with n processes. It opens the memory n times in this process, once for
// each simulated process.
func nodes(t *testing.T, n int) []*Node {
	f, err := CreateControl(n, 1)
	require.NoError(t, err)
	defer f.Close()
	return opened(t, f, n)
}

// segmented does the same as nodes, but with the memory in a System V segment, as if the file size limit were low.
func segmented(t *testing.T, n int) []*Node {
	fd, err := unix.MemfdCreate("gompirma", 0)
	require.NoError(t, err)
	f := os.NewFile(uintptr(fd), "")
	defer f.Close()
	require.NoError(t, createInSegment(fd, n, 1, nil))
	return opened(t, f, n)
}

func opened(t *testing.T, f *os.File, n int) []*Node {
	out := make([]*Node, n)
	for i := range out {
		fd, err := unix.Dup(int(f.Fd()))
		require.NoError(t, err)
		out[i], err = Open(fd, i)
		require.NoError(t, err)
		t.Cleanup(out[i].Close)
	}
	return out
}

// onBoth runs a test with the memory in a memfd, and in a System V segment.
func onBoth(t *testing.T, n int, test func(t *testing.T, nd []*Node)) {
	t.Run("memfd", func(t *testing.T) { test(t, nodes(t, n)) })
	t.Run("segment", func(t *testing.T) { test(t, segmented(t, n)) })
}

func TestCreateRefuses(t *testing.T) {
	for _, n := range []int{-1, 0, MaxProcesses + 1} {
		_, err := CreateControl(n, 1)
		require.Error(t, err, "%d", n)
	}
	fd, err := unix.MemfdCreate("other", 0)
	require.NoError(t, err)
	defer unix.Close(fd)
	require.NoError(t, unix.Ftruncate(fd, HeaderSize))
	_, err = Open(fd, 0)
	require.Equal(t, int32(abi.MPI_ERR_OTHER), mpierr.ClassOf(err))
}

func TestHeapSharedAndZeroed(t *testing.T) {
	onBoth(t, 2, checkSharedAndZeroed)
}

func checkSharedAndZeroed(t *testing.T, nd []*Node) {
	off, err := nd[1].Reserve(10000, 0)
	require.NoError(t, err)
	require.NoError(t, nd[0].Commit(off, 10000))
	a, err := nd[0].Map(off, 12288)
	require.NoError(t, err)
	b, err := nd[1].Map(off, 12288)
	require.NoError(t, err)
	a[9999] = 7
	require.Equal(t, byte(7), b[9999])
	nd[0].Unmap(a)
	nd[1].Unmap(b)
	nd[1].Release(off, 10000)
	again, err := nd[1].Reserve(10000, 0)
	require.NoError(t, err)
	require.Equal(t, off, again)
	require.NoError(t, nd[1].Commit(off, 10000))
	c, err := nd[1].Map(off, 12288)
	require.NoError(t, err)
	require.Zero(t, c[9999])
	nd[1].Unmap(c)
	aligned, err := nd[0].MapAligned(again, 12288, 4*mib)
	require.NoError(t, err)
	require.Zero(t, address(aligned)%(4*mib))
	aligned[5] = 6
	d, err := nd[1].Map(off, 12288)
	require.NoError(t, err)
	require.Equal(t, byte(6), d[5])
	nd[0].Unmap(aligned)
	nd[1].Unmap(d)
	last, err := nd[0].Map(nd[0].end-PageSize, PageSize)
	require.NoError(t, err)
	nd[0].Unmap(last)
	_, err = nd[0].Map(nd[0].end, PageSize)
	require.Equal(t, int32(abi.MPI_ERR_INTERN), mpierr.ClassOf(err))
}

// TestRegionsDisjoint checks that no regions overlap, for several numbers of processes, in a memfd and in a System V
// segment.
func TestRegionsDisjoint(t *testing.T) {
	for _, n := range []int{1, 3, 64, MaxProcesses} {
		nd := &Node{fd: -1, Slots: n}
		id, err := makeSegment()
		require.NoError(t, err)
		require.NoError(t, nd.openSegment(id))
		require.GreaterOrEqual(t, nd.heapOff, ControlSize(n))
		require.Zero(t, nd.heapOff%HugePage)
		require.Zero(t, nd.heapStride%HugePage)
		require.LessOrEqual(t, nd.end, int64(segmentSize))
		require.GreaterOrEqual(t, nd.heapStride, int64(segmentSize/2/MaxProcesses))
		require.LessOrEqual(t, nd.heapStride, int64(HeapStride))
		_, _, image := nd.Image()
		require.False(t, image)
		unmap(nd.control)
	}
	_, off, image := nodes(t, 1)[0].Image()
	require.True(t, image)
	require.Equal(t, int64(ImageStride), off)
}

func TestHeapRandom(t *testing.T) {
	var h heap
	h.init(1<<40, HeapStride, new(int64))
	rnd := rand.New(rand.NewSource(1))
	var live []extent
	for i := 0; i < 3000; i++ {
		if len(live) > 0 && rnd.Intn(2) == 0 {
			k := rnd.Intn(len(live))
			h.freeExtent(live[k])
			live = append(live[:k], live[k+1:]...)
			continue
		}
		size := int64(1+rnd.Intn(20)) * PageSize
		align := int64(PageSize) << rnd.Intn(4)
		off, ok := h.alloc(size, align)
		require.True(t, ok)
		require.Zero(t, off%align)
		for _, e := range live {
			require.True(t, off+size <= e.off || e.off+e.size <= off, "overlap")
		}
		live = append(live, extent{off, size})
	}
	for _, e := range live {
		h.freeExtent(e)
	}
	require.Empty(t, h.free)
	require.Equal(t, h.base, h.end)
}

func TestAllocTooMuch(t *testing.T) {
	onBoth(t, 1, func(t *testing.T, nd []*Node) {
		_, err := nd[0].Reserve(HeapStride+1, 0)
		require.Equal(t, int32(abi.MPI_ERR_NO_MEM), mpierr.ClassOf(err))
		off, err := nd[0].Reserve(HeapStride-PageSize, 0)
		require.NoError(t, err)
		require.Equal(t, int32(abi.MPI_ERR_NO_MEM), mpierr.ClassOf(nd[0].Commit(off, HeapStride-PageSize)))
	})
}

// TestWakeClearsSleeping checks that Wake wakes a sleeping process once, and does not wake a process that does not
// sleep.
func TestWakeClearsSleeping(t *testing.T) {
	onBoth(t, 2, func(t *testing.T, nd []*Node) {
		sleeping, wake := nd[0].u32(0, CellHasSleepers), nd[0].u32(0, CellWakeSeq)
		nd[1].Wake(0)
		require.Zero(t, *wake, "nobody sleeps")
		*sleeping = 1
		nd[1].Wake(0)
		nd[1].Wake(0)
		require.Equal(t, uint32(1), *wake)
		require.Zero(t, *sleeping)
	})
}

// looker is a Waiter that reports a failed process after a number of polls. Its value is this number.
type looker int

func (l *looker) Await(done func() bool, what Waiting) error {
	for ; *l > 0; *l-- {
		if done() {
			return nil
		}
	}
	return mpierr.New(abi.MPI_ERR_PROC_ABORTED, "a process has failed")
}

func (l *looker) Publish(Waiting) func() { return func() {} }

func TestFailureEndsWaits(t *testing.T) {
	onBoth(t, 2, func(t *testing.T, nd []*Node) {
		l, looks := looker(3), 0
		nd[0].Waiter = &l
		require.NoError(t, nd[0].Wait(func() bool { looks++; return looks == 3 }))
		before := *nd[0].u32(0, CellWakeSeq)
		nd[0].MarkFailed(1)
		require.Equal(t, before+1, *nd[0].u32(0, CellWakeSeq), "a sleeping thread polls again")
		require.Equal(t, 1, nd[1].FailedCount())
		err := nd[0].Wait(func() bool { return false })
		require.Equal(t, int32(abi.MPI_ERR_PROC_ABORTED), mpierr.ClassOf(err))
	})
}

// TestAddProcesses checks that processes can be added until no slot is free, and that they can open the memory.
func TestAddProcesses(t *testing.T) {
	f, err := CreateControl(2, 1)
	require.NoError(t, err)
	defer f.Close()
	launcher, err := Open(int(f.Fd()), -1)
	require.NoError(t, err)
	require.Equal(t, 2, launcher.Count())
	_, err = Open(int(f.Fd()), 2)
	require.ErrorContains(t, err, "no process 2 of 2")
	first, err := launcher.AddProcesses(3)
	require.NoError(t, err)
	require.Equal(t, 2, first)
	added, err := Open(int(f.Fd()), 4)
	require.NoError(t, err)
	require.Equal(t, 5, added.Count())
	require.Equal(t, Opening, launcher.State(4))
	added.SetRunning()
	require.Equal(t, Running, launcher.State(4))
	launcher.NoteEnded(4)
	require.Equal(t, Finalized, added.State(4))
	_, err = launcher.AddProcesses(launcher.Slots - 4)
	require.ErrorContains(t, err, "are not possible")
	_, err = launcher.AddProcesses(launcher.Slots - 5)
	require.NoError(t, err)
}

// TestReclaim checks that the index of a process that has ended can be used again, with other memory.
func TestReclaim(t *testing.T) {
	f, err := CreateControl(1, 1)
	require.NoError(t, err)
	defer f.Close()
	launcher, err := Open(int(f.Fd()), -1)
	require.NoError(t, err)
	first, err := launcher.AddProcesses(1)
	require.NoError(t, err)
	old, err := Open(int(f.Fd()), first)
	require.NoError(t, err)
	off, err := old.Reserve(3*PageSize, PageSize)
	require.NoError(t, err)
	require.NoError(t, old.Commit(off, 3*PageSize))
	b, err := old.Map(off, 3*PageSize)
	require.NoError(t, err)
	b[5] = 7
	launcher.NoteEnded(first)
	launcher.Reclaim(first, 1)
	require.Equal(t, Absent, launcher.State(first))
	require.Zero(t, b[5], "the memory has not been released")
	next, err := Open(int(f.Fd()), first)
	require.NoError(t, err)
	require.Equal(t, uint32(1), next.Generation())
	again, err := next.Reserve(PageSize, PageSize)
	require.NoError(t, err)
	require.GreaterOrEqual(t, again, off+3*PageSize)
}
