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

// futexSleep waits until *word differs from the value `seen`, another thread wakes it, or the timeout elapses. The
// timeout 0 means no timeout. It may also return spuriously.
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

// Wake wakes process i if it sleeps. It is the waker's side of the protocol of capi/base/wait.c. Precondition: the
// caller has made the condition true for which process i waits, with a sequentially consistent operation (any of
// sync/atomic). This operation pairs with the sleeper's store to CellHasSleepers, after which the sleeper checks its
// condition once more. With a weaker order, the waker could read CellHasSleepers as 0 while the sleeper still finds its
// condition false, and the sleeper would not be woken.
func (nd *Node) Wake(i int) {
	if atomic.LoadUint32(nd.u32(i, CellHasSleepers)) != 0 && atomic.SwapUint32(nd.u32(i, CellHasSleepers), 0) != 0 {
		nd.wakeAll(i, CellWakeSeq)
	}
}

// wakeAll changes a futex in the cell of process i, and wakes its sleepers.
func (nd *Node) wakeAll(i int, futex int64) {
	atomic.AddUint32(nd.u32(i, futex), 1)
	futexWakeAll(nd.u32(i, futex))
}

// Waiter implements the waits of a process' threads. C implements the waits of both languages (capi/base/wait.c). A
// waiting thread polls for a bounded time, and processes all messages and operations that arrive for the process. Then
// it sleeps until another process calls Wake(me).
type Waiter interface {
	// Await returns nil as soon as the function `done` returns true. It calls `done` from this thread only. The
	// argument `what` describes the wait in reports. Errors: MPI_ERR_PROC_ABORTED if a process that the wait
	// depends on has failed.
	Await(done func() bool, what Waiting) error
	// Publish publishes a wait record for a wait that does not use Await. The caller calls the returned function to
	// withdraw the record.
	Publish(what Waiting) (withdraw func())
}

// Wait returns nil as soon as the function `done` returns true. It calls `done` from this thread only. Errors:
// MPI_ERR_PROC_ABORTED if a process of the job fails meanwhile.
//
// Precondition: the process that makes `done` return true calls Wake(me) afterwards, even if that process is this one.
// Exception: the wait itself processes the event that makes `done` return true.
func (nd *Node) Wait(done func() bool) error { return nd.WaitFor(done, Waiting{Peer: -1}) }

// WaitFor does the same as Wait, and also publishes `what` in a wait record while it sleeps. Errors:
// MPI_ERR_PROC_ABORTED if a process fails on which the wait depends: the peer, or any member of the object.
func (nd *Node) WaitFor(done func() bool, what Waiting) error {
	if done() {
		return nil
	}
	return nd.Waiter.Await(done, what)
}
