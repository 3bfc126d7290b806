package coll

import (
	"cmp"

	"gompirma/core/comm"
	"gompirma/core/p2p"
)

// schedule is a collective call as a list of steps. plan converts it to the form that C runs.
type schedule struct {
	steps []step
	// True if the members may have passed different lengths. The pattern of messages then must not depend on
	// lengths.
	fixed      bool
	allocBytes int
	// Pooled memory for alloc, in a blocking call. If nil, alloc allocates memory that lives as long as the
	// schedule.
	buffers *callBuffers
	local   view
	remote  view // the remote group of an intercommunicator; its rank is -1
}

// link carries a schedule's messages. It is a *channel, or a replacement in tests.
type link any

// channel identifies the messages of one call on a communicator. Their tag is the number of the call, so they never
// match messages of another call. Messages from one source match in the order of sending.
type channel struct {
	c     *comm.Comm
	x     comm.Context
	tag   int32
	ranks []int32 // rank of each process of the schedule, by its index; nil if the index is the rank
}

type stepKind uint8

const (
	stepSend stepKind = iota
	stepForward
	stepRecv
	stepWait
	stepCopy    // dst = buf
	stepCombine // dst = buf op dst
	stepDo
)

type step struct {
	kind        stepKind
	skipOnError bool // the step is not executed if the call has an error
	peer        int
	via         link
	buf         []byte
	dst         []byte
	red         *reducer
	do          func() error
}

// view is a group of processes as this process sees it while it builds a schedule. A view has the link to the other
// processes, the rank of this process in the group, and the size of the group.
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

// send adds a step that starts sending b. The steps of send, forward and recv only start a message. The step of wait
// completes all messages that have been started.
func (v view) send(to int, b []byte) {
	v.steps = append(v.steps, step{kind: stepSend, peer: to, via: v.link, buf: b})
}

// forward adds a step that sends b, which contains received data. If the received data had a wrong length, the step
// sends one byte more or less than len(b). So every process that receives a part of the data detects the error.
func (v view) forward(to int, b []byte) {
	v.steps = append(v.steps, step{kind: stepForward, peer: to, via: v.link, buf: b})
}

// recv adds a step that starts receiving exactly len(b) bytes. If a different number of bytes arrives, the call
// continues, since other processes wait for messages of this process. The call then returns an error at its end.
func (v view) recv(from int, b []byte) {
	v.steps = append(v.steps, step{kind: stepRecv, peer: from, via: v.link, buf: b})
}

// do adds f as a local step. `f` runs when all steps before it have been started. If `f` needs received data, the
// caller must call wait before do.
func (s *schedule) do(f func() error) { s.steps = append(s.steps, step{kind: stepDo, do: f}) }

// finish adds local steps to the end of the schedule. They run after all messages have completed, and only if the call
// has no error.
func (s *schedule) finish(fs ...func() error) {
	if len(fs) > 0 {
		s.wait()
	}
	for _, f := range fs {
		s.steps = append(s.steps, step{kind: stepDo, skipOnError: true, do: f})
	}
}

// combine adds a local step that sets inout = in op inout.
func (s *schedule) combine(r *reducer, in, inout []byte) {
	if len(in) > 0 {
		s.steps = append(s.steps, step{kind: stepCombine, skipOnError: r.callsUser(), red: r, buf: in,
			dst: inout})
	}
}

// copy adds a step that copies src to dst, unless they are the same bytes.
func (s *schedule) copy(dst, src []byte) {
	if len(src) == 0 || len(dst) == 0 || &dst[0] == &src[0] {
		return
	}
	s.steps = append(s.steps, step{kind: stepCopy, buf: src, dst: dst})
}

// alloc allocates memory for the schedule.
func (s *schedule) alloc(n int) []byte {
	s.allocBytes += n
	if s.buffers != nil {
		return s.buffers.alloc(n)
	}
	return alloc(n)
}

// wait ends a round: the following steps run when all messages started so far have completed.
func (s *schedule) wait() {
	if n := len(s.steps); n > 0 && s.steps[n-1].kind != stepWait {
		s.steps = append(s.steps, step{kind: stepWait})
	}
}

// local executes a step that is neither a message nor a wait.
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
	p := &p2p.Plan{Steps: make([]p2p.Step, len(s.steps)), KeepAlive: s.steps}
	p.Comm, p.Source, p.GoBytes = cmp.Or(c.Handle, c.Outer), int32(c.Rank()), s.allocBytes
	p.Context[0] = c.Context(comm.Collective) // used if the schedule has no messages
	does := func(t *p2p.Step, f func() error) {
		t.Kind, t.Bytes = p2p.StepCallGo, int64(len(p.Funcs))
		p.Funcs = append(p.Funcs, f)
	}
	for i := range s.steps {
		st, t := &s.steps[i], &p.Steps[i]
		*t = p2p.Step{SkipOnError: st.skipOnError, From: address(st.buf), To: address(st.dst),
			Bytes: int64(len(st.buf))}
		switch st.kind {
		case stepSend, stepForward, stepRecv:
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
			t.Process, t.To = l.c.Peers().World(int(t.Peer)), t.From
		case stepWait:
			t.Kind = p2p.StepWait
		case stepCopy:
			t.Kind, t.Bytes = p2p.StepCopy, int64(min(len(st.buf), len(st.dst)))
		case stepCombine:
			t.Kind = p2p.StepReduce
			if st.red.callsUser() {
				t.CallsUser = true
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
