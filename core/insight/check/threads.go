package check

import (
	"maps"

	"gompirma/core/insight"
)

// strand is a totally ordered part of a rank's actions: those of one thread, or of a task that runs in a thread. Clocks
// identify it by a number that is unique in the job.
type strand struct {
	number int
	clock  vector // valid while another strand runs
	round  int    // round of clocks in which it ran last
}

// fork is a moment of a strand after which other strands may start.
type fork struct {
	clock vector
	round int
}

// threads holds the strands of a rank. A thread of which neither the start nor its task is known belongs to the first
// strand. Its calls have the order in which they were recorded in this run.
type threads struct {
	first   *strand
	running *strand           // strand of the current record; its clock is the rank's
	inside  map[int][]*strand // by thread, the strands that it has entered and not left
	objects map[uint64]vector // clocks that the acquirer of an object is ordered after
	forks   map[uint64]fork   // moments that a strand that enters an object is ordered after
	over    []moment          // the last moments of strands that have ended
	round   int
}

// turn switches the rank to the strand of a thread.
func (k *rank) turn(thread int) {
	if k.inside == nil {
		return
	}
	s := k.first
	if all := k.inside[thread]; len(all) > 0 {
		s = all[len(all)-1]
	}
	if s != k.running {
		k.running.clock, k.clock, k.running = k.clock, s.clock, s
	}
	s.round = k.round
}

// orders processes the events that order a thread with others.
func (c *Checker) orders(k *rank, r *insight.Record) {
	if k.inside == nil {
		k.inside, k.objects, k.forks = map[int][]*strand{}, map[uint64]vector{}, map[uint64]fork{}
	}
	for _, e := range r.Events {
		switch e.What {
		case insight.Release:
			k.releases(e.Object)
		case insight.Acquire:
			k.clock.join(k.objects[e.Object])
		case insight.Fork:
			k.forks[e.Object] = fork{k.clock.clone(), k.round}
		case insight.Enter:
			k.inside[r.Thread] = append(k.inside[r.Thread], c.strand(k, k.forks[e.Object].clock))
			k.turn(r.Thread)
		case insight.Leave:
			k.releases(e.Object)
			if all := k.inside[r.Thread]; len(all) > 1 {
				k.inside[r.Thread] = all[:len(all)-1]
			} else {
				delete(k.inside, r.Thread)
			}
			k.over = append(k.over, k.now())
			for _, w := range k.wins {
				delete(w.elsewhere, k.running.number)
			}
			k.turn(r.Thread)
		case insight.Drop:
			delete(k.forks, e.Object)
		case insight.Free:
			k.space.free(span{e.Object, e.Object + e.Size})
		}
	}
}

// manyObjects is the number of objects from which on a rank checks which of them it can drop.
const manyObjects = 256

// forgetObjects drops objects whose acquisition orders nothing, since all strands are already ordered after their
// releases.
func (k *rank) forgetObjects() {
	if len(k.objects) < manyObjects {
		return
	}
	k.running.clock = k.clock
	all := k.first.clock.clone()
	meet := func(v vector) {
		all = all[:min(len(all), len(v))]
		for i := range all {
			all[i] = min(all[i], v[i])
		}
	}
	meet(k.clock)
	for _, strands := range k.inside {
		for _, s := range strands {
			meet(s.clock)
		}
	}
	for _, f := range k.forks {
		meet(f.clock)
	}
	maps.DeleteFunc(k.objects, func(_ uint64, v vector) bool { return v.before(all) })
}

// releases records that later acquirers of an object are ordered after the actions of the running strand.
func (k *rank) releases(object uint64) {
	v := k.objects[object]
	v.join(k.clock)
	k.objects[object] = v
}

// strand starts a strand that is ordered after start. It reuses the number of an ended strand that precedes start, if
// there is one. Clocks thus need only as many entries as strands exist at a time.
func (c *Checker) strand(k *rank, start vector) *strand {
	s := &strand{number: -1, clock: start.clone()}
	for i, m := range k.over {
		if m.before(start) {
			k.over = append(k.over[:i], k.over[i+1:]...)
			s.number = m.strand
			break
		}
	}
	if s.number < 0 {
		s.number = c.strands
		c.strands++
	}
	s.clock.grow(s.number + 1)
	return s
}

// idle is the number of rounds after which an inactive strand no longer keeps accesses in the spaces that it might
// conflict with.
const idle = 16

// clocks calls use with the clocks of all future actions of the rank.
func (k *rank) clocks(use func(vector)) {
	k.round++
	k.running.clock = k.clock
	if k.inside == nil {
		use(k.clock)
		return
	}
	is := func(round int, v vector) {
		if k.round-round <= idle {
			use(v)
		}
	}
	is(k.first.round, k.first.clock)
	for _, all := range k.inside {
		for _, s := range all {
			is(s.round, s.clock)
		}
	}
	for _, f := range k.forks {
		is(f.round, f.clock)
	}
	use(k.clock)
}
