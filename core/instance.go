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

// Instance is all that this process has of MPI while it may communicate: who is in the job, the memory of its node, the
// network, messages, collectives, windows. One can be made, ended and made again; there is one at a time, since what is
// C's of it (struct gompi_node and what works on that) is the process'. MPI_Init and MPI_Finalize (process.go) make one
// and end it; sessions will.
type Instance struct {
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

// Guarded by stateMu.
var (
	instances int // so many have been made
	// ended; its memory stays for threads of the application that are still on their way out of a call
	retired *Instance
)

// leastInInit is how long is waited for the launcher and for processes of which nobody knows anything at least,
// whatever is set for a silent peer.
const leastInInit = 10 * time.Second

// Open makes the process' instance, of all processes that b knows. Collective over these, which have made as many
// before.
// MPI_ERR_OTHER: the launcher does not answer as it should.
func Open(data DataPath, b boot.Client) (*Instance, error) {
	// A limit that is wrong matters, and is told, if there are several nodes.
	timeout, wrong := boot.PeerTimeout()
	silent := timeout
	if timeout > 0 {
		silent = max(timeout, leastInInit)
	}
	b = boot.Nth(b, instances)
	b.Limit(silent)
	instances++
	p := &Instance{Rank: b.Rank(), Size: b.Size(), Boot: b, data: data}
	var err error
	if p.Node, p.Places, err = openNode(b, data.Permitted, silent); err != nil {
		return nil, err
	}
	node.Store(p.Node)
	if p.Processes, err = data.NewProcesses(); err != nil {
		return nil, err
	}
	if _, err = p.Processes.Add(0, p.Places.NodeOf, p.Places.IndexOf()); err != nil {
		return nil, err
	}
	p.Processes.SetSelf(int32(p.Rank))
	if err = p.Node.Commit(shm.OperationRing(p.Node.N, p.Node.Me), shm.OperationRingSize); err != nil {
		return nil, mpierr.Wrap(err, "ring of process %d", p.Node.Me)
	}
	data.Open(p.Node, p.Processes)
	p.Node.Waiter = data
	retired.free()
	retired = nil
	if p.Places.Count > 1 {
		if wrong != nil {
			return nil, wrong
		}
		if err := fabric.Open(data.Network(), b, p.Places.NodeOf, timeout); err != nil {
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
		Node: p.Node, Nodes: p.Places.Count, Data: data,
		NodeOf:    func(w int32) int32 { return p.Processes.At(w).Node },
		NodeIndex: func(w int32) int { return int(p.Processes.At(w).Index) },
		Allgather: p.Coll.Allgather,
		Words:     func(c *comm.Comm, kept, rest int) rma.Words { return p.Coll.Words(c, kept, rest) },
		InPieces:  p.Node.InPieces,
	}
	self.Store(p)
	if err := p.meet(); err != nil {
		self.Store(nil)
		return nil, err
	}
	return p, nil
}

// meet is what Open does with the others, who have their rings from then on.
func (p *Instance) meet() error {
	p.run(func() {
		p.Messages.ProgressThread()
		p.data.Run()
	})
	fenced := p.data.Publish(shm.Waiting{Peer: -1})
	err := p.Boot.Fence()
	fenced()
	if err != nil {
		return mpierr.Wrap(err, "waiting for all ranks to be ready for messages")
	}
	p.Places.Next.Settled(p.Boot)
	if p.spans { // whoever is asked for a sign of life from now on has somebody to give it
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

// run runs a progress thread until it is stopped.
func (p *Instance) run(f func()) {
	p.progress.Add(1)
	go func() {
		defer p.progress.Done()
		runtime.LockOSThread()
		f()
	}()
}

// Close waits for all members of the job and gives back what the process has of it. gone is called when nobody needs
// this process any longer. MPI_ERR_OTHER: the others cannot be waited for.
func (p *Instance) Close(gone func()) error {
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
	gone()
	p.Places.Next.Close()
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

// free gives back what an instance that has ended still has.
func (p *Instance) free() {
	if p == nil {
		return
	}
	p.Messages.Close()
	p.Node.Close()
}
