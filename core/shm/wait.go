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

// futexSleep waits until *word differs from seen, a wake-up, or the timeout (0: none).
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

// Wake wakes process i if it sleeps: the protocol of capi/base/wait.c. The caller has made i's condition true with a
// sequentially consistent operation (any of sync/atomic).
func (nd *Node) Wake(i int) {
	if atomic.LoadUint32(nd.u32(i, CellSleeping)) != 0 && atomic.SwapUint32(nd.u32(i, CellSleeping), 0) != 0 {
		nd.wakeAll(i)
	}
}

func (nd *Node) wakeAll(i int) {
	atomic.AddUint32(nd.u32(i, CellWake), 1)
	futexWakeAll(nd.u32(i, CellWake))
}

// Waiter is how a process waits, and says what for. C is (capi/base/wait.c), for waits of either language: they poll a
// bounded time, serving all that arrives for the process, then sleep until Wake(me).
type Waiter interface {
	// Await returns nil as soon as done returns true, which is called from this thread only, or
	// MPI_ERR_PROC_ABORTED: a process is lost that it depends on.
	Await(done func() bool, what Waiting) error
	// Publish says what this thread waits for by other means, until the function that it returns is called.
	Publish(what Waiting) (withdraw func())
}

// Wait returns nil as soon as done returns true; done is called from this thread only. MPI_ERR_PROC_ABORTED if a
// process of the job is lost meanwhile.
//
// Preconditions: whatever makes done true is followed by Wake(me) by whoever did it, unless what waits serve did it in
// this process, which calls Wake(me) too.
func (nd *Node) Wait(done func() bool) error { return nd.WaitFor(done, Waiting{Peer: -1}) }

// WaitFor is Wait that tells, while it sleeps, what this process waits for. MPI_ERR_PROC_ABORTED if a process is lost
// that it depends on: the peer, or any member of the object.
func (nd *Node) WaitFor(done func() bool, what Waiting) error {
	if done() {
		return nil
	}
	return nd.Waiter.Await(done, what)
}
