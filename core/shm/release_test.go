package shm

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// slow is a backing that releases memory only when a test allows it.
type slow struct {
	backing
	let chan struct{} // each value permits the release of one chunk; a closed channel permits all
}

func (s *slow) release(off, size int64) {
	<-s.let
	s.backing.release(off, size)
}

// slowly makes nd release memory only as the test permits. Each value that the test sends to the channel `let` permits
// the release of one chunk. When the test calls the function `all`, or ends, it permits the release of all chunks.
func slowly(t *testing.T, nd *Node) (let chan<- struct{}, all func()) {
	s := &slow{nd.memory, make(chan struct{})}
	nd.memory = s
	nd.releaser.share = 1
	all = sync.OnceFunc(func() { close(s.let) })
	t.Cleanup(all)
	return s.let, all
}

// TestReleaseDoesNotWait checks that a large amount of memory is released in the background, and completely. The
// address space must not be reused before the memory is released.
func TestReleaseDoesNotWait(t *testing.T) {
	nd := nodes(t, 1)[0]
	limited(t, []*Node{nd}, 1<<30)
	start := taken(t, nd)
	off, err := nd.Reserve(48*mib, 0)
	require.NoError(t, err)
	require.NoError(t, nd.Commit(off, 48*mib))
	_, all := slowly(t, nd)
	nd.Release(off, 48*mib)
	require.Equal(t, int64(48*mib), nd.pendingBytes())
	require.GreaterOrEqual(t, taken(t, nd), start+48*mib)
	other, err := nd.Reserve(48*mib, 0)
	require.NoError(t, err)
	require.GreaterOrEqual(t, other, off+48*mib, "what still has contents has been handed out")
	all()
	nd.WaitReleased() // the background release may have finished by itself
	require.False(t, nd.WaitReleased())
	require.Zero(t, nd.pendingBytes())
	require.Equal(t, start, taken(t, nd))
	again, err := nd.Reserve(48*mib, 0)
	require.NoError(t, err)
	require.Equal(t, off, again)
}

// TestSmallReleaseImmediate checks two amounts of memory that must be released at once. One is small. The other one is
// large, and a large share of the free memory.
func TestSmallReleaseImmediate(t *testing.T) {
	for name, c := range map[string]struct{ size, total int64 }{
		"little": {minDeferredBytes - PageSize, 1 << 30},
		"short":  {32 * mib, 32*mib + 7*32*mib},
	} {
		nd := nodes(t, 1)[0]
		limited(t, []*Node{nd}, c.total)
		nd.releaser.share = 8
		start := taken(t, nd)
		off, err := nd.Reserve(c.size, 0)
		require.NoError(t, err)
		require.NoError(t, nd.Commit(off, c.size))
		nd.Release(off, c.size)
		require.Zero(t, nd.pendingBytes(), name)
		require.Equal(t, start, taken(t, nd), name)
	}
}

// TestAllocWaitsForRelease checks that a process that needs memory waits until another process has released it.
func TestAllocWaitsForRelease(t *testing.T) {
	nodes := nodes(t, 2)
	limited(t, nodes, 100*mib)
	off, err := nodes[0].Reserve(48*mib, 0)
	require.NoError(t, err)
	require.NoError(t, nodes[0].Commit(off, 48*mib))
	let, _ := slowly(t, nodes[0])
	nodes[0].Release(off, 48*mib)
	require.Equal(t, int64(48*mib), nodes[1].pendingBytes())
	done := make(chan error, 1)
	go func() {
		off, err := nodes[1].Reserve(90*mib, 0)
		if err == nil {
			err = nodes[1].Commit(off, 90*mib)
		}
		done <- err
	}()
	for range 3 {
		select {
		case err := <-done:
			t.Fatalf("it did not wait: %v", err)
		case let <- struct{}{}:
		}
	}
	require.NoError(t, <-done)
	require.False(t, nodes[1].WaitAllReleased())
	// A request for more memory than exists fails without waiting for a release.
	_, err = nodes[1].Reserve(20*mib, 0)
	require.NoError(t, err)
	require.Equal(t, int32(abi.MPI_ERR_NO_MEM), mpierr.ClassOf(nodes[1].Commit(off, 20*mib)))
}

// TestStoppedReleaser checks that a process that makes no progress with the release delays other processes only
// briefly.
func TestStoppedReleaser(t *testing.T) {
	nodes := nodes(t, 2)
	limited(t, nodes, 100*mib)
	off, err := nodes[0].Reserve(48*mib, 0)
	require.NoError(t, err)
	require.NoError(t, nodes[0].Commit(off, 48*mib))
	_, all := slowly(t, nodes[0])
	nodes[0].Release(off, 48*mib)
	start := time.Now()
	require.Equal(t, int32(abi.MPI_ERR_NO_MEM), mpierr.ClassOf(nodes[1].Commit(off, 90*mib)))
	require.GreaterOrEqual(t, time.Since(start), maxPromiseWait)
	require.True(t, nodes[1].WaitAllReleased())
	nodes[0].SetState(0, Failed)
	require.False(t, nodes[1].WaitAllReleased())
	nodes[0].SetState(0, Running)
	all()
	require.True(t, nodes[1].WaitAllReleased() || nodes[1].pendingBytes() == 0)
}

// TestUnmapFreesAddress checks that the address range of a large mapping is free when Unmap returns, even if the
// application has changed the mapping. The whole mapping must be unmapped in the end.
func TestUnmapFreesAddress(t *testing.T) {
	onBoth(t, 1, func(t *testing.T, nodes []*Node) {
		nd := nodes[0]
		const size = 3*minDeferredBytes + 5*PageSize
		off, err := nd.Reserve(size, 0)
		require.NoError(t, err)
		require.NoError(t, nd.Commit(off, size))
		for _, divided := range []bool{false, true} {
			b, err := nd.Map(off, size)
			require.NoError(t, err)
			b[size-1] = 7
			if divided {
				require.NoError(t, unix.Mprotect(b[PageSize:2*PageSize], unix.PROT_READ))
			}
			before := mappedBytes(t)
			nd.Unmap(b)
			require.ErrorIs(t, unix.Msync(b[:PageSize], unix.MS_ASYNC), unix.ENOMEM)
			require.ErrorIs(t, unix.Msync(b[size-PageSize:], unix.MS_ASYNC), unix.ENOMEM)
			nd.WaitReleased()
			require.InDelta(t, before-size, mappedBytes(t), 8<<20)
		}
		b, err := nd.Map(off, size)
		require.NoError(t, err)
		require.Equal(t, byte(7), b[size-1])
		nd.Unmap(b)
		nd.Release(off, size)
		nd.WaitReleased()
	})
}

// mappedBytes returns the number of bytes of this process' address space that are mapped as shared memory.
func mappedBytes(t *testing.T) (sum int64) {
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	for _, line := range strings.Split(string(maps), "\n") {
		var lo, hi int64
		var mode string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &lo, &hi, &mode); n == 3 && mode[3] == 's' {
			sum += hi - lo
		}
	}
	return sum
}
