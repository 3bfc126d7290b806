package shm

import (
	"sync"
	"sync/atomic"
	"time"

	"gompirma/core/abi"
	"gompirma/core/limit"
	"gompirma/core/mpierr"
)

// Promises: processes that allocate memory at the same time must not together take more than is free, since then the
// kernel kills one of them instead of refusing. So a process first reserves the amount in its cell (a promise), where
// the other processes of the node see it, and lowers the promise as it allocates. A new promise may be at most the free
// memory minus all promises. A lock (hdrTurn) makes the check and the promise one step. If the process dies, its lock
// and its promises are ignored.
//
// Processes of other jobs promise nothing: commit.go checks again while it allocates.
type promises struct {
	look func(wanted int64) limit.Room // returns how much memory there is: limit.Memory

	mu     sync.Mutex
	credit int64 // bytes that may be allocated without a check
}

// Small amounts need no promise of their own: each check also grants a credit of bytes that may be allocated without
// another check. The credits of all processes together are a small share of what is free. What MPI_Init allocates is
// little beside the process itself.
const (
	creditShare = 256
	mostCredit  = 4 << 20
	firstCredit = 512 << 10
)

// How long a process waits for another one that makes no progress: with the lock held, and with a promise that it does
// not lower. Only a stopped process takes so long.
const (
	longestTurn    = 200 * time.Millisecond
	longestPromise = 2 * time.Second
	promiseSlice   = 20 * time.Millisecond // how often a waiter checks whether the others still live
)

// promise reserves size bytes for this process. It returns the room that it found, and whether the bytes stand in the
// cell, where keep subtracts them as they are allocated. A small amount is covered by the credit and does not stand
// there. promise may wait for other processes that are allocating or releasing memory. MPI_ERR_NO_MEM.
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
		toCome := nd.toCome() // read before the check: memory released since then is seen by the check
		if room, others = nd.tryPromise(size); others < 0 {
			return room, true, nil
		}
		if size > room.Usable() && toCome == 0 {
			return room, false, tooMuch(size, room, 0)
		}
		// The other processes can have what they have promised. But they have allocated some of it already, and
		// may not get all of it.
		if nd.FindDead(); others+toCome != last {
			last, since = others+toCome, time.Now()
		} else if time.Since(since) > longestPromise {
			return room, false, tooMuch(size, room, others)
		}
		futexSleep(word, seen, promiseSlice)
	}
}

// tryPromise checks the free memory and adds size to this process' promise if there is enough. It then returns -1,
// otherwise the bytes that are promised already.
func (nd *Node) tryPromise(size int64) (limit.Room, int64) {
	defer nd.takeTurn()()
	// Promises are read before the free memory: what a process allocates between the two reads counts twice,
	// instead of never.
	all := nd.promised()
	room := nd.promises.look(need(size) + all)
	nd.promises.credit = min(room.Usable()/(creditShare*int64(nd.N)), mostCredit)
	if need(size) > room.Usable()-all {
		return room, all
	}
	atomic.AddInt64(nd.i64(nd.Me, CellPromised), size)
	return room, -1
}

// need returns the memory that allocating size bytes takes, with the kernel's page tables.
func need(size int64) int64 { return size + size/256 }

// keep lowers the promise by what has been allocated, or will not be.
func (nd *Node) keep(size int64) {
	atomic.AddInt64(nd.i64(nd.Me, CellPromised), -size)
	nd.tellTaken()
}

// tellTaken wakes the processes that wait for memory.
func (nd *Node) tellTaken() {
	atomic.AddUint32(u32(nd.control, hdrTaken), 1)
	futexWakeAll(u32(nd.control, hdrTaken))
}

// promised returns the sum of the promises of all processes of the node.
func (nd *Node) promised() int64 { return nd.sum(CellPromised) }

// sum returns the sum of the int64 at offset word of the cells of all living processes.
func (nd *Node) sum(word int64) (sum int64) {
	for i := 0; i < nd.N; i++ {
		if x := atomic.LoadInt64(nd.i64(i, word)); x > 0 && nd.State(i).lives() {
			sum += x
		}
	}
	return sum
}

// takeTurn acquires the lock for promises, against the other threads of this process and the other processes of the
// node, and returns the function that releases it. It ignores a lock holder that has failed. If the lock holder makes
// no progress for longestTurn (it has been stopped), takeTurn returns without the node's lock.
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
			"cannot allocate %d bytes of shared memory: only %d are available %s, and other ranks of "+
				"this job are allocating %d of them", size, room.Usable(), room.By, promised)
	}
	return mpierr.New(abi.MPI_ERR_NO_MEM, "cannot allocate %d bytes of shared memory: only %d are available "+
		"%s", size,
		room.Usable(), room.By)
}
