// Package core puts the process together: its place in the job, the memory of its node, messages, collectives and
// windows. It is started by MPI_Init and ended by MPI_Finalize; capi finds everything through it.
package core

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"gompirma/core/abi"
	"gompirma/core/boot"
	"gompirma/core/coll"
	"gompirma/core/comm"
	"gompirma/core/fabric"
	"gompirma/core/mpierr"
	"gompirma/core/p2p"
	"gompirma/core/proc"
	"gompirma/core/rma"
	"gompirma/core/shm"
)

// DataPath is the part of the process that is written in C. capi provides it before MPI_Init.
type DataPath interface {
	rma.DataPath
	// NewProcesses makes the table of all that this process knows. MPI_ERR_NO_MEM.
	NewProcesses() (proc.Table, error)
	// Open tells it where the node's memory is; all are the processes.
	Open(nd *shm.Node, all proc.Table)
	// Permitted is what others may connect to on this host; may be called before Open.
	Permitted() boot.Where
	// OpenComm tells it of MPI_COMM_WORLD and MPI_COMM_SELF, CloseComm that they are gone.
	OpenComm(c *comm.Comm) error
	CloseComm(h uintptr)
	// OpenMessages makes what carries the messages of this process. nil: there is no memory.
	OpenMessages(p *p2p.Place) p2p.Carrier
	// Network is the network between nodes, which nothing is done with unless the job spans some.
	Network() fabric.Network
	// Waiter is how all threads of this process wait, in C or in Go.
	shm.Waiter
	// Run is the progress thread: it serves whatever arrives until Stop, and sleeps while there is nothing.
	Run()
	Stop()
}

// Process is this MPI process between MPI_Init and MPI_Finalize.
type Process struct {
	Rank, Size int // in MPI_COMM_WORLD
	Boot       boot.Client
	Processes  proc.Table
	Places     *boot.Places
	Node       *shm.Node
	Messages   *p2p.Engine
	Coll       *coll.Engine
	WorldComm  *comm.Comm
	SelfComm   *comm.Comm
	Windows    *rma.Host

	data     DataPath
	progress sync.WaitGroup
	spans    bool // the job has processes on other nodes, and the network is open
}

var (
	self      atomic.Pointer[Process]
	launcher  atomic.Pointer[boot.Client] // from its first word in MPI_Init to the end of MPI_Finalize
	stateMu   sync.Mutex
	started   atomic.Bool
	leaving   atomic.Bool // the launcher may go: this process is about to
	finalized atomic.Bool
)

// Self returns the process, nil before MPI_Init and after MPI_Finalize.
func Self() *Process { return self.Load() }

// Running returns whether MPI calls that need the job are possible.
func Running() bool { return self.Load() != nil }

// Started returns whether MPI_Init has been called, Finalized whether MPI_Finalize has.
func Started() bool   { return started.Load() }
func Finalized() bool { return finalized.Load() }

// leastInInit is how long is waited for the launcher and for processes of which nobody knows anything at least,
// whatever is set for a silent peer.
const leastInInit = 10 * time.Second

// Start is MPI_Init (MPI-5.0 11.2): it takes the process' place in the job. Collective over the job.
// MPI_ERR_OTHER: called twice, after MPI_Finalize, or the launcher does not answer as it should.
func Start(data DataPath) error {
	stateMu.Lock()
	defer stateMu.Unlock()
	if started.Load() {
		return mpierr.New(abi.MPI_ERR_OTHER, "MPI has been initialized before")
	}
	b, err := boot.Open()
	if err != nil {
		return err
	}
	launcher.Store(&b)
	if lost := b.HangUp(); lost != nil {
		go endWithLauncher(lost)
	}
	// A limit that is wrong matters, and is told, if there are several nodes.
	timeout, wrong := boot.PeerTimeout()
	silent := timeout
	if timeout > 0 {
		silent = max(timeout, leastInInit)
	}
	b.Limit(silent)
	p := &Process{Rank: b.Rank(), Size: b.Size(), Boot: b, data: data}
	if p.Node, p.Places, err = openNode(b, data.Permitted, silent); err != nil {
		return err
	}
	if p.Processes, err = data.NewProcesses(); err != nil {
		return err
	}
	if _, err = p.Processes.Add(0, p.Places.NodeOf, p.Places.IndexOf()); err != nil {
		return err
	}
	p.Processes.SetSelf(int32(p.Rank))
	if err = p.Node.Commit(shm.OperationRing(p.Node.N, p.Node.Me), shm.OperationRingSize); err != nil {
		return mpierr.Wrap(err, "ring of process %d", p.Node.Me)
	}
	data.Open(p.Node, p.Processes)
	p.Node.Waiter = data
	if p.Places.Count > 1 {
		if wrong != nil {
			return wrong
		}
		if err := p.openFabric(timeout); err != nil {
			return err
		}
	}
	if p.Messages, err = p2p.New(p.Node, p2p.Config{Size: p.Size, Processes: p.Processes,
		Open: data.OpenMessages}); err != nil {
		return err
	}
	p.Messages.Enter()
	p.WorldComm, p.SelfComm = p.Messages.World, p.Messages.Self
	p.Coll = coll.New(p.Messages)
	p.Windows = &rma.Host{
		Node: p.Node, Nodes: p.Places.Count, Data: data,
		NodeOf:    func(w int32) int32 { return p.Processes.At(w).Node },
		NodeIndex: func(w int32) int { return int(p.Processes.At(w).Index) },
		Allgather: p.Coll.Allgather,
		InPieces:  p.Node.InPieces,
	}
	self.Store(p)
	p.progress.Add(1)
	go func() {
		defer p.progress.Done()
		runtime.LockOSThread()
		p.Messages.ProgressThread()
		data.Run()
	}()
	// Everybody's rings are there.
	fenced := data.Publish(shm.Waiting{Peer: -1})
	err = b.Fence()
	fenced()
	if err != nil {
		self.Store(nil)
		return mpierr.Wrap(err, "waiting for all ranks to be ready for messages")
	}
	p.Places.Next.Settled(b)
	if p.spans { // whoever is asked for a sign of life from now on has somebody to give it
		p.progress.Add(1)
		go func() {
			defer p.progress.Done()
			runtime.LockOSThread()
			data.Network().Run()
		}()
	}
	if err := p.WorldComm.AttachBlock(); err != nil {
		self.Store(nil)
		return err
	}
	for _, c := range []*comm.Comm{p.WorldComm, p.SelfComm} {
		if err := data.OpenComm(c); err != nil {
			self.Store(nil)
			return err
		}
	}
	started.Store(true)
	return nil
}

