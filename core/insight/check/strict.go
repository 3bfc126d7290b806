package check

import (
	"slices"

	"gompirma/core/abi"
)

// Sends that complete only because MPI buffers them: --check=strict.
//
// What the threads have done is repeated as if no message were buffered: each thread's steps in their order, but the
// end of a standard send only when its receive has been posted there. A step that cannot be repeated blocks the later
// ones of its thread. Threads that block each other in a cycle would do so for ever. Only steps whose order the calls
// guarantee wait: where a receive may take a message of any source, a test or one of several requests decides, or a
// rank has several threads, another run may do something else, and nothing waits.

// step is what a thread does next; one of these is set.
type step struct {
	begin    *send    // it begins to send
	end      *send    // a standard send is complete
	post     *receive // it posts a receive
	received *receive // which is complete
	enter    *meeting // it takes part in a collective
	leave    *meeting // of which it has the result
}

// replay is what a thread has done and could not be repeated yet.
type replay struct {
	rank  *rank
	steps []step
}

// mostSteps is how many steps of a thread wait at most; then the first of them is taken for possible.
const mostSteps = 1 << 16

// Strict has the checker look for sends that complete only because they are buffered.
func (c *Checker) Strict() { c.strict = true }

// strictly notes the next step of a thread.
func (c *Checker) strictly(k *rank, thread int, s step) {
	if !c.strict {
		return
	}
	if k.replays == nil {
		k.replays = map[int]*replay{}
	}
	p := k.replays[thread]
	if p == nil {
		p = &replay{rank: k}
		k.replays[thread] = p
	}
	switch {
	case s.begin != nil:
		s.begin.replay = p
	case s.post != nil:
		s.post.replay = p
		if s.post.from == abi.MPI_ANY_SOURCE {
			s.post.comm.takesAny(k.number)
		}
	case s.enter != nil:
		s.enter.replay(k.number, p)
	}
	p.steps = append(p.steps, s)
	c.replayAll(p)
	if s.post == nil || s.post.posted {
		return
	}
	for {
		cycle := p.cycle(nil, map[*replay]bool{})
		if cycle == nil {
			return
		}
		c.buffered(cycle)
		c.replayAll(cycle[0])
	}
}

// takesAny notes that a rank receives, or probes for, messages of any source.
func (m *comm) takesAny(rank int) {
	if m.anySource == nil {
		m.anySource = map[int]bool{}
	}
	m.anySource[rank] = true
}

func (m *meeting) replay(rank int, p *replay) {
	if m.replays == nil {
		m.replays, m.repeated = map[int]*replay{}, map[int]bool{}
	}
	m.replays[rank] = p
}

// replayAll repeats the steps of a thread that are possible, and those of others that this makes possible.
func (c *Checker) replayAll(p *replay) {
	if !p.advance() {
		if len(p.steps) > 0 && !slices.Contains(c.blocked, p) {
			c.blocked = append(c.blocked, p)
		}
		return
	}
	for again := true; again; {
		again = false
		c.blocked = slices.DeleteFunc(c.blocked, func(b *replay) bool {
			again = b.advance() || again
			return len(b.steps) == 0
		})
	}
	if len(p.steps) > 0 && !slices.Contains(c.blocked, p) {
		c.blocked = append(c.blocked, p)
	}
}

// advance repeats steps up to the first that is not possible, and reports whether there was one.
func (p *replay) advance() bool {
	n := 0
	for ; n < len(p.steps); n++ {
		s := &p.steps[n]
		if _, blocks := s.waits(p.rank); blocks && len(p.steps)-n <= mostSteps {
			break
		}
		switch {
		case s.begin != nil:
			s.begin.begun = true
		case s.post != nil:
			s.post.posted = true
		case s.enter != nil:
			s.enter.repeated[p.rank.number] = true
		}
	}
	p.steps = p.steps[n:]
	if len(p.steps) == 0 {
		p.steps = nil
	}
	return n > 0
}

// waits reports whether a step of a rank is not possible yet, and for which threads it waits, as far as that is known.
func (s *step) waits(k *rank) (others []*replay, waits bool) {
	switch {
	case s.end != nil:
		r := s.end.receive
		if s.end.free || s.end.comm.anySource[s.end.to] || len(k.replays) > 1 {
			return nil, false
		}
		if r == nil {
			return nil, true
		}
		if r.posted || r.replay == nil || len(r.replay.rank.replays) > 1 {
			return nil, false
		}
		return []*replay{r.replay}, true
	case s.received != nil:
		from := s.received.send
		if from == nil || from.begun || from.replay == nil || s.received.from == abi.MPI_ANY_SOURCE {
			return nil, false
		}
		return []*replay{from.replay}, true
	case s.leave != nil:
		for r, p := range s.leave.replays {
			if !s.leave.repeated[r] && s.leave.needs(k.number, r) {
				others = append(others, p)
			}
		}
	}
	return others, len(others) > 0
}

// needs reports whether a rank that has the result of a collective comes after another one has begun it.
func (m *meeting) needs(rank, other int) bool {
	if !m.exact {
		return false
	}
	switch m.flow {
	case fromAll:
		return true
	case fromRoot:
		return other == m.root
	case toRoot:
		return rank == m.root
	case fromLower:
		return slices.Index(m.comm.members, other) < slices.Index(m.comm.members, rank)
	}
	return false
}

// cycle returns threads of which each waits for the next one and the last for the first, nil: there are none. path are
// those that wait for this one; seen are in no cycle, or on the path.
func (p *replay) cycle(path []*replay, seen map[*replay]bool) []*replay {
	if i := slices.Index(path, p); i >= 0 {
		return path[i:]
	}
	if len(p.steps) == 0 || seen[p] {
		return nil
	}
	seen[p] = true
	others, _ := p.steps[0].waits(p.rank)
	for _, o := range others {
		if found := o.cycle(append(path, p), seen); found != nil {
			return found
		}
	}
	return nil
}

// buffered tells of a cycle, and has it go on.
func (c *Checker) buffered(cycle []*replay) {
	var spots []spot
	var first *send
	for _, p := range cycle {
		s := p.steps[0].end
		if s == nil {
			continue
		}
		if first == nil {
			first = s
		}
		s.free = true
		if len(spots) < 2 {
			spots = append(spots, spot{s.site, "is complete only because the message is buffered"})
		}
	}
	if len(spots) == 1 {
		spots = append(spots, spot{first.receive.site, "receives the message, but not before that"})
	}
	c.tell(&Finding{Kind: "buffering", Target: first.to, Object: first.comm.name,
		Advice: "a send that waits for its receive would never end here: use MPI_Sendrecv, MPI_Isend, " +
			"or another order"},
		spots...)
}
