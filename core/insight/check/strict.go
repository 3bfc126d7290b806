package check

import (
	"slices"

	"gompirma/core/abi"
)

// This file finds sends that complete only because MPI buffers them: --check=strict.
//
// The checker replays the steps of the threads as if no message were buffered. The steps of each thread keep their
// order, but a standard send ends only when its receive has been posted in the replay. A step that cannot be replayed
// yet blocks the later steps of its thread. Threads that block each other in a cycle would deadlock without buffering.
//
// Only steps that must occur in this order in every run can block. So a step does not block if a receive matches
// messages from any source, or if a rank has several threads. It does not block either if the order depends on a test,
// or on which of several requests completes first.

// step is one step of a thread. Exactly one of the fields is set.
type step struct {
	beginSend *send           // starts a send
	endSend   *send           // completes a standard send
	post      *receive        // posts a receive
	received  *receive        // completes a receive
	enter     *collectiveCall // enters a collective
	leave     *collectiveCall // leaves a collective, with its result
}

// replay holds the steps of a thread that have not been replayed yet.
type replay struct {
	rank  *rank
	steps []step
}

// maxSteps is the largest number of pending steps of a thread. If a thread has more pending steps, its first step no
// longer blocks.
const maxSteps = 1 << 16

// Strict makes the checker search for sends that complete only because they are buffered.
func (c *Checker) Strict() { c.strict = true }

// addStep appends the next step of a thread, replays the steps that have become possible, and reports cycles.
func (c *Checker) addStep(k *rank, thread int, s step) {
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
	case s.beginSend != nil:
		s.beginSend.replay = p
	case s.post != nil:
		s.post.replay = p
		if s.post.from == abi.MPI_ANY_SOURCE {
			s.post.comm.noteAnySource(k.number)
		}
	case s.enter != nil:
		s.enter.setReplay(k.number, p)
	}
	p.steps = append(p.steps, s)
	c.replayAll(p)
	if s.post == nil || s.post.isReplayed {
		return
	}
	for {
		cycle := p.cycle(nil, map[*replay]bool{})
		if cycle == nil {
			return
		}
		c.reportBuffering(cycle)
		c.replayAll(cycle[0])
	}
}

// noteAnySource records that a rank receives or probes messages from any source.
func (m *comm) noteAnySource(rank int) {
	if m.anySource == nil {
		m.anySource = map[int]bool{}
	}
	m.anySource[rank] = true
}

func (m *collectiveCall) setReplay(rank int, p *replay) {
	if m.replays == nil {
		m.replays, m.isReplayed = map[int]*replay{}, map[int]bool{}
	}
	m.replays[rank] = p
}

// replayAll replays the possible steps of a thread, and then the steps of other threads that have become possible.
func (c *Checker) replayAll(p *replay) {
	if !p.advance() {
		if len(p.steps) > 0 && !slices.Contains(c.blockedReplays, p) {
			c.blockedReplays = append(c.blockedReplays, p)
		}
		return
	}
	for again := true; again; {
		again = false
		c.blockedReplays = slices.DeleteFunc(c.blockedReplays, func(b *replay) bool {
			again = b.advance() || again
			return len(b.steps) == 0
		})
	}
	if len(p.steps) > 0 && !slices.Contains(c.blockedReplays, p) {
		c.blockedReplays = append(c.blockedReplays, p)
	}
}

// advance replays steps up to the first one that is not possible, and reports whether it replayed any.
func (p *replay) advance() bool {
	n := 0
	for ; n < len(p.steps); n++ {
		s := &p.steps[n]
		if _, blocks := s.blockedBy(p.rank); blocks && len(p.steps)-n <= maxSteps {
			break
		}
		switch {
		case s.beginSend != nil:
			s.beginSend.isReplayed = true
		case s.post != nil:
			s.post.isReplayed = true
		case s.enter != nil:
			s.enter.isReplayed[p.rank.number] = true
		}
	}
	p.steps = p.steps[n:]
	if len(p.steps) == 0 {
		p.steps = nil
	}
	return n > 0
}

// blockedBy reports in `waits` whether a step of rank k is not possible yet. The result `others` has the threads that
// the step is known to wait for.
func (s *step) blockedBy(k *rank) (others []*replay, waits bool) {
	switch {
	case s.endSend != nil:
		r := s.endSend.receive
		if s.endSend.isUnblocked || s.endSend.comm.anySource[s.endSend.to] || len(k.replays) > 1 {
			return nil, false
		}
		if r == nil {
			return nil, true
		}
		if r.isReplayed || r.replay == nil || len(r.replay.rank.replays) > 1 {
			return nil, false
		}
		return []*replay{r.replay}, true
	case s.received != nil:
		from := s.received.send
		if from == nil || from.isReplayed || from.replay == nil || s.received.from == abi.MPI_ANY_SOURCE {
			return nil, false
		}
		return []*replay{from.replay}, true
	case s.leave != nil:
		for r, p := range s.leave.replays {
			if !s.leave.isReplayed[r] && s.leave.dependsOn(k.number, r) {
				others = append(others, p)
			}
		}
	}
	return others, len(others) > 0
}

// dependsOn reports whether a rank can leave a collective only after another rank has entered it.
func (m *collectiveCall) dependsOn(rank, other int) bool {
	if !m.waitsExactly {
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

// cycle returns threads that wait for each other in a cycle, which contains p or a thread that p waits for. It returns
// nil if no such cycle exists. Each thread in the argument path waits for the next thread, and the last one waits for
// p. Threads in the argument seen have been visited: they are in path or lead to no cycle.
func (p *replay) cycle(path []*replay, seen map[*replay]bool) []*replay {
	if i := slices.Index(path, p); i >= 0 {
		return path[i:]
	}
	if len(p.steps) == 0 || seen[p] {
		return nil
	}
	seen[p] = true
	others, _ := p.steps[0].blockedBy(p.rank)
	for _, o := range others {
		if found := o.cycle(append(path, p), seen); found != nil {
			return found
		}
	}
	return nil
}

// reportBuffering reports the sends in a cycle, and unblocks them in the replay.
func (c *Checker) reportBuffering(cycle []*replay) {
	var spots []callRole
	var first *send
	for _, p := range cycle {
		s := p.steps[0].endSend
		if s == nil {
			continue
		}
		if first == nil {
			first = s
		}
		s.isUnblocked = true
		if len(spots) < 2 {
			spots = append(spots, callRole{s.site, "completes only because MPI buffers the message"})
		}
	}
	if len(spots) == 1 {
		spots = append(spots, callRole{first.receive.site, "receives the message only after that"})
	}
	c.report(&Finding{Kind: "buffering", Target: first.to, Object: first.comm.name,
		Advice: "Without buffering, these calls would deadlock. Use MPI_Sendrecv or MPI_Isend, or change " +
			"the order of sends and receives."},
		spots...)
}
