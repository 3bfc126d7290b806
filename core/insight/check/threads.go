package check

import (
	"maps"

	"gompirma/core/insight"
)

// strand is a part of what a rank does that has an order in itself: what one thread does, or a task does in it. It has
// a number among those of the job, by which clocks know it.
type strand struct {
	number int
	clock  vector // while another one is running
	round  int    // of looks for what can be forgotten, in which it ran last
}

// fork is a moment of a strand, after which others may come.
type fork struct {
	clock vector
	round int
}

// threads is what a rank has of threads. One that nothing is known of, neither how it began nor in which task it is,
// belongs to the first strand: so its calls have the order in which they were made this time.
type threads struct {
	first   *strand
	running *strand           // that the record at hand is of; its clock is the rank's
	inside  map[int][]*strand // by thread, what it has entered and not left
	objects map[uint64]vector // what who acquires one comes after
	forks   map[uint64]fork   // what who enters one comes after
	over    []moment          // the last ones of strands that have ended
	round   int
}

// turn has the rank go on with a thread.
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

// orders takes what has ordered a thread with others.
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

// manyObjects is from how many objects on a rank looks which of them it can forget.
const manyObjects = 256

// forgetObjects drops objects whose acquisition orders nothing any longer, since all strands come after their releases.
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

// releases has who acquires an object come after what the strand has done.
func (k *rank) releases(object uint64) {
	v := k.objects[object]
	v.join(k.clock)
	k.objects[object] = v
}

// strand begins one that comes after start. It takes the place of one that has ended before, if there is one: clocks
// need not know more strands than there are at a time.
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

// idle is for how many looks a strand may have done nothing until what it does later is no reason any longer to keep
// what it might conflict with.
const idle = 16

// clocks calls use with those of all that the rank may still do.
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
