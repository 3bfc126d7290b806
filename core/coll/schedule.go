package coll

import (
	"gompirma/core/comm"
	"gompirma/core/p2p"
)

// schedule is a collective call as a list of steps; plan is that list for C, which runs it.
type schedule struct {
	steps []step
	// the members may have passed different lengths, so who sends to whom must not follow from them
	fixed  bool
	own    int    // bytes of memory that it needs for itself
	rooms  *rooms // where that comes from, of a blocking call; nil: it is the schedule's for good
	local  view
	remote view // the remote group of an intercommunicator; its rank is -1
}

// link is where messages of a schedule go: *channel, or what tests have instead.
type link any

// channel is the messages of one call on a communicator: they carry the call's number as their tag, match by source, in
// the order they were sent, and never meet those of another call.
type channel struct {
	c     *comm.Comm
	x     comm.Context
	tag   int32
	ranks []int32 // of those that a schedule knows by numbers; nil: the numbers are ranks
}

type stepKind uint8

const (
	stepSend stepKind = iota
	stepPass
	stepRecv
	stepWait
	stepCopy    // dst gets buf
	stepCombine // dst = buf op dst
	stepDo
)

type step struct {
	kind  stepKind
	right bool // left out if something is wrong
	peer  int
	via   link
	buf   []byte
	dst   []byte
	red   *reducer
	do    func() error
}

// view is a group of processes as a schedule's builder sees it: its own place in it, and how to reach the others.
type view struct {
	*schedule
	link       link
	rank, size int
}

func newSchedule(l link, rank, size int) *schedule {
	s := &schedule{}
	s.local = view{s, l, rank, size}
	return s
}

// send adds a step that starts sending b. Sends and receives are only started by their step; a barrier between rounds
// is a step of its own.
func (v view) send(to int, b []byte) {
	v.steps = append(v.steps, step{kind: stepSend, peer: to, via: v.link, buf: b})
}

// pass adds a step that sends b, which came from others or was made of what did. If that had a wrong length, b gets one
// too: one byte more or less, so that everybody who gets a part of it is told.
func (v view) pass(to int, b []byte) {
	v.steps = append(v.steps, step{kind: stepPass, peer: to, via: v.link, buf: b})
}

// recv adds a step that starts receiving exactly len(b) bytes. If another number arrives the call goes on, since others
// wait for what this process sends and receives, and ends with an error.
func (v view) recv(from int, b []byte) {
	v.steps = append(v.steps, step{kind: stepRecv, peer: from, via: v.link, buf: b})
}

// do adds a local step. It runs when everything before it has been started; put wait before it if it needs what
// arrives.
func (s *schedule) do(f func() error) { s.steps = append(s.steps, step{kind: stepDo, do: f}) }

// finish adds local steps for the end of the call, which are left out if something is wrong.
func (s *schedule) finish(fs ...func() error) {
	if len(fs) > 0 {
		s.wait()
	}
	for _, f := range fs {
		s.steps = append(s.steps, step{kind: stepDo, right: true, do: f})
	}
}

// combine adds a local step that does inout = in op inout.
func (s *schedule) combine(r *reducer, in, inout []byte) {
	if len(in) > 0 {
		s.steps = append(s.steps, step{kind: stepCombine, right: r.asks(), red: r, buf: in, dst: inout})
	}
}

// copy adds a step that copies src to dst; none if they are the same bytes.
func (s *schedule) copy(dst, src []byte) {
	if len(src) == 0 || len(dst) == 0 || &dst[0] == &src[0] {
		return
	}
	s.steps = append(s.steps, step{kind: stepCopy, buf: src, dst: dst})
}

// room returns memory of the schedule's own.
func (s *schedule) room(n int) []byte {
	s.own += n
	if s.rooms != nil {
		return s.rooms.room(n)
	}
	return room(n)
}

// wait ends a round: the steps behind it run when all messages started so far are done.
func (s *schedule) wait() {
	if n := len(s.steps); n > 0 && s.steps[n-1].kind != stepWait {
		s.steps = append(s.steps, step{kind: stepWait})
	}
}

// local does a step without messages.
func (st *step) local() error {
	switch st.kind {
	case stepCopy:
		copy(st.dst, st.buf)
	case stepCombine:
		return st.red.combine(st.buf, st.dst)
	case stepDo:
		return st.do()
	}
	return nil
}

// plan returns the schedule of a call on c as a plan.
func (s *schedule) plan(c *comm.Comm) *p2p.Plan {
	p := &p2p.Plan{Steps: make([]p2p.Step, len(s.steps)), Keep: s.steps}
	p.Comm, p.Source, p.Own = c.Handle, int32(c.Rank()), s.own
	p.Context[0] = c.Context(comm.Collective) // if nothing is sent
	does := func(t *p2p.Step, f func() error) {
		t.Kind, t.Bytes = p2p.StepGo, int64(len(p.Go))
		p.Go = append(p.Go, f)
	}
	for i := range s.steps {
		st, t := &s.steps[i], &p.Steps[i]
		*t = p2p.Step{Right: st.right, From: address(st.buf), To: address(st.dst),
			Bytes: int64(len(st.buf))}
		switch st.kind {
		case stepSend, stepPass, stepRecv:
			t.Kind = p2p.StepSend + p2p.StepKind(st.kind-stepSend)
			l := st.via.(*channel)
			if c.IsInter() && l.c == c {
				t.Via = 1
			}
			p.Context[t.Via], p.Tag = l.c.Context(l.x), l.tag
			t.Peer = int32(st.peer)
			if l.ranks != nil {
				t.Peer = l.ranks[st.peer]
			}
			t.World, t.To = l.c.Peers().World(int(t.Peer)), t.From
		case stepWait:
			t.Kind = p2p.StepWait
		case stepCopy:
			t.Kind, t.Bytes = p2p.StepCopy, int64(min(len(st.buf), len(st.dst)))
		case stepCombine:
			t.Kind = p2p.StepCombine
			if st.red.asks() {
				t.Asks = true
				does(t, func() error { return st.red.combine(st.buf, st.dst) })
			} else {
				p.Op, p.Datatype, p.Element = st.red.op.Handle(), st.red.typ.Basic().Handle, st.red.size
			}
		case stepDo:
			does(t, st.do)
		}
	}
	return p
}
