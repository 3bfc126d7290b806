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

// Instance is the state of MPI in this process while it may communicate: the job's processes, the memory of its node,
// the network, messages, collectives, windows. A process opens it once, when MPI_Init or a session first needs it. If
// neither uses it any longer, it is suspended, and a later session resumes it (process.go).
type Instance struct {
	Rank, Size int // rank of this process in MPI_COMM_WORLD, and its size
	First      int // number of the process with rank 0 in MPI_COMM_WORLD; not 0 for a job that was spawned
	Boot       boot.Client
	Processes  proc.Table
	NodeMap    *boot.NodeMap
	Node       *shm.Node
	Messages   *p2p.Engine
	Coll       *coll.Engine
	WorldComm  *comm.Comm
	SelfComm   *comm.Comm
	Windows    *rma.Host

	data     DataPath
	progress sync.WaitGroup
	// Closed when the progress thread of the network has ended; nil if there has been none.
	networkEnded chan struct{}
	// Messages by which the members of a group create a communicator without a parent (session.go).
	sessionComm *comm.Comm
	// Parent is the intercommunicator with the processes that started this job (MPI_Comm_spawn), until the caller
	// of Start has taken it; nil if there are none.
	Parent      *comm.Comm
	isWorldOpen atomic.Bool // the application may use MPI_COMM_WORLD and MPI_COMM_SELF
	hasNotified bool        // processes of other jobs have been notified that this job has called MPI_Finalize
	stopped     bool        // Close has stopped the progress threads; guarded by stateMu
	// The processes of the job have opened their instances together. Otherwise each process opens its own instance
	// when it needs it, and other processes wait for that (awaitOpen).
	isCollective bool
	spans        bool // the job has processes on other nodes, and the network is open
	ownCount     int  // number of processes of this universe in the table of processes
	foreign      foreign
}

// minInitTimeout is the minimum time that Open waits for the launcher and for processes that have not answered yet. It
// counts even if the user has set a shorter limit (GOMPIRMA_PEER_TIMEOUT).
const minInitTimeout = 10 * time.Second

// Open creates the process' instance, with all processes that b knows. It is local if boot.IsLocal(b); otherwise it is
// collective over these processes. Errors: MPI_ERR_OTHER if the launcher does not answer as expected.
func Open(data DataPath, b boot.Client) (*Instance, error) {
	// An invalid time limit (error `wrong`) is reported only if the job has several nodes, since other jobs do not
	// use it.
	timeout, wrong := boot.PeerTimeout()
	silent := timeout
	if timeout > 0 {
		silent = max(timeout, minInitTimeout)
	}
	b.Limit(silent)
	if err := boot.CheckEnvironment(); err != nil {
		return nil, err
	}
	p := &Instance{Rank: b.Rank(), Size: b.Size(), Boot: b, data: data, isCollective: !boot.IsLocal(b)}
	errhandler, err := boot.InitialErrhandler(os.Getenv(boot.EnvInitialErrhandler))
	if err != nil {
		return nil, mpierr.Wrap(err, "%s", boot.EnvInitialErrhandler)
	}
	if p.Node, p.NodeMap, err = openNode(b, data.Permitted, silent); err != nil {
		return nil, err
	}
	node.Store(p.Node)
	if p.Processes, err = data.NewProcesses(); err != nil {
		return nil, err
	}
	if err = p.addProcesses(); err != nil {
		return nil, err
	}
	if err = p.Node.Commit(shm.OperationRing(p.Node.Slots, p.Node.Me), shm.OperationRingSize); err != nil {
		return nil, mpierr.Wrap(err, "cannot allocate the shared memory through which rank %d receives "+
			"one-sided operations", p.Rank)
	}
	data.Open(p.Node, p.Processes)
	p.Node.Waiter = data
	if p.NodeMap.NodeCount > 1 {
		if wrong != nil {
			return nil, wrong
		}
		if p.foreign.endpoint, err = fabric.Open(data.Network(), b, p.NodeMap.NodeOf, timeout); err != nil {
			return nil, err
		}
		p.spans = true
	}
	if p.Messages, err = p2p.New(p.Node, p2p.Config{First: p.First, Size: p.Size, Processes: p.Processes, Names: p,
		Open: data.OpenMessages}); err != nil {
		return nil, err
	}
	p.WorldComm, p.SelfComm = p.Messages.World, p.Messages.Self
	p.WorldComm.Errhandler, p.SelfComm.Errhandler = errhandler, errhandler
	p.sessionComm = p.Messages.NewSessionComm()
	p.Coll = coll.New(p.Messages)
	rma.TracksLocks = boot.IsFaultTolerant()
	comm.IsFaultTolerant = rma.TracksLocks
	p.Windows = &rma.Host{
		Node: p.Node, Data: data, IsForeign: p.isForeign,
		NodeOf:    func(w int32) int32 { return p.Processes.At(w).Node },
		NodeIndex: func(w int32) int { return int(p.Processes.At(w).Index) },
		Allgather: p.Coll.Allgather,
		SharedAllgather: func(c *comm.Comm, firstBytes, laterBytes int) rma.SharedAllgather {
			return p.Coll.NewSharedAllgather(c, firstBytes, laterBytes)
		},
		InChunks: p.Node.InChunks,
	}
	self.Store(p)
	p.start()
	if p.isCollective {
		if err := p.fence(); err != nil {
			self.Store(nil)
			return nil, err
		}
		p.NodeMap.Neighbour.EndWatch(p.Boot)
	}
	if p.spans { // from now on the network thread answers keepalive requests of other processes
		p.runNetwork()
	}
	p.Node.SetRunning()
	return p, nil
}

