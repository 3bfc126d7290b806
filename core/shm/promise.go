package shm

import (
	"sync"
	"sync/atomic"
	"time"

	"gompirma/core/abi"
	"gompirma/core/limit"
	"gompirma/core/mpierr"
)

// Promises: processes that take memory at once must not together take more than there is, since then the kernel kills
// one of them instead of refusing. So a process first promises itself what it will take, in its cell, where the others
// of the node see it, and lowers the promise as it takes: what is free less all promises is what may be promised anew.
// Looking and promising are one step, since only one process at a time does it. Its turn and its promises end with it
// when it dies.
//
// Processes of other jobs promise nothing: commit.go looks again while it takes.
type promises struct {
	look func(wanted int64) limit.Room // how much memory there is: limit.Memory

	mu     sync.Mutex
	credit int64 // bytes that may be taken without looking
}

// Small amounts need no promise of their own: each look allows some more bytes to be taken without another, all
// processes together a small share of what is free. What MPI_Init takes is little beside the process itself.
const (
	creditShare = 256
	mostCredit  = 4 << 20
	firstCredit = 512 << 10
)

// How long is waited for another process that does not come on: with its turn, and with taking what it has promised
// itself. Only one that is stopped takes so long.
const (
	longestTurn    = 200 * time.Millisecond
	longestPromise = 2 * time.Second
	promiseSlice   = 20 * time.Millisecond // how often a waiter looks whether the others still live
)

// promise allows this process to take size bytes. It returns what it found, and whether they stand in the cell, from
// where keep takes them as they are taken; a small amount needs not. It may wait for others that are taking memory.
// MPI_ERR_NO_MEM.
func (nd *Node) promise(size int64) (room limit.Room, stands bool, err error) {
	nd.promises.mu.Lock()
	if size <= nd.promises.credit {
		nd.promises.credit -= size
		nd.promises.mu.Unlock()
		return limit.Room{}, false, nil
	}
	nd.promises.mu.Unlock()
	var last int64
	var since time.Time
	word := u32(nd.control, hdrTaken)
	for {
		var others int64
		seen := atomic.LoadUint32(word)
		toCome := nd.toCome() // first: what has come since is seen by the look
		if room, others = nd.tryPromise(size); others < 0 {
			return room, true, nil
		}
		if size > room.Usable() && toCome == 0 {
			return room, false, tooMuch(size, room, 0)
		}
		// What they have promised is there for them. But some of it has been taken already, and they may not
		// get all.
		if nd.FindDead(); others+toCome != last {
			last, since = others+toCome, time.Now()
		} else if time.Since(since) > longestPromise {
			return room, false, tooMuch(size, room, others)
		}
		futexSleep(word, seen, promiseSlice)
	}
}

// tryPromise looks, and promises if there is enough; then it returns -1, otherwise what is promised already.
func (nd *Node) tryPromise(size int64) (limit.Room, int64) {
	defer nd.takeTurn()()
	// In this order: what is taken between the two looks counts twice, not never.
	all := nd.promised()
	room := nd.promises.look(need(size) + all)
	nd.promises.credit = min(room.Usable()/(creditShare*int64(nd.N)), mostCredit)
	if need(size) > room.Usable()-all {
		return room, all
	}
	atomic.AddInt64(nd.i64(nd.Me, CellPromised), size)
	return room, -1
}

// need is what taking size bytes takes, with the kernel's tables for them.
func need(size int64) int64 { return size + size/256 }

// keep lowers the promise by what has been taken, or will not be.
func (nd *Node) keep(size int64) {
	atomic.AddInt64(nd.i64(nd.Me, CellPromised), -size)
	nd.tellTaken()
}

// tellTaken wakes who waits for memory.
func (nd *Node) tellTaken() {
	atomic.AddUint32(u32(nd.control, hdrTaken), 1)
	futexWakeAll(u32(nd.control, hdrTaken))
}

// promised returns what the processes of the node have promised themselves.
func (nd *Node) promised() int64 { return nd.sum(CellPromised) }

// sum adds up what a word of their cells says of the processes that live.
func (nd *Node) sum(word int64) (sum int64) {
	for i := 0; i < nd.N; i++ {
		if x := atomic.LoadInt64(nd.i64(i, word)); x > 0 && nd.State(i).lives() {
			sum += x
		}
	}
	return sum
}

// takeTurn waits until no other thread of the node looks and promises, and returns what ends the turn. It does not wait
// for one that is dead, nor long for one that has been stopped.
func (nd *Node) takeTurn() (end func()) {
	nd.promises.mu.Lock()
	word, me := u32(nd.control, hdrTurn), uint32(nd.Me+1)
	var last uint32
	var since time.Time
	for !atomic.CompareAndSwapUint32(word, 0, me) {
		nd.FindDead()
		holder := atomic.LoadUint32(word)
		switch {
		case holder == 0:
			continue
		case holder > uint32(nd.N) || !nd.State(int(holder)-1).lives():
			atomic.CompareAndSwapUint32(word, holder, 0)
			continue
		case holder != last:
			last, since = holder, time.Now()
		case time.Since(since) > longestTurn:
			return nd.promises.mu.Unlock
		}
		futexSleep(word, holder, promiseSlice)
	}
	return func() {
		atomic.CompareAndSwapUint32(word, me, 0)
		futexWakeAll(word)
		nd.promises.mu.Unlock()
	}
}

func tooMuch(size int64, room limit.Room, promised int64) error {
	if promised > 0 {
		return mpierr.New(abi.MPI_ERR_NO_MEM,
			"%d bytes of shared memory: only %d are available %s, of which ranks of this job are just "+
				"taking %d", size, room.Usable(), room.By, promised)
	}
	return mpierr.New(abi.MPI_ERR_NO_MEM, "%d bytes of shared memory: only %d are available %s", size,
		room.Usable(), room.By)
}