// openFabric opens the network between the nodes.
func (p *Process) openFabric(timeout time.Duration) error {
	if err := fabric.Open(p.data.Network(), p.Boot, p.Places.NodeOf, timeout); err != nil {
		return err
	}
	p.spans = true
	return nil
}

// Finish is MPI_Finalize (MPI-5.0 11.4): it waits for all members of the job and gives back what the process has of it.
// MPI_ERR_OTHER: not initialized, or called twice.
func Finish() error {
	stateMu.Lock()
	defer stateMu.Unlock()
	p := self.Load()
	if p == nil {
		return mpierr.New(abi.MPI_ERR_OTHER, "MPI is not initialized, or has been finalized before")
	}
	p.Node.SetState(p.Node.Me, shm.Finishing)
	// What was sent and not yet taken, buffered messages too, needs this process to live.
	if err := p.Messages.Flushed(); err != nil {
		return err
	}
	if err := p.Coll.Barrier(p.WorldComm); err != nil {
		return err
	}
	if p.spans {
		p.data.Network().Leaving()
		// Whoever has left the barrier may still have to send what others leave it by.
		if err := p.Boot.Fence(); err != nil {
			return mpierr.New(abi.MPI_ERR_OTHER, "%v", err)
		}
	}
	p.Node.Given()
	p.Node.SetState(p.Node.Me, shm.Finalized)
	leaving.Store(true)
	err := p.Boot.Finalize()
	p.Places.Next.Close()
	p.data.Stop()
	if p.spans {
		p.data.Network().Stop()
	}
	p.progress.Wait()
	if p.spans {
		p.data.Network().End()
	}
	p.data.CloseComm(abi.MPI_COMM_WORLD)
	p.data.CloseComm(abi.MPI_COMM_SELF)
	p.Messages.Leave()
	finalized.Store(true)
	self.Store(nil)
	launcher.Store(nil)
	// The control segment stays mapped: a thread of the application may still be on its way out of a call.
	if err != nil {
		return mpierr.New(abi.MPI_ERR_OTHER, "%v", err)
	}
	return nil
}

// endWithLauncher ends this process when its launcher has died: the job is at its end, and nobody else would end the
// process.
func endWithLauncher(lost <-chan struct{}) {
	<-lost
	if !leaving.Load() {
		os.Stderr.WriteString("gompirma: the launcher is gone; this process ends\n")
		os.Exit(1)
	}
}

// Rank is this process' rank in MPI_COMM_WORLD as soon as MPI_Init has learnt it; -1: not yet, or no longer.
func Rank() int {
	if b := launcher.Load(); b != nil {
		return (*b).Rank()
	}
	return -1
}

// Abort asks the launcher to end the job with a status, also in the middle of MPI_Init. It returns if there is no
// launcher; the caller then ends the process.
func Abort(code int) {
	if b := launcher.Load(); b != nil {
		(*b).Abort(code, lost())
	}
}

// lost is the rank whose end has ended the waits of this node, -1: none has.
func lost() int {
	p := self.Load()
	if p == nil || p.Node.Broken() == 0 {
		return -1
	}
	for i, rank := range p.Places.Local {
		if p.Node.State(i) == shm.Dead {
			return rank
		}
	}
	return p.Node.Lost()
}

// graceLost is how long other launchers have to notice the death of a process.
const graceLost = time.Second

// YieldToLauncher is called before an Abort, and before anything is said of it. If that is because a process is lost, a
// launcher that cannot be told so should see it, too, and end the job with what it has to say.
func YieldToLauncher() {
	if b := launcher.Load(); b != nil && !(*b).Judges() && lost() >= 0 {
		<-time.After(graceLost)
	}
}