// addProcesses fills the table of processes. On one node it also has the processes that can be started later, so that
// it never grows: the number of a process is then its index on the node.
func (p *Instance) addProcesses() error {
	nodeOf, indices := p.NodeMap.NodeOf, p.NodeMap.LocalIndices()
	if p.NodeMap.NodeCount == 1 {
		control, _ := p.Boot.Control()
		p.First = control.First
		nodeOf, indices = make([]int32, p.Node.Slots), nil
	}
	if _, err := p.Processes.Add(0, nodeOf, indices); err != nil {
		return err
	}
	p.Processes.SetSelf(p.Number(), int32(p.First), p.Size)
	p.ownCount = p.Processes.Count()
	return nil
}

// Number returns the number of this process in the table of processes.
func (p *Instance) Number() int32 { return int32(p.First + p.Rank) }

// start starts the progress thread of the node. The application can send messages afterwards.
func (p *Instance) start() {
	p.Messages.Enter()
	p.data.Start()
	p.run(func() {
		p.Messages.ProgressThread()
		p.data.Run()
	})
	p.stopped = false
}

// fence waits until all processes of the job have called it. Afterwards all of them can receive messages.
func (p *Instance) fence() error {
	withdraw := p.data.Publish(shm.Waiting{Peer: -1})
	defer withdraw()
	if err := p.Boot.Fence(); err != nil {
		return mpierr.Wrap(err, "while waiting until all ranks are ready for messages")
	}
	return nil
}

// openWorld makes MPI_COMM_WORLD and MPI_COMM_SELF usable. Collective over the job.
func (p *Instance) openWorld() error {
	if !p.isCollective {
		if err := p.fence(); err != nil {
			return err
		}
	}
	if err := p.WorldComm.AttachBlock(); err != nil {
		return err
	}
	for _, c := range []*comm.Comm{p.WorldComm, p.SelfComm} {
		if err := p.data.OpenComm(c); err != nil {
			return err
		}
	}
	p.isWorldOpen.Store(true)
	return p.connectToParent()
}

// IsWorldOpen returns whether the application may use MPI_COMM_WORLD and MPI_COMM_SELF, that is, whether MPI_Init has
// been called and MPI_Finalize has not.
func (p *Instance) IsWorldOpen() bool { return p.isWorldOpen.Load() }

// run starts a progress thread that executes `f`, which returns when stop stops it.
func (p *Instance) run(f func()) {
	p.progress.Add(1)
	go func() {
		defer p.progress.Done()
		runtime.LockOSThread()
		f()
	}()
}

// runNetwork starts the progress thread of the network.
func (p *Instance) runNetwork() {
	ended := make(chan struct{})
	p.networkEnded = ended
	p.run(func() {
		defer close(ended)
		p.data.Network().Run()
	})
}

