package p2p

import (
	"os"
	"sync/atomic"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
	"gompirma/core/proc"
	"gompirma/core/shm"
)

// TagUB is the largest tag, the value of the attribute MPI_TAG_UB.
const TagUB = 1<<31 - 1

// generationShift is the base-2 logarithm of the number of identities that a process can create before they could equal
// those of the next process with the same number (host.NewID).
const generationShift = 24

// Engine sends and receives messages for one process. It is safe for concurrent use.
type Engine struct {
	nd        *shm.Node
	processes proc.Table
	m         Carrier

	// Collectives implements Bcast and Allgather of comm.Host without messages. It is set before the first
	// communicator is created. If it is nil, the creation of communicators uses messages.
	Collectives interface {
		ShortBcast(c *comm.Comm, root int, b []byte) (done bool, err error)
		ShortAllgather(c *comm.Comm, mine []byte) (all []byte, done bool, err error)
	}

	World *comm.Comm
	Self  *comm.Comm

	ids         atomic.Uint64
	names       Names
	isConnected atomic.Bool // this process knows processes of other jobs
}

// Config describes the processes of the job to New.
type Config struct {
	First int // number of the job's process with rank 0
	Size  int // number of processes of the job
	// Processes is the table of all processes that this process knows.
	Processes proc.Table
	// Names is nil if all processes use the same numbers.
	Names Names
	// Open creates the carrier of this process' messages. Precondition: the memory of this process' message ring is
	// committed. The text of an error names the resource of the system that is not available.
	Open func(p *CarrierConfig) (Carrier, error)
}

// Names identifies processes towards processes of other jobs, which use other numbers (comm.Host).
type Names interface {
	Identify(w int32) (universe uint64, number uint32)
	Find(universe uint64, number uint32) (w int32, ok bool)
}

// sameNumbers implements Names for processes that use the same numbers.
type sameNumbers struct{}

func (sameNumbers) Identify(w int32) (uint64, uint32)               { return 0, uint32(w) }
func (sameNumbers) Find(_ uint64, number uint32) (w int32, ok bool) { return int32(number), true }

// New creates the engine of this process, with COMM_WORLD and COMM_SELF. Messages can be sent as soon as all processes
// of the node have called it. World.AttachBlock, a collective call, creates the control block of COMM_WORLD. Errors:
// MPI_ERR_NO_MEM if there is no memory for the message ring; MPI_ERR_OTHER if cfg.Open fails.
func New(nd *shm.Node, cfg Config) (*Engine, error) {
	if err := nd.Commit(shm.MessageRing(nd.Slots, nd.Me), shm.MessageRingSize); err != nil {
		return nil, mpierr.Wrap(err, "cannot allocate the shared memory through which rank %d receives "+
			"messages", cfg.Processes.Self())
	}
	e := &Engine{nd: nd, processes: cfg.Processes, names: cfg.Names}
	if e.names == nil {
		e.names = sameNumbers{}
	}
	e.ids.Store(uint64(nd.Generation()) << generationShift)
	var err error
	e.m, err = cfg.Open(&CarrierConfig{
		Control: nd.Control(), Rings: shm.MessageRing(nd.Slots, 0),
		CellStride: shm.CellSize(nd.Slots), RingBytes: shm.MessageRingSize,
		N: nd.Slots, Me: nd.Me, Processes: cfg.Processes,
		Oversubscribed: nd.IsOversubscribed(), NoCMA: os.Getenv("GOMPIRMA_NO_CMA") == "1",
	})
	if err != nil {
		return nil, mpierr.New(abi.MPI_ERR_OTHER, "cannot set up message passing for a job of size %d: %v",
			cfg.Size, err)
	}
	self := int(cfg.Processes.Self())
	e.World = comm.NewWorld(host{e}, cfg.First, self-cfg.First, cfg.Size)
	e.Self = comm.NewSelf(host{e}, self)
	return e, nil
}

// NewSessionComm returns a communicator of all processes that this process can know, for messages by which they create
// communicators.
func (e *Engine) NewSessionComm() *comm.Comm {
	return comm.NewSessionComm(host{e}, int(e.processes.Self()), e.processes.Count())
}

// Enter makes C's message calls use this engine's carrier. Leave undoes this.
func (e *Engine) Enter() { e.m.Enter() }
func (e *Engine) Leave() { e.m.Leave() }

// Close frees the memory of the carrier. Preconditions: Leave has been called, and no call uses the carrier any longer.
func (e *Engine) Close() { e.m.Close() }

// Shared returns the shared memory of the node that the engine works on.
func (e *Engine) Shared() *shm.Node { return e.nd }

// NodeIndex returns the index on this node of the process with number w (package proc), -1 if it is on another node.
func (e *Engine) NodeIndex(w int32) int {
	return int(e.processes.At(w).Index)
}

// Progress receives arrived messages, retries sends that could not proceed before, copies data of matched messages, and
// advances plans. It returns whether it made any progress. It does not block: if another thread is already in Progress,
// that thread also does the work of this call.
func (e *Engine) Progress() bool { return e.m.Progress() }

// OpenNetwork makes the engine use the network, which has been opened after the engine.
func (e *Engine) OpenNetwork() { e.m.OpenNetwork() }

// Connected is called before this process knows processes of other jobs.
func (e *Engine) Connected() { e.isConnected.Store(true) }

// NotifyReceivers notifies the receivers of all sends in progress that this process waits for the end of the sends.
func (e *Engine) NotifyReceivers() { e.m.NotifyReceivers() }
