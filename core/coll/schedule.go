package coll

import (
	"sync"
	"sync/atomic"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// link carries the messages of one collective call: they match by source, in the order they were sent, and never meet
// those of another call. The bytes belong to the link until the pending it returned is done.
type link interface {
	send(to int, b []byte) (pending, error)
	recv(from int, b []byte) (pending, error)
}

// pending is a message under way; poll does not block and is not called again after it returned true. cancel gives it
// up.
type pending interface {
	poll() (done bool, err error)
	cancel()
}

// schedule is a collective call as a list of steps. Sends and receives are only started by their step; a barrier
// between rounds is a step of its own. Any thread may advance it with poll.
type schedule struct {
	steps  []step
	finish []func() error // after the last step: unpack what arrived
	// the members may have passed different lengths, so who sends to whom must not follow from them
	fixed  bool
	local  view
	remote view // the remote group of an intercommunicator; its rank is -1

	missed  atomic.Bool // a thread wanted to poll while another one did
	stalled atomic.Bool // the next step is not for the thread that polled last
	foreign func() bool // whether the calling thread must not call the application's functions

	mu      sync.Mutex
	next    int
	waiting []pending
	over    bool
	err     error // until over: that a member has passed another length
}

type stepKind uint8

const (
	stepSend stepKind = iota
	stepPass
	stepRecv
	stepCopy    // dst gets buf
	stepCombine // dst = buf op dst
	stepDo
	stepCall // stepDo that calls a function of the application
	stepWait
)

type step struct {
	kind stepKind
	peer int
	via  link
	buf  []byte
	dst  []byte
	red  *reducer
	do   func() error
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

// send adds a step that starts sending b.
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

// combine adds a local step that does inout = in op inout.
func (s *schedule) combine(r *reducer, in, inout []byte) {
	s.steps = append(s.steps, step{kind: stepCombine, red: r, buf: in, dst: inout})
}

// reducing adds a local step that uses r.
func (s *schedule) reducing(r *reducer, f func() error) {
	kind := stepDo
	if r.asks() {
		kind = stepCall
	}
	s.steps = append(s.steps, step{kind: kind, do: f})
}

// copy adds a step that copies src to dst; none if they are the same bytes.
func (s *schedule) copy(dst, src []byte) {
	if len(src) == 0 || len(dst) == 0 || &dst[0] == &src[0] {
		return
	}
	s.steps = append(s.steps, step{kind: stepCopy, buf: src, dst: dst})
}

// wait ends a round: the steps behind it run when all messages started so far are done.
func (s *schedule) wait() {
	if n := len(s.steps); n > 0 && s.steps[n-1].kind != stepWait {
		s.steps = append(s.steps, step{kind: stepWait})
	}
}

// poll goes on as far as possible without blocking and returns whether the call is complete. If another thread is at
// it, that one does this thread's part.
func (s *schedule) poll() (bool, error) {
	for {
		if !s.mu.TryLock() {
			// Whoever has the lock looks at missed after giving it away. If that was before it was set, the
			// lock is free now.
			s.missed.Store(true)
			if !s.mu.TryLock() {
				return false, nil
			}
		}
		done, err := s.pollLocked()
		s.mu.Unlock()
		if done || !s.missed.Load() || !s.missed.Swap(false) {
			return done, err
		}
	}
}

func (s *schedule) pollLocked() (bool, error) {
	if s.over {
		return true, s.err
	}
	for {
		if err := s.reapLocked(); err != nil {
			return s.endLocked(err)
		}
		if s.next == len(s.steps) {
			if len(s.waiting) > 0 {
				return false, nil
			}
			if s.err != nil {
				return s.endLocked(s.err)
			}
			for _, f := range s.finish {
				if err := f(); err != nil {
					return s.endLocked(err)
				}
			}
			return s.endLocked(nil)
		}
		st := &s.steps[s.next]
		if st.kind == stepWait && len(s.waiting) > 0 {
			return false, nil
		}
		calls := st.kind == stepCall || st.kind == stepCombine && st.red.asks()
		if calls && s.foreign != nil && s.foreign() {
			s.stalled.Store(true)
			return false, nil
		}
		s.stalled.Store(false)
		s.next++
		if calls && s.err != nil {
			continue // not on the wrong number of elements
		}
		if err := s.startLocked(st); err != nil {
			return s.endLocked(err)
		}
	}
}

func (s *schedule) startLocked(st *step) error {
	var p pending
	var err error
	switch st.kind {
	case stepSend:
		p, err = st.via.send(st.peer, st.buf)
	case stepPass:
		p, err = st.via.send(st.peer, s.markedLocked(st.buf))
	case stepRecv:
		p, err = st.via.recv(st.peer, st.buf)
	case stepCopy:
		copy(st.dst, st.buf)
	case stepCombine:
		return st.red.combine(st.buf, st.dst)
	case stepDo, stepCall:
		return st.do()
	}
	if err == nil && p != nil {
		s.waiting = append(s.waiting, p)
	}
	return err
}

// markedLocked returns b, with another length if this process knows of a wrong one.
func (s *schedule) markedLocked(b []byte) []byte {
	switch {
	case s.err == nil:
	case mpierr.ClassOf(s.err) == abi.MPI_ERR_TRUNCATE:
		return make([]byte, len(b)+1)
	case len(b) > 0:
		return b[:len(b)-1]
	}
	return b
}

// reapLocked drops the messages that are done. Wrong lengths are remembered, other errors returned.
func (s *schedule) reapLocked() error {
	left := s.waiting[:0]
	var first error
	for _, p := range s.waiting {
		done, err := p.poll()
		switch {
		case err == nil:
		case wrongLength(err):
			if s.err == nil {
				s.err = err
			}
		case first == nil:
			first = err
		}
		if !done {
			left = append(left, p)
		}
	}
	clear(s.waiting[len(left):])
	s.waiting = left
	return first
}

// wrongLength returns whether an error means that a message had another length than expected; it has been received all
// the same.
func wrongLength(err error) bool {
	class := mpierr.ClassOf(err)
	return class == abi.MPI_ERR_TRUNCATE || class == abi.MPI_ERR_COUNT
}

// abandon ends the call with an error.
func (s *schedule) abandon(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.endLocked(err)
	}
}

// endLocked forgets every buffer: the application may free them from now on.
func (s *schedule) endLocked(err error) (bool, error) {
	for _, p := range s.waiting {
		p.cancel()
	}
	s.over, s.err = true, err
	s.steps, s.finish, s.waiting = nil, nil, nil
	return true, err
}
