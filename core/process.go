// Package core owns the state of MPI in this process: its rank in the job, the memory of its node, messages,
// collectives and windows. MPI_Init or the first session creates this state. capi accesses all of the state through
// this package. The package must not depend on C's implementation of the data path.
package core

import (
	"os"
	"sync"
	"sync/atomic"
	"time"

	"gompirma/core/abi"
	"gompirma/core/boot"
	"gompirma/core/boot/pmi1"
	"gompirma/core/mpierr"
	"gompirma/core/shm"
)

var (
	self      atomic.Pointer[Instance]
	node      atomic.Pointer[shm.Node]    // the node's memory; set before self, as soon as it is mapped
	launcher  atomic.Pointer[boot.Client] // set by the first contact with the launcher
	released  atomic.Bool                 // the launcher knows that this process has finished
	started   atomic.Bool
	leaving   atomic.Bool // this process is about to end, so the loss of the launcher is no error
	finalized atomic.Bool
	sessions  atomic.Int64 // live sessions; changed under stateMu
	usesWorld atomic.Bool  // MPI_Init has begun, and MPI_Finalize has not returned; changed under stateMu

	// Locks, in the order in which they are acquired. A thread may wait for other processes while it holds worldMu
	// or openMu, but not while it holds stateMu. So a session can begin and end during such a wait.
	worldMu sync.Mutex // held during MPI_Init and MPI_Finalize
	openMu  sync.Mutex // held while the instance is opened
	stateMu sync.Mutex // held while the variables above change, or the instance is suspended or resumed

	usedSessions bool // a session has been initialized; guarded by stateMu
)

// Self returns the process' instance. It returns nil before the process has opened it.
func Self() *Instance { return self.Load() }

// Running returns whether MPI calls that need MPI to be initialized are possible: between MPI_Init and MPI_Finalize,
// and while there is a session.
func Running() bool { return started.Load() && !finalized.Load() || hasSessions() }

// Started returns whether MPI_Init has been called. Finalized returns whether MPI_Finalize has.
func Started() bool   { return started.Load() }
func Finalized() bool { return finalized.Load() }

func hasSessions() bool { return sessions.Load() > 0 }

// connect contacts the launcher, unless an earlier call has done so. Errors: MPI_ERR_OTHER if the launcher does not
// answer as expected.
func connect() (boot.Client, error) {
	stateMu.Lock()
	defer stateMu.Unlock()
	if b := launcher.Load(); b != nil {
		return *b, nil
	}
	b, err := boot.Open()
	if err != nil {
		return nil, err
	}
	launcher.Store(&b)
	if lost := b.LauncherLost(); lost != nil {
		go endWithLauncher(lost)
	}
	return b, nil
}

// Ensure returns the process' instance, and opens it if no call has done so. Collective over the job if the launcher is
// not gompirun, or if the job has several nodes: see Open.
func Ensure(data DataPath) (*Instance, error) {
	openMu.Lock()
	defer openMu.Unlock()
	if p := self.Load(); p != nil {
		return p, nil
	}
	b, err := connect()
	if err != nil {
		return nil, err
	}
	return Open(data, b)
}

// Start implements MPI_Init (MPI-5.0 11.2): this process joins the job. Collective over the job. Errors: MPI_ERR_OTHER
// if it is called twice or after MPI_Finalize, or if the launcher does not answer as expected.
func Start(data DataPath) error {
	worldMu.Lock()
	defer worldMu.Unlock()
	if started.Load() {
		return mpierr.New(abi.MPI_ERR_OTHER, "MPI is already initialized, or has been finalized")
	}
	setUsesWorld(true)
	p, err := Ensure(data)
	if err == nil {
		err = p.resume()
	}
	if err == nil {
		err = p.openWorld()
	}
	if err != nil {
		setUsesWorld(false)
		return err
	}
	started.Store(true)
	return nil
}

func setUsesWorld(uses bool) {
	stateMu.Lock()
	defer stateMu.Unlock()
	usesWorld.Store(uses)
}