// leaveWorld waits for all members of the job. Errors: MPI_ERR_OTHER if waiting for the other processes fails.
func (p *Instance) leaveWorld() error {
	stateMu.Lock()
	if sessions.Load() == 0 {
		p.Node.SetState(p.Node.Me, shm.Finishing)
	}
	err := p.waitAllSentLocked(hasSessions)
	stateMu.Unlock()
	if err != nil && !boot.IsFaultTolerant() {
		return err
	}
	// After the barrier, the other processes have received all data that this process has sent to them.
	p.drain()
	isComplete := true // no process of the job has failed
	if boot.IsFaultTolerant() {
		// waits for the members that have not failed; its messages have been delivered when it returns
		isComplete = p.WorldComm.Agree(new(uint32), nil)() == nil
	} else {
		if p.spans {
			p.data.Network().Drain(true, drainTimeout)
		}
		if err := p.Coll.Barrier(p.WorldComm); err != nil {
			return err
		}
	}
	p.notifyFinalize()
	if p.spans {
		if hasSessions() {
			p.data.Network().JobFinalized()
		} else {
			p.data.Network().JobEnding()
		}
		// A process that has left the barrier may still have messages to send that other processes need to
		// leave the barrier. So no process closes its network before all processes have left the barrier. A
		// launcher other than gompirun may wait for failed processes.
		if isComplete || boot.IsByGompirun(p.Boot) {
			if err := p.Boot.Fence(); err != nil {
				return mpierr.New(abi.MPI_ERR_OTHER, "%v", err)
			}
		}
	}
	return nil
}

// closeWorld makes MPI_COMM_WORLD and MPI_COMM_SELF unusable.
func (p *Instance) closeWorld() {
	p.isWorldOpen.Store(false)
	p.data.CloseComm(p.WorldComm)
	p.data.CloseComm(p.SelfComm)
}

// waitAllSentLocked waits until no send of this process is in progress, because receivers need this process for
// messages in flight, also for those of buffered sends. It also returns when inUse returns true: while there is a
// session, sends may continue, since their messages may be received after MPI_Finalize. Releases stateMu while it
// waits. Errors: MPI_ERR_PROC_ABORTED if a receiver has failed.
func (p *Instance) waitAllSentLocked(inUse func() bool) error {
	for !inUse() && !p.Messages.AllSent() {
		stateMu.Unlock()
		err := p.Messages.WaitAllSent(inUse)
		stateMu.Lock()
		if err != nil {
			return err
		}
	}
	return nil
}

// suspend records that this process no longer needs other processes. Precondition: all its sends are complete.
func (p *Instance) suspend() {
	p.Node.WaitReleased()
	p.Node.SetState(p.Node.Me, shm.Finalized)
}

// drainTimeout limits for how long MPI_Finalize waits for each process that has not received all data.
const drainTimeout = 5 * time.Second

// drain waits until processes of other jobs have received all data that this process has sent to them.
func (p *Instance) drain() {
	if p.isNetworkOpen() {
		p.data.Network().Drain(false, drainTimeout)
	}
}

// notifyFinalize notifies the connected processes of other jobs that this job has called MPI_Finalize. Precondition:
// all processes of this job have called MPI_Finalize.
func (p *Instance) notifyFinalize() {
	if p.isNetworkOpen() {
		p.hasNotified = true
		p.data.Network().NotifyFinalize(p.foreign.targets())
		p.data.Network().Drain(false, drainTimeout)
	}
}

func (p *Instance) isNetworkOpen() bool {
	p.foreign.mu.Lock()
	defer p.foreign.mu.Unlock()
	return p.foreign.endpoint != nil
}

// stop stops the progress threads and closes the network. Precondition: suspend has been called.
func (p *Instance) stop() {
	closePorts()
	boot.UnpublishAll()
	p.NodeMap.Neighbour.Close()
	p.data.Stop()
	open := p.isNetworkOpen()
	if open {
		if p.hasNotified {
			p.notifyFinalize() // to processes that have connected meanwhile
		}
		p.data.Network().JobEnding()
		p.data.Network().Stop()
	}
	p.progress.Wait()
	if open {
		p.data.Network().End()
	}
	if !p.spans {
		p.foreign.forget()
	}
	p.Messages.Leave()
	p.stopped = true
}

// resume does the same as resumeLocked.
func (p *Instance) resume() error {
	stateMu.Lock()
	defer stateMu.Unlock()
	return p.resumeLocked()
}

// resumeLocked makes a suspended instance usable again, and one that MPI_Finalize has marked as ending. Errors:
// MPI_ERR_OTHER if stop has closed the network.
func (p *Instance) resumeLocked() error {
	switch state := p.Node.State(p.Node.Me); {
	case state != shm.Finalized && state != shm.Finishing:
		return nil
	case p.stopped && p.spans:
		return mpierr.New(abi.MPI_ERR_OTHER, "MPI_Finalize has closed the network of this process, so a "+
			"session cannot use it: call MPI_Session_init once before MPI_Finalize")
	case p.stopped:
		p.start()
	}
	p.Node.SetRunning()
	return nil
}
