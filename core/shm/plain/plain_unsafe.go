// Package plain implements waits for tests of core. These tests simulate several processes in one process, without the
// data path in C. The package follows the protocol of capi/base/wait.c, but polls with pauses instead of sleeping on a
// futex. No process of a job uses it.
package plain

import (
	"sync/atomic"
	"time"
	"unsafe"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
	"gompirma/core/shm"
)

// Waiter implements shm.Waiter. The test provides Serve and BeforeSleep.
type Waiter struct {
	Node        *shm.Node
	Serve       func() bool // processes arrived messages and returns whether there were any
	BeforeSleep func()      // called by a long wait before it sleeps
}

const (
	spinPolls    = 200                   // number of polls before a wait sleeps
	pollInterval = 20 * time.Microsecond // interval between two reads of the word on which a sleeping thread waits
	maxIntervals = 500                   // reads between two calls of done, as in capi/base/wait.c
)

func (w Waiter) word(field int64) *uint32 {
	return (*uint32)(unsafe.Pointer(&w.Node.Control()[shm.CellOffset(w.Node.Slots, w.Node.Me)+field]))
}

// Await implements shm.Waiter. While it sleeps, it is not counted in CellPollerCount and does not call Serve.
func (w Waiter) Await(done func() bool, what shm.Waiting) error {
	polls, wake, sleeping := w.word(shm.CellPollerCount), w.word(shm.CellWakeSeq), w.word(shm.CellHasSleepers)
	atomic.AddUint32(polls, 1)
	defer w.Serve()
	defer atomic.AddUint32(polls, ^uint32(0))
	for i := 0; !done(); i++ {
		if w.Serve() || i < spinPolls {
			continue
		}
		seen := atomic.LoadUint32(wake)
		atomic.StoreUint32(sleeping, 1)
		if done() {
			return nil
		}
		if w.Node.FailedCount() != 0 {
			return mpierr.New(abi.MPI_ERR_PROC_ABORTED, "a process ended without calling MPI_Finalize "+
				"while this process waited for it")
		}
		atomic.AddUint32(polls, ^uint32(0))
		if !w.Serve() {
			w.BeforeSleep()
			for i := 0; i < maxIntervals && atomic.LoadUint32(wake) == seen; i++ {
				<-time.After(pollInterval)
			}
		}
		atomic.AddUint32(polls, 1)
	}
	return nil
}

// Publish implements shm.Waiter. It does nothing, since no launcher reads the records.
func (w Waiter) Publish(shm.Waiting) (withdraw func()) { return func() {} }
