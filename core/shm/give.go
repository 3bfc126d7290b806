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
// cell (CellGiving) holds the bytes still to be released: a process that needs more memory than is free waits for them
// (promise), as it would have waited in MPI_Win_free for a synchronous release.
//
// The application may allocate memory too, which is not counted here, and the kernel would kill a process rather than
// wait. So the bytes to be released in the background are limited to a small share of what is free anyway.
type giving struct {
	mu    sync.Mutex
	queue []func() // the first is being executed
	none  sync.Cond
	share int64 // at most the share-th part of the free memory may be waiting for its release
}

const (
	leastLater = 16 << 20 // smaller amounts are released at once: 5 ms
	givePiece  = 16 << 20
	giveShare  = 4 // if each process has a core: releasing a page is several times faster than allocating it
)

func (g *giving) init(n, cores int) {
	g.none.L = &g.mu
	g.share = giveShare * int64(1+n/max(cores, 1))
}

// behind queues work for the background goroutine, which executes the queue in order.
func (g *giving) behind(work func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.queue = append(g.queue, work); len(g.queue) == 1 {
		go g.run()
	}
}

func (g *giving) run() {
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
	g.none.Broadcast()
}

// inPieces calls give for size bytes, chunk by chunk.
func (g *giving) inPieces(size int64, give func(at, n int64)) {
	for at := int64(0); at < size; at += givePiece {
		give(at, min(size-at, givePiece))
	}
}

// giveBack releases an extent of this process' heap, at once or in the background.
func (nd *Node) giveBack(x extent) {
	if !nd.mayWait(x.size) {
		nd.memory.give(x.off, x.size)
		nd.heap.give(x)
		return
	}
	atomic.AddInt64(nd.i64(nd.Me, CellGiving), x.size)
	nd.giving.behind(func() {
		nd.giving.inPieces(x.size, func(at, n int64) {
			nd.memory.give(x.off+at, n)
			atomic.AddInt64(nd.i64(nd.Me, CellGiving), -n)
			nd.tellTaken()
		})
		nd.heap.give(x)
	})
}

// mayWait returns whether size bytes may be released in the background.
func (nd *Node) mayWait(size int64) bool {
	if size < leastLater {
		return false
	}
	least := (nd.toCome() + size) * nd.giving.share
	return nd.promises.look(least).Usable() >= least
}

// Unmap removes a mapping made by Map.
func (nd *Node) Unmap(b []byte) {
	if len(b) >= leastLater {
		if hidden := hide(b); hidden != nil {
			nd.giving.behind(func() {
				nd.giving.inPieces(int64(len(b)), func(at, n int64) { unmap(hidden[at : at+n]) })
			})
			return
		}
	}
	unmap(b)
}

// Given waits until the background goroutine of this process has released everything. Returns whether there was
// something to wait for.
func (nd *Node) Given() bool {
	g := &nd.giving
	g.mu.Lock()
	defer g.mu.Unlock()
	waited := false
	for len(g.queue) > 0 {
		waited = true
		g.none.Wait()
	}
	return waited
}

// AwaitGiven waits until all processes of the node have released their memory, or until there has been no progress for
// longestPromise. Returns whether there was something to wait for.
func (nd *Node) AwaitGiven() bool {
	first := nd.toCome()
	last, since := first, time.Now()
	for last > 0 && time.Since(since) < longestPromise {
		seen := atomic.LoadUint32(u32(nd.control, hdrTaken))
		now := nd.toCome()
		if now != last {
			last, since = now, time.Now()
			continue
		}
		nd.FindDead()
		futexSleep(u32(nd.control, hdrTaken), seen, promiseSlice)
	}
	return first > 0
}

// toCome returns how many bytes the processes of the node are still to release.
func (nd *Node) toCome() int64 { return nd.sum(CellGiving) }
