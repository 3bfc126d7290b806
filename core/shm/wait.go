package shm

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	futexWait = 0 // not FUTEX_PRIVATE: the word is shared between processes
	futexWake = 1
)

// futexSleep waits until *word differs from the value `seen`, another thread wakes it, or the timeout elapses (0: no
// timeout). It may also return spuriously.
func futexSleep(word *uint32, seen uint32, timeout time.Duration) {
	var ts *unix.Timespec
	if timeout > 0 {
		t := unix.NsecToTimespec(int64(timeout))
		ts = &t
	}
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(seen),
		uintptr(unsafe.Pointer(ts)), 0, 0)
}

func futexWakeAll(word *uint32) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, 1<<30, 0, 0, 0)
}

// Wake wakes process i if it sleeps. It is the waker's side of the protocol of capi/base/wait.c. The caller has made
// i's condition true with a sequentially consistent operation (any of sync/atomic). This operation pairs with the
// sleeper's store to CellHasSleepers before it checks its condition once more. With a weaker order, the waker could
// read CellHasSleepers as 0 while the sleeper still finds its condition false, and the sleeper would not be woken.
func (nd *Node) Wake(i int) {
	if atomic.LoadUint32(nd.u32(i, CellHasSleepers)) != 0 && atomic.SwapUint32(nd.u32(i, CellHasSleepers), 0) != 0 {
		nd.wakeAll(i)
	}
}

func (nd *Node) wakeAll(i int) {
	atomic.AddUint32(nd.u32(i, CellWakeSeq), 1)
	futexWakeAll(nd.u32(i, CellWakeSeq))
}

// Waiter implements the waits of a process' threads. The code is in C (capi/base/wait.c) for waits of both languages: a
// waiting thread polls for a bounded time and serves all that arrives for the process, then it sleeps until Wake(me).
type Waiter interface {
	// Await returns nil as soon as the function `done` returns true. It calls `done` from this thread only. The
	// argument `what` describes the wait in reports. Errors: MPI_ERR_PROC_ABORTED if a process that the wait
	// depends on has failed.
	Await(done func() bool, what Waiting) error
	// Publish reports what this thread waits for by means other than Await, until the caller calls the returned
	// function.
	Publish(what Waiting) (withdraw func())
}

// Wait returns nil as soon as the function `done` returns true. It calls `done` from this thread only. Errors:
// MPI_ERR_PROC_ABORTED if a process of the job fails meanwhile.
//
// Preconditions: the process that makes `done` return true calls Wake(me) afterwards. This includes this process,
// unless its own wait serves the event that makes `done` return true.
func (nd *Node) Wait(done func() bool) error { return nd.WaitFor(done, Waiting{Peer: -1}) }

// WaitFor is Wait that also reports, while it sleeps, what this process waits for. Errors: MPI_ERR_PROC_ABORTED if a
// process fails on which the wait depends: the peer, or any member of the object.
func (nd *Node) WaitFor(done func() bool, what Waiting) error {
	if done() {
		return nil
	}
	return nd.Waiter.Await(done, what)
}
