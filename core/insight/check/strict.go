package check

import (
	"slices"

	"gompirma/core/abi"
)

// This file finds sends that complete only because MPI buffers them: --check=strict.
//
// The checker replays the steps of the threads as if no message were buffered. Each thread's steps keep their order,
// but a standard send ends only when its receive has been posted in the replay. A step that cannot be replayed blocks
// the later steps of its thread. Threads that block each other in a cycle would deadlock without buffering. Only steps
// whose order the calls guarantee can block. Another run may behave differently if a receive may take a message from
// any source, a test or one of several requests decides, or a rank has several threads. In these cases no step blocks.

// step is one step of a thread. Exactly one of the fields is set.
type step struct {
	begin    *send    // starts a send
	end      *send    // completes a standard send
	post     *receive // posts a receive
	received *receive // completes a receive
	enter    *meeting // enters a collective
	leave    *meeting // has the result of a collective
}

// replay holds the steps of a thread that could not be replayed yet.
type replay struct {
	rank  *rank
	steps []step
}

// mostSteps is the largest number of pending steps of a thread. Beyond it the first of them counts as possible.
const mostSteps = 1 << 16

// Strict makes the checker search for sends that complete only because they are buffered.
func (c *Checker) Strict() { c.strict = true }

// strictly appends the next step of a thread, and replays the steps that are possible.
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

// takesAny records that a rank receives or probes messages from any source.
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

// replayAll replays the possible steps of a thread, and the steps of other threads that this makes possible.
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

// advance replays steps up to the first impossible one, and reports whether it replayed any.
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

// waits reports whether a step of a rank is not possible yet, and returns the known threads that it waits for.
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

// needs reports whether a rank that has the result of a collective is ordered after another rank's entry.
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

// cycle returns threads that wait for each other in a cycle; nil if there are none. The threads in path wait for p,
// directly or through others. Threads in seen are in no cycle, or on the path.
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

// buffered reports a cycle, and unblocks it.
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
			spots = append(spots, spot{s.site, "completes only because MPI buffers the message"})
		}
	}
	if len(spots) == 1 {
		spots = append(spots, spot{first.receive.site, "receives the message only after that"})
	}
	c.tell(&Finding{Kind: "buffering", Target: first.to, Object: first.comm.name,
		Advice: "Without buffering, these calls would deadlock. Use MPI_Sendrecv or MPI_Isend, or change " +
			"the order of sends and receives."},
		spots...)
}