// Finish implements MPI_Finalize (MPI-5.0 11.4): it waits for all members of the job. If the process has no session, it
// also releases the resources of the process. Errors: MPI_ERR_OTHER if MPI is not initialized, or if it is called
// twice.
func Finish() error {
	worldMu.Lock()
	defer worldMu.Unlock()
	p := self.Load()
	if p == nil || !p.isWorldOpen.Load() {
		return mpierr.New(abi.MPI_ERR_OTHER, "MPI is not initialized, or has been finalized")
	}
	if err := p.leaveWorld(); err != nil {
		return err
	}
	stateMu.Lock()
	defer stateMu.Unlock()
	if usedSessions { // sends of sessions that have ended during leaveWorld
		if err := p.waitAllSentLocked(hasSessions); err != nil && !boot.IsFaultTolerant() {
			return err
		}
	}
	p.closeWorld()
	usesWorld.Store(false)
	finalized.Store(true)
	if hasSessions() {
		return p.resumeLocked()
	}
	p.suspend()
	err := release()
	if !usedSessions {
		p.stop()
	}
	return err
}

// release notifies the launcher that this process has finished and may end. The caller holds stateMu.
func release() error {
	b := launcher.Load()
	if b == nil || released.Swap(true) {
		return nil
	}
	leaving.Store(true)
	boot.EndSpawner()
	if err := (*b).Finalize(); err != nil {
		return mpierr.New(abi.MPI_ERR_OTHER, "%v", err)
	}
	return nil
}

// endWithLauncher ends this process when its launcher has died. The job has then ended, and no other process would end
// this one.
func endWithLauncher(lost <-chan struct{}) {
	<-lost
	if !leaving.Load() {
		os.Stderr.WriteString("gompirma: the launcher has ended; this process exits\n")
		os.Exit(1)
	}
}

// Rank returns this process' rank in MPI_COMM_WORLD as soon as it is known, and -1 before that.
func Rank() int {
	if b := launcher.Load(); b != nil {
		return (*b).Rank()
	}
	return -1
}

// Abort asks the launcher to end the job with the exit status `code`. It may be called during MPI_Init. If it returns,
// for example because there is no launcher, the caller must end the process. The argument `byError` is true if an error
// handler ends the job. It is false for MPI_Abort.
func Abort(code int, byError bool) {
	boot.AbortSpawned(code)
	if b := launcher.Load(); b != nil && !released.Load() {
		cause := failedRank()
		if cause < 0 && byError {
			cause = boot.ByError
		}
		(*b).Abort(code, cause)
	}
}

// failedRank returns the rank of a failed process for which processes of this node no longer wait; -1 if no process has
// failed.
func failedRank() int {
	p := self.Load()
	if p == nil || p.Node.FailedCount() == 0 {
		return -1
	}
	for i, rank := range p.NodeMap.Local {
		if p.Node.State(p.First+i) == shm.Failed {
			return rank
		}
	}
	return p.Node.FirstRemoteFailed()
}

// Times for which a process waits until the launcher notices the death of another process and ends the job. Time in
// which this process did not run is not counted.
const (
	graceLost      = time.Second     // until gompirun announces the end
	graceLostOther = 3 * time.Second // until another launcher ends this process: mpirun waits 1 s after SIGTERM
)

// EndAnnounced returns whether the launcher is ending the job. If so, this process ends without an error message,
// because the launcher reports the cause. The caller of Abort calls EndAnnounced first. When a process dies, the
// processes that have a connection to the dead process notice this earlier than the launcher. So if a process has
// failed, EndAnnounced waits up to graceLost or graceLostOther. gompirun announces the end, which ends the wait. Other
// launchers kill this process during the wait.
//
// The argument `afterFailure` is true if the caller knows that a process has failed. This may not be recorded in the
// node's memory yet, because the thread that detected the closed connection records it a moment later.
func EndAnnounced(afterFailure bool) bool {
	nd := node.Load()
	if nd == nil {
		return false
	}
	limit := graceLostOther
	if b := launcher.Load(); b != nil {
		if _, ours := (*b).Control(); ours {
			limit = graceLost
		}
	}
	grace := pmi1.NewDeadline(limit)
	isLost := (afterFailure || nd.FailedCount() != 0) && !boot.IsFaultTolerant()
	for isLost && !nd.EndAnnounced() && !grace.Expired(time.Now()) {
		<-time.After(limit / 100)
	}
	return nd.EndAnnounced()
}
