package core

import (
	"runtime"
	"sync"
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
// the network, messages, collectives, windows. An instance can be opened, closed and opened again. At most one is open
// at a time, since its C part (struct gompi_node and its users) exists once per process. MPI_Init and MPI_Finalize
// (process.go) open and close it.
type Instance struct {
	Rank, Size int // rank of this process in MPI_COMM_WORLD, and its size
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
	spans    bool // the job has processes on other nodes, and the network is open
}

// Guarded by stateMu.
var (
	instances int // number of instances opened so far
	// The instance that Close closed last, until the next Open frees it. Its memory stays mapped, since threads of
	// the application may still be returning from a call.
	retired *Instance
)

// minInitTimeout is the minimum time that Open waits for the launcher and for processes that have not answered yet. It
// counts even if the user has set a shorter limit (GOMPIRMA_PEER_TIMEOUT).
const minInitTimeout = 10 * time.Second

// Open creates the process' instance, with all processes that b knows. Collective over these processes. Each of them
// must have opened the same number of instances before. Errors: MPI_ERR_OTHER if the launcher does not answer as
// expected.
func Open(data DataPath, b boot.Client) (*Instance, error) {
	// An invalid time limit (error `wrong`) is reported only if the job has several nodes, since other jobs do not
	// use it.
	timeout, wrong := boot.PeerTimeout()
	silent := timeout
	if timeout > 0 {
		silent = max(timeout, minInitTimeout)
	}
	b = boot.Nth(b, instances)
	b.Limit(silent)
	instances++
	p := &Instance{Rank: b.Rank(), Size: b.Size(), Boot: b, data: data}
	var err error
	if p.Node, p.NodeMap, err = openNode(b, data.Permitted, silent); err != nil {
		return nil, err
	}
	node.Store(p.Node)
	if p.Processes, err = data.NewProcesses(); err != nil {
		return nil, err
	}
	if _, err = p.Processes.Add(0, p.NodeMap.NodeOf, p.NodeMap.LocalIndices()); err != nil {
		return nil, err
	}
	p.Processes.SetSelf(int32(p.Rank))
	if err = p.Node.Commit(shm.OperationRing(p.Node.N, p.Node.Me), shm.OperationRingSize); err != nil {
		return nil, mpierr.Wrap(err, "cannot allocate the shared memory through which rank %d receives "+
			"one-sided operations", p.Rank)
	}
	data.Open(p.Node, p.Processes)
	p.Node.Waiter = data
	retired.free()
	retired = nil
	if p.NodeMap.NodeCount > 1 {
		if wrong != nil {
			return nil, wrong
		}
		if err := fabric.Open(data.Network(), b, p.NodeMap.NodeOf, timeout); err != nil {
			return nil, err
		}
		p.spans = true
	}
	if p.Messages, err = p2p.New(p.Node, p2p.Config{Size: p.Size, Processes: p.Processes,
		Open: data.OpenMessages}); err != nil {
		return nil, err
	}
	p.Messages.Enter()
	p.WorldComm, p.SelfComm = p.Messages.World, p.Messages.Self
	p.Coll = coll.New(p.Messages)
	p.Windows = &rma.Host{
		Node: p.Node, Nodes: p.NodeMap.NodeCount, Data: data,
		NodeOf:    func(w int32) int32 { return p.Processes.At(w).Node },
		NodeIndex: func(w int32) int { return int(p.Processes.At(w).Index) },
		Allgather: p.Coll.Allgather,
		SharedAllgather: func(c *comm.Comm, firstBytes, laterBytes int) rma.SharedAllgather {
			return p.Coll.NewSharedAllgather(c, firstBytes, laterBytes)
		},
		InChunks: p.Node.InChunks,
	}
	self.Store(p)
	if err := p.synchronize(); err != nil {
		self.Store(nil)
		return nil, err
	}
	return p, nil
}

// synchronize executes the part of Open that communicates with the other processes. Afterwards the rings of all
// processes exist.
func (p *Instance) synchronize() error {
	p.run(func() {
		p.Messages.ProgressThread()
		p.data.Run()
	})
	fenced := p.data.Publish(shm.Waiting{Peer: -1})
	err := p.Boot.Fence()
	fenced()
	if err != nil {
		return mpierr.Wrap(err, "while waiting until all ranks are ready for messages")
	}
	p.NodeMap.Neighbour.EndWatch(p.Boot)
	if p.spans { // from now on the network thread answers keepalive requests of other processes
		p.run(p.data.Network().Run)
	}
	if err := p.WorldComm.AttachBlock(); err != nil {
		return err
	}
	for _, c := range []*comm.Comm{p.WorldComm, p.SelfComm} {
		if err := p.data.OpenComm(c); err != nil {
			return err
		}
	}
	return nil
}

// run starts a progress thread that executes `f`, which returns when Close stops it.
func (p *Instance) run(f func()) {
	p.progress.Add(1)
	go func() {
		defer p.progress.Done()
		runtime.LockOSThread()
		f()
	}()
}

// Close waits for all members of the job and frees the resources of the instance. As soon as no other process needs
// this process any longer, Close calls `onReleased`. Errors: MPI_ERR_OTHER if waiting for the other processes fails.
func (p *Instance) Close(onReleased func()) error {
	p.Node.SetState(p.Node.Me, shm.Finishing)
	// Messages in flight, also messages of buffered sends, need this process to complete at their receivers.
	if err := p.Messages.WaitAllSent(); err != nil {
		return err
	}
	if err := p.Coll.Barrier(p.WorldComm); err != nil {
		return err
	}
	if p.spans {
		p.data.Network().JobEnding()
		// A process that has left the barrier may still have messages to send that other processes need to
		// leave the barrier. So no process closes its network before all processes have left the barrier.
		if err := p.Boot.Fence(); err != nil {
			return mpierr.New(abi.MPI_ERR_OTHER, "%v", err)
		}
	}
	p.Node.WaitReleased()
	p.Node.SetState(p.Node.Me, shm.Finalized)
	onReleased()
	p.NodeMap.Neighbour.Close()
	p.data.Stop()
	if p.spans {
		p.data.Network().Stop()
	}
	p.progress.Wait()
	if p.spans {
		p.data.Network().End()
	}
	p.data.CloseComm(p.WorldComm)
	p.data.CloseComm(p.SelfComm)
	p.Messages.Leave()
	self.Store(nil)
	node.Store(nil)
	retired = p
	return nil
}

// free releases the memory that a closed instance has kept.
func (p *Instance) free() {
	if p == nil {
		return
	}
	p.Messages.Close()
	p.Node.Close()
}
