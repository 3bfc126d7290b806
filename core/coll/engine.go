package coll

import (
	"gompirma/core/comm"
	"gompirma/core/p2p"
)

// Engine is the collectives of one process. It is safe for concurrent use as far as the standard allows it: calls on
// one communicator must not overlap.
type Engine struct {
	msg  *p2p.Engine
	wire Wire // used instead of msg if it is not nil
}

// New returns the collectives that use the messages of msg.
func New(msg *p2p.Engine) *Engine {
	e := &Engine{msg: msg}
	msg.Collectives = e
	return e
}

// Wire carries the messages of collectives between simulated processes: one process of a job that has no others. Both
// functions return when they no longer need b.
type Wire interface {
	Send(c *comm.Comm, to int, b []byte) error
	Recv(c *comm.Comm, from int, b []byte) error
}

// Over returns collectives that use a wire. They support blocking calls only.
func Over(w Wire) *Engine { return &Engine{wire: w} }

// state is this package's state of a communicator.
type state struct {
	slots    Slots // nil: there are none
	sequence int32 // number of blocking calls so far, used as their tag
	started  int32 // number of nonblocking and persistent calls so far, used as their tag
	// Of the blocking call in progress; nil before the first one.
	operands *operands
}

// Used returns whether this member has written to its part of the control block. Clean sets that part to zero when no
// member uses it any longer.
func (s *state) Used() bool { return s.slots != nil && s.slots.Used() }

// Clean implements what core/comm calls.
func (s *state) Clean() {
	if s.slots != nil {
		s.slots.Clean()
	}
}

// Leave reports that a communicator is freed. It returns whether C still holds a reference, which it will release by
// Unref. core/comm calls it.
func (s *state) Leave() bool { return s.slots != nil && s.slots.Leave() }

// Release frees this package's state of a communicator; core/comm calls it.
func (s *state) Release() {
	if s.slots != nil {
		s.slots.Close()
	}
}

// state returns the state of a communicator and creates it if necessary. It panics like room if there is no memory.
func (e *Engine) state(c *comm.Comm) *state {
	if s, ok := c.Coll.(*state); ok {
		return s
	}
	s := &state{}
	if OpenSlots != nil && (c.Block != nil || c.Hierarchy != nil) {
		n, _ := c.Sharers()
		h := SlotsHost{Comm: c, Peers: make([]int32, n)}
		for i := range h.Peers {
			h.Peers[i] = c.Group().World(c.Sharer(i))
		}
		if c.Block != nil {
			from := comm.CollOffset(n)
			h.Block = c.Block[from : from+comm.CollSize(n)]
		}
		var err error
		if s.slots, err = OpenSlots(h); err != nil {
			panic(noRoom{err})
		}
	}
	c.Coll = s
	return s
}

// Slots returns the slots of a communicator, nil if it has none. MPI_ERR_NO_MEM.
func (e *Engine) Slots(c *comm.Comm) (s Slots, err error) {
	defer orNoRoom(&err)
	return e.state(c).slots, nil
}

// tag returns the tag of the n-th call.
func tag(n int32) int32 { return n & p2p.TagUB }

// blocking returns an empty schedule for a blocking call on c.
func (e *Engine) blocking(c *comm.Comm) *schedule {
	s := e.state(c)
	s.sequence++
	made := e.schedule(c, comm.Collective, tag(s.sequence))
	made.rooms = new(rooms)
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

// run executes a schedule of a blocking call to its end. Other calls may then reuse its memory, unless there was an
// error: messages may still be in flight for which no thread waits.
func (e *Engine) run(s *schedule, c *comm.Comm) (err error) {
	if e.wire != nil {
		err = s.overWire(e.wire)
	} else {
		err = e.msg.Run(s.plan(c), c)
	}
	if err == nil && s.rooms != nil {
		s.rooms.end()
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
		case stepSend, stepPass:
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
