package shm

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// The wake-up protocol of a process, spoken by C as well (capi/base/wait.c):
//
//	sleeper: seen = wake; sleeping = 1; if the condition holds: done; futex_wait(wake, seen)
//	waker:   make the condition true (with a full barrier);
//	         if swap(sleeping, 0) == 1 { wake++; futex_wake(wake, all) }
//
// Any number of threads may sleep, for conditions of their own; all of them look again. Whoever takes a sleeper's mark
// away changes wake after the sleeper has read it, so that one does not stay asleep unmarked. Were wake read after the
// mark is set, a waker could have come in between for somebody else's condition: then the sleeper would sleep on the
// new value, without a mark, and nobody would wake it.

const (
	futexWait = 0 // not FUTEX_PRIVATE: the word is shared between processes
	futexWake = 1
)

// Futex waits until *word differs from seen, a wake-up, or the timeout (0: none).
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

// Wake wakes process i if it sleeps. The caller has made i's condition true with a sequentially consistent operation
// (any of sync/atomic).
func (nd *Node) Wake(i int) {
	if atomic.LoadUint32(nd.u32(i, CellSleeping)) != 0 && atomic.SwapUint32(nd.u32(i, CellSleeping), 0) != 0 {
		nd.wakeAll(i)
	}
}

func (nd *Node) wakeAll(i int) {
	atomic.AddUint32(nd.u32(i, CellWake), 1)
	futexWakeAll(nd.u32(i, CellWake))
}

// RingDoorbell wakes the agent of process i unless somebody there already looks at the rings.
// The caller has put the work into a ring with a sequentially consistent operation.
func (nd *Node) RingDoorbell(i int) {
	if atomic.LoadInt32(nd.i32(i, CellPollers)) == 0 {
		nd.ForceDoorbell(i)
	}
}

// ForceDoorbell wakes the agent of process i if it sleeps, whoever polls there.
func (nd *Node) ForceDoorbell(i int) {
	if atomic.SwapUint32(nd.u32(i, CellAgent), 0) != 0 {
		atomic.AddUint32(nd.u32(i, CellDoorbell), 1)
		futexWakeAll(nd.u32(i, CellDoorbell))
	}
}

// What Policy leaves to the waits here: how often a crowded one offers its core before it sleeps, and when one that
// polls says that it lasts.
const (
	yields  = 200
	lastsAt = 20 * time.Microsecond
)

// Services is what a thread that waits does for its process between looks at its condition, such as serving a ring: all
// that a wait in C does (capi/base/wait.h), since others rely on whoever polls, whatever language it waits in. None of
// it blocks, and several threads may be at it at once.
type Services interface {
	// Serve does what is ready and returns whether there was anything.
	Serve() bool
	// ServeAll is Serve for who goes to sleep, which asks for what a look does not see as well.
	ServeAll() bool
	// Lasts is called by each wait that lasts, without anything locked, once and before it sleeps.
	Lasts()
	// ServeLast is called by a wait that has ended: it serves whoever has rung no doorbell since he saw it poll.
	ServeLast()
}

// nothing is the services of a node without any.
type nothing struct{}

func (nothing) Serve() bool    { return false }
func (nothing) ServeAll() bool { return false }
func (nothing) Lasts()         {}
func (nothing) ServeLast()     {}

// TakeSignals lets the application's handlers run for signals that have arrived at a thread in the thick of Go
// (capi/handlers.c); called by waits.
var TakeSignals = func() {}

// Wait returns nil as soon as done returns true; done is called from this thread only. It polls a bounded time, then
// sleeps until Wake(me). While it polls it serves what arrives for this process, so that senders need not wake the
// agent. MPI_ERR_PROC_ABORTED if a process of this node died meanwhile.
//
// Preconditions: whatever makes done true is followed by Wake(me) by whoever did it, unless a service did it in this
// process, which calls Wake(me) too.
func (nd *Node) Wait(done func() bool) error { return nd.WaitFor(done, Waiting{Peer: -1}) }

// WaitFor is Wait that tells, while it sleeps, what this process waits for.
func (nd *Node) WaitFor(done func() bool, what Waiting) error {
	if done() {
		return nil
	}
	atomic.AddInt32(nd.i32(nd.Me, CellBlocked), 1)
	defer atomic.AddInt32(nd.i32(nd.Me, CellBlocked), -1)
	atomic.AddInt32(nd.i32(nd.Me, CellPollers), 1)
	err := nd.wait(func() bool {
		if done() {
			return true
		}
		return nd.Services.Serve() && done()
	}, what)
	atomic.AddInt32(nd.i32(nd.Me, CellPollers), -1)
	nd.Services.ServeLast()
	return err
}

func (nd *Node) wait(done func() bool, what Waiting) error {
	p := &nd.Policy
	var start time.Time
	told := false
	for i := 0; ; i++ {
		if done() {
			return nil
		}
		if i < int(p.QuietLooks) {
			continue
		}
		if p.Crowded && i == yields {
			break
		}
		if !p.Crowded && i%16 == 0 {
			if now := time.Now(); start.IsZero() {
				start = now
			} else if now.Sub(start) > p.Poll {
				break
			} else if !told && now.Sub(start) > lastsAt {
				told = true
				nd.Services.Lasts()
			}
		}
		before := time.Now()
		unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
		if time.Since(before) >= p.LongYield {
			break
		}
	}
	defer nd.Publish(what)()
	for {
		seen := atomic.LoadUint32(nd.u32(nd.Me, CellWake))
		atomic.StoreUint32(nd.u32(nd.Me, CellSleeping), 1)
		if done() {
			return nil
		}
		if nd.Broken() != 0 {
			return nd.brokenError()
		}
		// Asleep this thread serves nobody: the agent takes over.
		atomic.AddInt32(nd.i32(nd.Me, CellPollers), -1)
		if nd.Services.ServeAll() {
			atomic.AddInt32(nd.i32(nd.Me, CellPollers), 1)
			continue
		}
		nd.Services.Lasts()
		before := time.Now()
		futexSleep(nd.u32(nd.Me, CellWake), seen, p.Slice)
		TakeSignals()
		atomic.AddInt32(nd.i32(nd.Me, CellPollers), 1)
		if time.Since(before) >= p.Slice {
			nd.FindDead()
		}
		if done() {
			return nil
		}
	}
}

func (nd *Node) brokenError() error {
	for i := 0; i < nd.N; i++ {
		if nd.State(i) == Dead {
			return mpierr.New(abi.MPI_ERR_PROC_ABORTED,
				"process %d of this node (pid %d) ended without calling MPI_Finalize", i, nd.Pid(i))
		}
	}
	if rank, why := nd.Lost(); rank >= 0 && nd.Host != nil {
		return mpierr.New(abi.MPI_ERR_PROC_ABORTED, "rank %d of MPI_COMM_WORLD, on host %s, %v", rank,
			nd.Host(rank), why)
	}
	return mpierr.New(abi.MPI_ERR_PROC_ABORTED, "a process of the job ended without calling MPI_Finalize")
}
