// Package plain is waiting for tests of core, which have several processes in one and run without the data path. It
// speaks the protocol of capi/base/wait.c, but looks again after a moment instead of sleeping on a futex. No process of
// a job uses it.
package plain

import (
	"sync/atomic"
	"time"
	"unsafe"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
	"gompirma/core/shm"
)

// Waiter implements shm.Waiter for a process of which these tests say what its waits do.
type Waiter struct {
	Node  *shm.Node
	Serve func() bool // serves what has arrived and returns whether there was anything
	Lasts func()      // called by a wait that lasts, before it sleeps
}

const (
	looks = 200                   // before a wait sleeps
	nap   = 20 * time.Microsecond // between two looks at the word that it sleeps on
	naps  = 500                   // after which it looks at all again, as one of capi/base/wait.c does
)

func (w Waiter) word(field int64) *uint32 {
	return (*uint32)(unsafe.Pointer(&w.Node.Control()[shm.CellOffset(w.Node.N, w.Node.Me)+field]))
}

// Await implements shm.Waiter. Asleep it is not among those that poll, and serves nobody.
func (w Waiter) Await(done func() bool, what shm.Waiting) error {
	polls, wake, sleeping := w.word(shm.CellPollers), w.word(shm.CellWake), w.word(shm.CellSleeping)
	atomic.AddUint32(polls, 1)
	defer w.Serve()
	defer atomic.AddUint32(polls, ^uint32(0))
	for i := 0; !done(); i++ {
		if w.Serve() || i < looks {
			continue
		}
		seen := atomic.LoadUint32(wake)
		atomic.StoreUint32(sleeping, 1)
		if done() {
			return nil
		}
		if w.Node.Broken() != 0 {
			return mpierr.New(abi.MPI_ERR_PROC_ABORTED, "a process is dead")
		}
		atomic.AddUint32(polls, ^uint32(0))
		if !w.Serve() {
			w.Lasts()
			for i := 0; i < naps && atomic.LoadUint32(wake) == seen; i++ {
				<-time.After(nap)
			}
		}
		atomic.AddUint32(polls, 1)
	}
	return nil
}

// Publish implements shm.Waiter: nobody asks.
func (w Waiter) Publish(shm.Waiting) (withdraw func()) { return func() {} }
