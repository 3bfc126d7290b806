package shm

import (
	"sync"
	"sync/atomic"
	"time"
)

// Giving memory back: the system takes 0.3 s for each GiB, page by page, whoever asks for it. So large amounts go back
// while the application goes on, by a goroutine, in pieces, since meanwhile the system lets nobody else change mappings
// of the process or take memory of the file by fallocate(2).
//
// A mapping leaves its address at once: its tables are moved to where nobody looks, which is quick, and taken apart
// there. Address space of the heap is free when its memory is. How much memory still is to go back stands in this
// process' cell: who asks for more than there is waits for it (promise), as he would have waited for MPI_Win_free.
//
// The application may take memory too, of which nobody tells us, and the kernel would kill somebody rather than wait.
// So what goes back this way is little beside what is free anyway.
type giving struct {
	mu    sync.Mutex
	queue []func() // the first is under way
	none  sync.Cond
	share int64 // of what is free, at most a share-th is still to go back
}

const (
	leastLater = 16 << 20 // what is less goes back at once: 5 ms
	givePiece  = 16 << 20
	giveShare  = 4 // where each process has a core: a page is given back some times as fast as it is taken
)

func (g *giving) init(n, cores int) {
	g.none.L = &g.mu
	g.share = giveShare * int64(1+n/max(cores, 1))
}

// behind has work done behind the application's back, one after the other.
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

// inPieces calls give for size bytes.
func (g *giving) inPieces(size int64, give func(at, n int64)) {
	for at := int64(0); at < size; at += givePiece {
		give(at, min(size-at, givePiece))
	}
}

// giveBack gives an extent of this process' heap back, now or later.
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

// mayWait returns whether so much memory need not go back at once.
func (nd *Node) mayWait(size int64) bool {
	if size < leastLater {
		return false
	}
	least := (nd.toCome() + size) * nd.giving.share
	return nd.promises.look(least).Usable() >= least
}

// Unmap ends a mapping made by Map.
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

// Given waits until all that this process has given back is with the system. Returns whether there was something.
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

// AwaitGiven waits until all processes of the node have given their memory back, as long as that comes on. Returns
// whether there was something.
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

// toCome returns how many bytes the processes of the node are giving back.
func (nd *Node) toCome() int64 { return nd.sum(CellGiving) }
