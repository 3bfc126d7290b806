package shm

import (
	"sync"
	"sync/atomic"
	"time"

	"gompirma/core/abi"
	"gompirma/core/limit"
	"gompirma/core/mpierr"
)

// Processes that allocate memory at the same time must not allocate more in total than is free. The kernel would kill
// one of the processes instead of refusing the allocation. So before a process allocates, it makes a promise: it stores
// the amount in its cell, where the other processes of the node read it. The process lowers the promise as it
// allocates. A new promise may be at most the free memory minus all promises. A process holds a lock
// (headerPromiseLock) during the check and the promise. If a process dies, the other processes ignore its lock and its
// promises.
//
// Processes of other jobs make no promises. Therefore commit.go checks the free memory again while it allocates.
type promises struct {
	headroom func(wanted int64) limit.Headroom // returns the headroom; limit.Memory except in tests

	mu     sync.Mutex
	credit int64 // bytes that may be allocated without a check
}

// Small amounts need no promise of their own. Instead, each check also grants the process a credit: a number of bytes
// that it may allocate without another check. The credits of all processes together are a small share of the free
// memory. The first credit is there from the beginning. It covers MPI_Init, which allocates little compared to the rest
// of the process.
const (
	creditShare = 256
	maxCredit   = 4 << 20
	firstCredit = 512 << 10
)

// Longest waits for another process: until it releases the lock (maxLockWait), and until it lowers its promise
// (maxPromiseWait). A process exceeds them only if it has been stopped.
const (
	maxLockWait    = 200 * time.Millisecond
	maxPromiseWait = 2 * time.Second
	promisePoll    = 20 * time.Millisecond // interval between checks whether the other processes are still alive
)

// promise reserves `size` bytes for this process, and returns the headroom that it found. If the result `stands` is
// true, the amount has been added to the process's cell, and the caller must call lowerPromise as it allocates. If it
// is false without an error, the amount was small and came from the credit. promise may wait for other processes that
// are allocating or releasing memory. Errors: MPI_ERR_NO_MEM.
func (nd *Node) promise(size int64) (headroom limit.Headroom, stands bool, err error) {
	nd.promises.mu.Lock()
	if size <= nd.promises.credit {
		nd.promises.credit -= size
		nd.promises.mu.Unlock()
		return limit.Headroom{}, false, nil
	}
	nd.promises.mu.Unlock()
	var last int64
	var since time.Time
	word := u32(nd.control, headerMemoryEvents)
	for {
		var others int64
		seen := atomic.LoadUint32(word)
		// Read first: a release in between is then counted twice instead of not at all.
		pending := nd.pendingBytes()
		if headroom, others = nd.tryPromise(size); others < 0 {
			return headroom, true, nil
		}
		if size > headroom.Usable() && pending == 0 {
			return headroom, false, noMemory(size, headroom, 0)
		}
		// The memory would suffice without the other processes' promises, or after pending releases. Both
		// change as these processes make progress, so try again.
		if nd.FindFailed(); others+pending != last {
			last, since = others+pending, time.Now()
		} else if time.Since(since) > maxPromiseWait {
			return headroom, false, noMemory(size, headroom, others)
		}
		futexSleep(word, seen, promisePoll)
	}
}

// tryPromise checks the free memory. If there is enough, it adds `size` to this process' promise, and the second result
// is -1. Otherwise the second result is the number of bytes that all processes have promised already.
func (nd *Node) tryPromise(size int64) (limit.Headroom, int64) {
	defer nd.lockPromises()()
	// Promises are read before the free memory. So memory that a process allocates between the two reads is counted
	// twice. In the opposite order, it would not be counted at all.
	all := nd.promised()
	headroom := nd.promises.headroom(withPageTables(size) + all)
	nd.promises.credit = min(headroom.Usable()/(creditShare*int64(nd.Count())), maxCredit)
	if withPageTables(size) > headroom.Usable()-all {
		return headroom, all
	}
	atomic.AddInt64(nd.i64(nd.Me, CellReservedBytes), size)
	return headroom, -1
}

// withPageTables returns the memory in bytes that an allocation of `size` bytes needs. Besides the pages themselves, it
// includes an estimate of the kernel's page tables: 1/256 of the size.
func withPageTables(size int64) int64 { return size + size/256 }

// lowerPromise lowers the promise by size bytes that have been allocated or will not be allocated.
func (nd *Node) lowerPromise(size int64) {
	atomic.AddInt64(nd.i64(nd.Me, CellReservedBytes), -size)
	nd.wakeMemoryWaiters()
}

// wakeMemoryWaiters wakes the processes that wait for memory.
func (nd *Node) wakeMemoryWaiters() {
	atomic.AddUint32(u32(nd.control, headerMemoryEvents), 1)
	futexWakeAll(u32(nd.control, headerMemoryEvents))
}

// promised returns the sum of the promises of all processes of the node.
func (nd *Node) promised() int64 { return nd.sum(CellReservedBytes) }

// sum returns the sum of the int64 fields at offset `word` in the cells of all processes that are alive.
func (nd *Node) sum(word int64) (sum int64) {
	for i := range nd.Count() {
		if x := atomic.LoadInt64(nd.i64(i, word)); x > 0 && nd.State(i).isAlive() {
			sum += x
		}
	}
	return sum
}

// lockPromises acquires the lock for promises, against the other threads of this process and the other processes of the
// node. It returns the function that releases the lock. It ignores a lock holder that has failed. If the lock holder
// makes no progress for maxLockWait (it has been stopped), lockPromises returns without the node's lock.
func (nd *Node) lockPromises() (end func()) {
	nd.promises.mu.Lock()
	word, me := u32(nd.control, headerPromiseLock), uint32(nd.Me+1)
	var last uint32
	var since time.Time
	for !atomic.CompareAndSwapUint32(word, 0, me) {
		nd.FindFailed()
		holder := atomic.LoadUint32(word)
		switch {
		case holder == 0:
			continue
		case holder > uint32(nd.Slots) || !nd.State(int(holder)-1).isAlive():
			atomic.CompareAndSwapUint32(word, holder, 0)
			continue
		case holder != last:
			last, since = holder, time.Now()
		case time.Since(since) > maxLockWait:
			return nd.promises.mu.Unlock
		}
		futexSleep(word, holder, promisePoll)
	}
	return func() {
		atomic.CompareAndSwapUint32(word, me, 0)
		futexWakeAll(word)
		nd.promises.mu.Unlock()
	}
}

func noMemory(size int64, headroom limit.Headroom, promised int64) error {
	if promised > 0 {
		return mpierr.New(abi.MPI_ERR_NO_MEM,
			"cannot allocate %d bytes of shared memory: only %d are available %s, and other ranks of "+
				"this job are allocating %d of them", size, headroom.Usable(), headroom.LimitedBy,
			promised)
	}
	return mpierr.New(abi.MPI_ERR_NO_MEM, "cannot allocate %d bytes of shared memory: only %d are available "+
		"%s", size,
		headroom.Usable(), headroom.LimitedBy)
}
