package shm

import (
	"sync"
	"sync/atomic"
	"time"
)

// The kernel needs 0.3 s to release 1 GiB, since it releases memory page by page. So a goroutine releases large amounts
// in the background. It releases the memory in chunks, with one system call for each chunk. During such a call, the
// kernel blocks other threads that change mappings of the process or allocate memory of the memfd by fallocate(2).
//
// Unmap frees the address range at once: the function hide quickly moves the mapping to an unused address, where the
// goroutine unmaps it. Address space of the heap is not reused before its memory has been released. CellReleasingBytes
// in the process' cell counts the bytes that are still to be released. A process that needs more memory than is free
// waits for this release (in the method promise). It does not wait longer than MPI_Win_free would take with a
// synchronous release.
//
// Allocations by the application itself do not wait for the release. If memory runs out, the kernel kills a process.
// Therefore the bytes to be released in the background are limited to a small share of the free memory.
type releaser struct {
	mu    sync.Mutex
	queue []func() // pending functions; the first one is being executed
	idle  sync.Cond
	share int64 // the bytes waiting for release are at most 1/share of the free memory
}

const (
	minDeferredBytes  = 16 << 20 // smaller amounts are released at once, which takes at most 5 ms
	releaseChunkBytes = 16 << 20
	// The value of `share` if each process has a core. The background goroutine then releases pages several times
	// faster than a process can allocate them.
	releaseShare = 4
)

func (g *releaser) init(n, cores int) {
	g.idle.L = &g.mu
	g.share = releaseShare * int64(1+n/max(cores, 1))
}

// enqueue queues the function `work` for the background goroutine, which executes the queue in order.
func (g *releaser) enqueue(work func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.queue = append(g.queue, work); len(g.queue) == 1 {
		go g.run()
	}
}

func (g *releaser) run() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.queue) > 0 {
		work := g.queue[0]
		g.mu.Unlock()
		work()
		g.mu.Lock()
		g.queue = g.queue[1:]
	}
	g.queue = nil
	g.idle.Broadcast()
}

// inChunks calls the function `give` chunk by chunk, for `size` bytes in total.
func (g *releaser) inChunks(size int64, give func(at, n int64)) {
	for at := int64(0); at < size; at += releaseChunkBytes {
		give(at, min(size-at, releaseChunkBytes))
	}
}

// releaseExtent releases an extent of this process' heap, at once or in the background.
func (nd *Node) releaseExtent(x extent) {
	if !nd.canDefer(x.size) {
		nd.memory.release(x.off, x.size)
		nd.heap.freeExtent(x)
		return
	}
	atomic.AddInt64(nd.i64(nd.Me, CellReleasingBytes), x.size)
	nd.releaser.enqueue(func() {
		nd.releaser.inChunks(x.size, func(at, n int64) {
			nd.memory.release(x.off+at, n)
			atomic.AddInt64(nd.i64(nd.Me, CellReleasingBytes), -n)
			nd.wakeMemoryWaiters()
		})
		nd.heap.freeExtent(x)
	})
}

// canDefer returns whether size bytes may be released in the background: they must be neither too few, nor a large
// share of the free memory.
func (nd *Node) canDefer(size int64) bool {
	if size < minDeferredBytes {
		return false
	}
	least := (nd.pendingBytes() + size) * nd.releaser.share
	return nd.promises.headroom(least).Usable() >= least
}

// Unmap removes a mapping made by Map.
func (nd *Node) Unmap(b []byte) {
	if len(b) >= minDeferredBytes {
		if hidden := hide(b); hidden != nil {
			nd.releaser.enqueue(func() {
				nd.releaser.inChunks(int64(len(b)), func(at, n int64) { unmap(hidden[at : at+n]) })
			})
			return
		}
	}
	unmap(b)
}

// WaitReleased waits until the background goroutine of this process has released all queued memory. It returns whether
// it had to wait.
func (nd *Node) WaitReleased() bool {
	g := &nd.releaser
	g.mu.Lock()
	defer g.mu.Unlock()
	waited := false
	for len(g.queue) > 0 {
		waited = true
		g.idle.Wait()
	}
	return waited
}

// WaitAllReleased waits until all processes of the node have released their memory, or until there has been no progress
// for maxPromiseWait. It returns whether it had to wait.
func (nd *Node) WaitAllReleased() bool {
	first := nd.pendingBytes()
	last, since := first, time.Now()
	for last > 0 && time.Since(since) < maxPromiseWait {
		seen := atomic.LoadUint32(u32(nd.control, headerMemoryEvents))
		now := nd.pendingBytes()
		if now != last {
			last, since = now, time.Now()
			continue
		}
		nd.FindFailed()
		futexSleep(u32(nd.control, headerMemoryEvents), seen, promisePoll)
	}
	return first > 0
}

// pendingBytes returns the number of bytes that the processes of the node have still to release.
func (nd *Node) pendingBytes() int64 { return nd.sum(CellReleasingBytes) }
