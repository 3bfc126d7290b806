package coll

import (
	"sync/atomic"

	"golang.org/x/sys/unix"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
	"gompirma/core/p2p"
	"gompirma/core/request"
	"gompirma/core/shm"
)

// Engine is the collectives of one process. Safe for concurrent use, as far as the standard lets threads call
// collectives: those on one communicator one after another.
type Engine struct {
	msg   *p2p.Engine
	wire  Wire         // instead, if it is not nil
	agent atomic.Int32 // system's id of the agent's thread
}

// New returns the collectives that go over the messages of msg.
func New(msg *p2p.Engine) *Engine {
	e := &Engine{msg: msg}
	msg.Collectives = e
	return e
}

// Wire carries what collectives send, for processes that are pretended: one process of a job that has no others. Both
// functions return when they are done with b.
type Wire interface {
	Send(c *comm.Comm, to int, b []byte) error
	Recv(c *comm.Comm, from int, b []byte) error
}

// Over returns collectives that go over a wire, blocking ones only.
func Over(w Wire) *Engine { return &Engine{wire: w} }

// AgentThread tells that the calling thread is the process' agent. It calls no function of the application: those were
// written for the threads that the application knows of, and often for one of them only.
func (e *Engine) AgentThread() { e.agent.Store(int32(unix.Gettid())) }

// onAgent returns whether the calling thread is the agent.
func (e *Engine) onAgent() bool { return e.agent.Load() == int32(unix.Gettid()) }

// state is what this package keeps with a communicator.
type state struct {
	slots    Slots // nil: there are none
	sequence int32 // blocking calls so far, their tag
	started  int32 // nonblocking and persistent calls so far, their tag
	// of the blocking call under way; nil: there has not been one
	operands *operands
}

// Used returns whether this member has used its part of the control block, which Clean makes zero again when no member
// uses it any longer.
func (s *state) Used() bool { return s.slots != nil && s.slots.Used() }

// Clean implements what core/comm asks for.
func (s *state) Clean() {
	if s.slots != nil {
		s.slots.Clean()
	}
}

// Leave tells that a communicator is freed, and returns whether something holds a reference that it will end by Unref;
// core/comm calls it.
func (s *state) Leave() bool { return s.slots != nil && s.slots.Leave() }

// Release ends what a communicator has had here; core/comm calls it.
func (s *state) Release() {
	if s.slots != nil {
		s.slots.Close()
	}
}

func (e *Engine) state(c *comm.Comm) *state {
	if s, ok := c.Coll.(*state); ok {
		return s
	}
	s := &state{}
	if OpenSlots != nil && (c.Block != nil || c.Span != nil) {
		n, _ := c.Sharers()
		h := SlotsHost{Comm: c, Peers: make([]int32, n)}
		for i := range h.Peers {
			h.Peers[i] = c.Group().World(c.Sharer(i))
		}
		if c.Block != nil {
			from := comm.CollOffset(n)
			h.Block = c.Block[from : from+comm.CollSize(n)]
		}
		s.slots = OpenSlots(h)
	}
	c.Coll = s
	return s
}

// Slots returns the slots of a communicator, nil if it has none.
func (e *Engine) Slots(c *comm.Comm) Slots { return e.state(c).slots }

// channel is the link of one call: its messages carry the call's number as their tag.
type channel struct {
	e    *p2p.Engine
	c    *comm.Comm
	x    comm.Context
	tag  int32
	mode p2p.Mode
}

func (l *channel) send(to int, b []byte) (pending, error) {
	r, err := l.e.Isend(l.c, l.x, p2p.Bytes(b), to, l.tag, l.mode)
	if err != nil || r == request.Completed {
		return nil, err
	}
	return &transfer{r: r, size: -1}, nil
}

func (l *channel) recv(from int, b []byte) (pending, error) {
	r, err := l.e.Irecv(l.c, l.x, p2p.Bytes(b), from, l.tag)
	if err != nil {
		return nil, err
	}
	return &transfer{r: r, size: int64(len(b))}, nil
}

// wired is the link of one call over a wire.
type wired struct {
	wire Wire
	c    *comm.Comm
}

func (l wired) send(to int, b []byte) (pending, error)   { return nil, l.wire.Send(l.c, to, b) }
func (l wired) recv(from int, b []byte) (pending, error) { return nil, l.wire.Recv(l.c, from, b) }

// link returns the link of one call on c.
func (e *Engine) link(c *comm.Comm, x comm.Context, tag int32, mode p2p.Mode) link {
	if e.wire != nil {
		return wired{e.wire, c}
	}
	return &channel{e.msg, c, x, tag, mode}
}

// transfer is a message under way.
type transfer struct {
	r    *request.Request
	size int64 // bytes to receive, -1 for a send
}

func (t *transfer) poll() (bool, error) {
	if !t.r.IsComplete() {
		return false, nil
	}
	var st request.Status
	if _, err := t.r.Finish(&st); err != nil {
		return true, err
	}
	if t.size >= 0 && st.Bytes != t.size {
		return true, mpierr.New(abi.MPI_ERR_COUNT, "rank %d contributed %d bytes where %d were expected",
			st.Source, st.Bytes, t.size)
	}
	return true, nil
}

// cancel takes a receive back that has not been matched, so that nothing comes into its buffer later.
func (t *transfer) cancel() {
	if t.size >= 0 && !t.r.IsComplete() {
		t.r.Op.Cancel()
	}
}

// tag returns the tag that the n-th call uses.
func tag(n int32) int32 { return n & p2p.TagUB }

// blocking returns an empty schedule for a blocking call on c.
func (e *Engine) blocking(c *comm.Comm) *schedule {
	s := e.state(c)
	s.sequence++
	return e.schedule(c, comm.Collective, tag(s.sequence), p2p.Standard)
}

func (e *Engine) schedule(c *comm.Comm, x comm.Context, tag int32, mode p2p.Mode) *schedule {
	if !c.IsInter() {
		s := newSchedule(e.link(c, x, tag, mode), c.Rank(), c.Size())
		s.foreign = e.onAgent
		return s
	}
	s := newSchedule(e.link(c.Local, x, tag, mode), c.Rank(), c.Size())
	s.remote = view{s, e.link(c, x, tag, mode), -1, c.RemoteSize()}
	s.foreign = e.onAgent
	return s
}

// run does a schedule of a blocking call to its end.
func (e *Engine) run(s *schedule, c *comm.Comm) error {
	done, err := s.poll()
	if done {
		return err
	}
	what := shm.Waiting{Peer: -1, Object: uint64(c.Handle)}
	if waited := e.msg.AwaitFor(func() bool { done, err = s.poll(); return done }, what); waited != nil {
		s.abandon(waited)
		return waited
	}
	return err
}
