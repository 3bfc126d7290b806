package coll

import (
	"gompirma/core/comm"
	"gompirma/core/p2p"
)

// Engine runs the collectives of one process. Calls on different communicators may run concurrently. As the standard
// requires, calls on one communicator must not overlap.
type Engine struct {
	msg  *p2p.Engine
	wire Wire // replaces msg in tests; nil otherwise
}

// New returns an engine whose collectives send their messages with msg.
func New(msg *p2p.Engine) *Engine {
	e := &Engine{msg: msg}
	msg.Collectives = e
	return e
}

// Wire carries the messages of collectives between processes that a test simulates in one process. Send and Recv block
// until they no longer need b.
type Wire interface {
	Send(c *comm.Comm, to int, b []byte) error
	Recv(c *comm.Comm, from int, b []byte) error
}

// NewOverWire returns an engine whose collectives send their messages over w. It supports blocking calls only.
func NewOverWire(w Wire) *Engine { return &Engine{wire: w} }

// state is this package's state of a communicator.
type state struct {
	shm           Shm   // shared-memory collectives; nil if the members do not share memory
	blockingCount int32 // number of blocking calls so far; the latest call has this number as its tag
	startedCount  int32 // number of nonblocking and persistent calls so far; each gets its tag from this number
	// Operands of the blocking call that is running, kept for the next one; nil before the first blocking call.
	operands *operands
}

// Used returns whether this member has written to its part of the communicator's control block.
func (s *state) Used() bool { return s.shm != nil && s.shm.Used() }

// Clean sets this member's part of the control block to zero. core/comm calls it once no member uses the block.
func (s *state) Clean() {
	if s.shm != nil {
		s.shm.Clean()
	}
}

// Leave notes that the communicator is freed; core/comm calls it. It returns true if C still holds a reference to the
// communicator. C then releases this reference later by Unref.
func (s *state) Leave() bool { return s.shm != nil && s.shm.Leave() }

// Release frees this package's state of a communicator; core/comm calls it.
func (s *state) Release() {
	if s.shm != nil {
		s.shm.Close()
	}
}

// state returns the state of a communicator and creates it if necessary. Like alloc, it panics if memory is short.
func (e *Engine) state(c *comm.Comm) *state {
	if s, ok := c.Coll.(*state); ok {
		return s
	}
	s := &state{}
	if OpenShm != nil && (c.Block != nil || c.Hierarchy != nil) {
		n, _ := c.LocalMembers()
		h := ShmHost{Comm: c, Peers: make([]int32, n)}
		for i := range h.Peers {
			h.Peers[i] = c.Group().World(c.LocalMember(i))
		}
		if c.Block != nil {
			from := comm.CollOffset(n)
			h.Block = c.Block[from : from+comm.CollSize(n)]
		}
		var err error
		if s.shm, err = OpenShm(h); err != nil {
			panic(noMemory{err})
		}
	}
	c.Coll = s
	return s
}

// OpenedShm returns the shared-memory collectives of a communicator, nil if none have been opened.
func (e *Engine) OpenedShm(c *comm.Comm) Shm {
	if s, ok := c.Coll.(*state); ok {
		return s.shm
	}
	return nil
}

// Shm returns the shared-memory collectives of a communicator, nil if it has none. Error: MPI_ERR_NO_MEM.
func (e *Engine) Shm(c *comm.Comm) (s Shm, err error) {
	defer recoverNoMemory(&err)
	return e.state(c).shm, nil
}

// tag returns the tag of the n-th call.
func tag(n int32) int32 { return n & p2p.TagUB }

// blocking returns an empty schedule for a blocking call on c.
func (e *Engine) blocking(c *comm.Comm) *schedule {
	s := e.state(c)
	s.blockingCount++
	made := e.schedule(c, comm.Collective, tag(s.blockingCount))
	made.buffers = new(callBuffers)
	return made
}

func (e *Engine) schedule(c *comm.Comm, x comm.Context, tag int32) *schedule {
	if !c.IsInter() {
		return newSchedule(&channel{c: c, x: x, tag: tag}, c.Rank(), c.Size())
	}
	s := newSchedule(&channel{c: c.Local, x: x, tag: tag}, c.Rank(), c.Size())
	s.remote = view{s, &channel{c: c, x: x, tag: tag}, -1, c.RemoteSize()}
	return s
}

// run executes a schedule of a blocking call to its end. Without an error, it releases the schedule's memory for other
// calls. After an error it does not release the memory, because messages that are still in progress may access it.
func (e *Engine) run(s *schedule, c *comm.Comm) (err error) {
	if e.wire != nil {
		err = s.overWire(e.wire)
	} else {
		err = e.msg.Run(s.plan(c), c)
	}
	if err == nil && s.buffers != nil {
		s.buffers.release()
	}
	return err
}

// overWire executes the steps of a schedule one after the other.
func (s *schedule) overWire(w Wire) (err error) {
	for i := range s.steps {
		st := &s.steps[i]
		var l *channel
		peer := st.peer
		if l, _ = st.via.(*channel); l != nil && l.ranks != nil {
			peer = int(l.ranks[peer])
		}
		switch st.kind {
		case stepSend, stepForward:
			err = w.Send(l.c, peer, st.buf)
		case stepRecv:
			err = w.Recv(l.c, peer, st.buf)
		default:
			err = st.local()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
