package shm

import (
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"gompirma/core/abi"
	"gompirma/core/limit"
	"gompirma/core/mpierr"
)

const mib = 1 << 20

// taken returns the number of bytes of the node's memory that are allocated.
func taken(t *testing.T, nd *Node) int64 {
	var s unix.Stat_t
	require.NoError(t, unix.Fstat(nd.fd, &s))
	return s.Blocks * 512
}

// limited replaces the headroom of the simulated processes `nodes`: the memory that they share may grow by `total`
// bytes, and no other process allocates memory.
func limited(t *testing.T, nodes []*Node, total int64) {
	before := taken(t, nodes[0])
	for _, nd := range nodes {
		nd.promises.headroom = func(int64) limit.Headroom {
			return limit.Headroom{Free: max(before+total-taken(t, nd), 0), LimitedBy: "in a test"}
		}
	}
}

// commitMapped reserves, maps and allocates size bytes. The returned function frees them.
func commitMapped(t *testing.T, nd *Node, size int64) (free func(), err error) {
	off, err := nd.Reserve(size, 0)
	require.NoError(t, err)
	b, err := nd.Map(off, size)
	require.NoError(t, err)
	free = func() {
		nd.Unmap(b)
		nd.Release(off, size)
	}
	if _, err = nd.CommitMapped(b, off, SmallPages); err != nil {
		free()
	}
	return free, err
}

func TestCommitSerialized(t *testing.T) {
	nodes := nodes(t, 4)
	const each, fit = 24 * mib, 2
	const total = fit*each + each/2
	limited(t, nodes, total)
	start := taken(t, nodes[0])
	for range 5 {
		var all sync.WaitGroup
		var got atomic.Int32
		free := make([]func(), len(nodes))
		for i, nd := range nodes {
			all.Add(1)
			go func() {
				defer all.Done()
				f, err := commitMapped(t, nd, each)
				if err == nil {
					got.Add(1)
					free[i] = f
				} else {
					require.Equal(t, int32(abi.MPI_ERR_NO_MEM), mpierr.ClassOf(err))
					require.Contains(t, err.Error(), "available in a test")
				}
				require.LessOrEqual(t, taken(t, nd), start+total)
			}()
		}
		all.Wait()
		require.Equal(t, int32(fit), got.Load())
		for _, f := range free {
			if f != nil {
				f()
			}
		}
		require.Zero(t, nodes[0].promised())
		require.Equal(t, start, taken(t, nodes[0]))
	}
}

// TestCommitBacksOut checks that Commit fails and releases its memory if another process allocates memory at the same
// time.
func TestCommitBacksOut(t *testing.T) {
	nd := nodes(t, 1)[0]
	start := taken(t, nd)
	free := int64(100 * mib)
	nd.promises.headroom = func(int64) limit.Headroom {
		defer func() { free -= 30 * mib }()
		return limit.Headroom{Free: max(free, 0), LimitedBy: "in a test"}
	}
	_, err := commitMapped(t, nd, 60*mib)
	require.Equal(t, int32(abi.MPI_ERR_NO_MEM), mpierr.ClassOf(err))
	require.Contains(t, err.Error(), "only 41943040 more are available in a test")
	require.Equal(t, start, taken(t, nd))
	require.Zero(t, nd.promised())
}

func TestCommitOnOldSystems(t *testing.T) {
	calls, was := 0, populate
	populate = func([]byte) error { calls++; return unix.EINVAL }
	defer func() { populate = was }()
	nd := nodes(t, 2)[0]
	start := taken(t, nd)
	free, err := commitMapped(t, nd, 40*mib)
	require.NoError(t, err)
	require.Equal(t, 1, calls)
	require.GreaterOrEqual(t, taken(t, nd), start+40*mib)
	free()
	nd.WaitReleased()
	require.Equal(t, start, taken(t, nd))
}

// TestCommitMappedAlone checks that a process that is alone on its node allocates the memory without writing to it.
func TestCommitMappedAlone(t *testing.T) {
	calls, was := 0, populate
	populate = func(b []byte) error { calls++; return was(b) }
	defer func() { populate = was }()
	nd := nodes(t, 1)[0]
	start := taken(t, nd)
	free, err := commitMapped(t, nd, 40*mib)
	require.NoError(t, err)
	require.Zero(t, calls)
	require.GreaterOrEqual(t, taken(t, nd), start+40*mib)
	free()
	nd.WaitReleased()
	require.Equal(t, start, taken(t, nd))
}

