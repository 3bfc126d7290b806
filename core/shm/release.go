package shm

import (
	"sync"
	"sync/atomic"
	"time"
)

// Releasing memory: the kernel needs 0.3 s for each GiB, page by page, in any process. So large amounts are released in
// the background, by a goroutine. It works in chunks, since meanwhile the kernel blocks other threads that change
// mappings of the process or allocate memory of the file by fallocate(2).
//
// A mapping leaves its address at once: hide moves its page tables to an unused address, which is quick, and the
// goroutine unmaps it there. Address space of the heap becomes free when its memory has been released. The process'
// cell (CellReleasingBytes) holds the bytes still to be released: a process that needs more memory than is free waits
// for them (promise), as it would have waited in MPI_Win_free for a synchronous release.
//
// The application may allocate memory too, which is not counted here, and the kernel would kill a process rather than
// wait. So the bytes to be released in the background are limited to a small share of what is free anyway.
type releaser struct {
	mu    sync.Mutex
	queue []func() // the first is being executed
	idle  sync.Cond
	share int64 // at most the share-th part of the free memory may be waiting for its release
}

const (
	minDeferredBytes  = 16 << 20 // smaller amounts are released at once: 5 ms
	releaseChunkBytes = 16 << 20
	releaseShare      = 4 // if each process has a core: releasing a page is several times faster than allocating it
)

func (g *releaser) init(n, cores int) {
	g.idle.L = &g.mu
	g.share = releaseShare * int64(1+n/max(cores, 1))
}

// enqueue queues work for the background goroutine, which executes the queue in order.
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

// inChunks calls give for size bytes, chunk by chunk.
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

// canDefer returns whether size bytes may be released in the background.
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

// WaitReleased waits until the background goroutine of this process has released everything. Returns whether there was
// something to wait for.
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
// for maxPromiseWait. Returns whether there was something to wait for.
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

// pendingBytes returns how many bytes the processes of the node are still to release.
func (nd *Node) pendingBytes() int64 { return nd.sum(CellReleasingBytes) }