// dead returns the id of a process that has ended.
func dead(t *testing.T) int32 {
	c := exec.Command("true")
	require.NoError(t, c.Run())
	return int32(c.Process.Pid)
}

func TestFailedPromisesIgnored(t *testing.T) {
	nodes := nodes(t, 3)
	limited(t, nodes, 50*mib)
	for i := range 2 {
		atomic.StoreInt64(nodes[i].i64(i, CellReservedBytes), 40*mib)
	}
	_, err := commitMapped(t, nodes[2], 60*mib)
	require.ErrorContains(t, err, "62914560 bytes of shared memory: only 52428800 are available in a test")
	nodes[0].SetState(0, Finalized)
	atomic.StoreInt32(nodes[1].i32(1, CellPid), dead(t))
	free, err := commitMapped(t, nodes[2], 40*mib)
	require.NoError(t, err)
	free()
	require.Equal(t, Failed, nodes[2].State(1))
}

func TestStoppedLockHolder(t *testing.T) {
	nodes := nodes(t, 2)
	limited(t, nodes, 50*mib)
	atomic.StoreInt64(nodes[0].i64(0, CellReservedBytes), 40*mib)
	*u32(nodes[0].control, headerPromiseLock) = 1
	_, err := commitMapped(t, nodes[1], 20*mib)
	require.ErrorContains(t, err, "and other ranks of this job are allocating 41943040 of them")
	free, err := commitMapped(t, nodes[1], 9*mib)
	require.NoError(t, err)
	free()
	require.Equal(t, uint32(1), *u32(nodes[1].control, headerPromiseLock), "it still has the turn")
	// The lock holder has died: the lock must be acquired nevertheless.
	atomic.StoreInt32(nodes[0].i32(0, CellPid), dead(t))
	free, err = commitMapped(t, nodes[1], 20*mib)
	require.NoError(t, err)
	free()
	require.Zero(t, *u32(nodes[1].control, headerPromiseLock))
	*u32(nodes[1].control, headerPromiseLock) = 77 // an invalid value
	free, err = commitMapped(t, nodes[1], 20*mib)
	require.NoError(t, err)
	free()
}

func TestSmallAmountsUseCredit(t *testing.T) {
	nd := nodes(t, 1)[0]
	looks := 0
	free := int64(4 << 30)
	nd.promises.headroom = func(int64) limit.Headroom {
		looks++
		return limit.Headroom{Free: free,
			LimitedBy: "in a test"}
	}
	off, err := nd.Reserve(16*mib, 0)
	require.NoError(t, err)
	for at := int64(0); at < 16*mib; at += PageSize {
		require.NoError(t, nd.Commit(off+at, PageSize))
	}
	require.Less(t, looks, 10)
	free = 256 * PageSize // each check grants a credit of one page
	nd.promises.credit = 0
	looks = 0
	for at := int64(0); at < 20*PageSize; at += PageSize {
		require.NoError(t, nd.Commit(off+at, PageSize))
	}
	require.Equal(t, 10, looks)
	nd.Release(off, 16*mib)
}

// TestCommitMappedPrefaults checks that CommitMapped maps the pages that it allocates. If it used fallocate, each page
// would fault at the first access, and the kernel would serialize the faults of the processes.
func TestCommitMappedPrefaults(t *testing.T) {
	nd := nodes(t, 2)[0]
	const size = 8 * mib
	off, err := nd.Reserve(size, 0)
	require.NoError(t, err)
	b, err := nd.Map(off, size)
	require.NoError(t, err)
	if unix.Madvise(b[:PageSize], unix.MADV_POPULATE_WRITE) != nil {
		t.Skip("this kernel has no MADV_POPULATE_WRITE")
	}
	_, err = nd.CommitMapped(b, off, SmallPages)
	require.NoError(t, err)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.Rusage
	require.NoError(t, unix.Getrusage(unix.RUSAGE_THREAD, &before))
	for at := 0; at < size; at += PageSize {
		b[at] = 1
	}
	require.NoError(t, unix.Getrusage(unix.RUSAGE_THREAD, &after))
	require.Less(t, after.Minflt-before.Minflt, int64(size/PageSize/10))
	nd.Unmap(b)
	nd.Release(off, size)
}
