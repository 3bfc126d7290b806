package check

import (
	"maps"

	"gompirma/core/insight"
)

// strand is a totally ordered sequence of actions of a rank: those of one thread, or of one task that runs in a thread.
// Clocks identify a strand by a number that is unique in the job.
type strand struct {
	number int
	clock  vector // clock of the strand while another strand runs; the running strand's clock is rank.clock
	round  int    // value of threads.round when the strand ran last
}

// fork is the vector clock of a strand at the event insight.Fork. Strands that start at this fork are ordered after it.
type fork struct {
	clock vector
	round int
}

// threads holds the strands of a rank. Calls of a thread belong to the first strand, in the order of their records, if
// no event has reported how the thread or its task started.
type threads struct {
	first         *strand
	running       *strand           // strand of the current record; its clock is rank.clock
	activeStrands map[int][]*strand // by thread, the strands that the thread has entered and not left
	objects       map[uint64]vector // by object; a thread that acquires the object is ordered after this clock
	forks         map[uint64]fork   // by object; a strand that enters the object is ordered after this fork
	endTimestamps []timestamp       // timestamp of the end of each ended strand whose number is free
	round         int
}

// switchThread makes the current strand of a thread the running strand of the rank.
func (k *rank) switchThread(thread int) {
	if k.activeStrands == nil {
		return
	}
	s := k.first
	if all := k.activeStrands[thread]; len(all) > 0 {
		s = all[len(all)-1]
	}
	if s != k.running {
		k.running.clock, k.clock, k.running = k.clock, s.clock, s
	}
	s.round = k.round
}

// threadEvents processes events that order a thread with other threads.
func (c *Checker) threadEvents(k *rank, r *insight.Record) {
	if k.activeStrands == nil {
		k.activeStrands, k.objects, k.forks = map[int][]*strand{}, map[uint64]vector{}, map[uint64]fork{}
	}
	for _, e := range r.Events {
		switch e.Kind {
		case insight.Release:
			k.release(e.Object)
		case insight.Acquire:
			k.clock.join(k.objects[e.Object])
		case insight.Fork:
			k.forks[e.Object] = fork{k.clock.clone(), k.round}
		case insight.Enter:
			k.activeStrands[r.Thread] = append(k.activeStrands[r.Thread], c.newStrand(k,
				k.forks[e.Object].clock))
			k.switchThread(r.Thread)
		case insight.Leave:
			k.release(e.Object)
			if all := k.activeStrands[r.Thread]; len(all) > 1 {
				k.activeStrands[r.Thread] = all[:len(all)-1]
			} else {
				delete(k.activeStrands, r.Thread)
			}
			k.endTimestamps = append(k.endTimestamps, k.now())
			for _, w := range k.wins {
				delete(w.endedByOthers, k.running.number)
			}
			k.switchThread(r.Thread)
		case insight.Drop:
			delete(k.forks, e.Object)
		case insight.Free:
			k.space.free(span{e.Object, e.Object + e.Size})
		}
	}
}

// cleanupThreshold is the least number of objects with which forgetObjects searches for objects to drop.
const cleanupThreshold = 256

// forgetObjects drops objects whose acquisition adds no order, because all strands are already ordered after their
// releases.
func (k *rank) forgetObjects() {
	if len(k.objects) < cleanupThreshold {
		return
	}
	k.running.clock = k.clock
	all := k.first.clock.clone()
	intersect := func(v vector) {
		all = all[:min(len(all), len(v))]
		for i := range all {
			all[i] = min(all[i], v[i])
		}
	}
	intersect(k.clock)
	for _, strands := range k.activeStrands {
		for _, s := range strands {
			intersect(s.clock)
		}
	}
	for _, f := range k.forks {
		intersect(f.clock)
	}
	maps.DeleteFunc(k.objects, func(_ uint64, v vector) bool { return v.before(all) })
}

// release records that strands that acquire an object later are ordered after the actions of the running strand.
func (k *rank) release(object uint64) {
	v := k.objects[object]
	v.join(k.clock)
	k.objects[object] = v
}

// newStrand returns a new strand that is ordered after start. It reuses the number of an ended strand that precedes
// start, if there is one. Clocks therefore need only as many entries as strands exist at a time.
func (c *Checker) newStrand(k *rank, start vector) *strand {
	s := &strand{number: -1, clock: start.clone()}
	for i, m := range k.endTimestamps {
		if m.before(start) {
			k.endTimestamps = append(k.endTimestamps[:i], k.endTimestamps[i+1:]...)
			s.number = m.strand
			break
		}
	}
	if s.number < 0 {
		s.number = c.strandCount
		c.strandCount++
	}
	s.clock.grow(s.number + 1)
	return s
}

// idleRounds is the number of rounds for which a strand that does nothing, or a fork, prevents forget from dropping
// accesses. A round is one call of the function clocks, made by forget. After more rounds, forget may drop accesses
// that are not ordered before the strand. The checker then does not find conflicts of the strand with them.
const idleRounds = 16

// clocks calls the function `use` with the clock of each strand that may act in the future, except idle ones
// (idleRounds). All future actions of the rank are ordered after one of these clocks, except those of idle strands.
func (k *rank) clocks(use func(vector)) {
	k.round++
	k.running.clock = k.clock
	if k.activeStrands == nil {
		use(k.clock)
		return
	}
	visit := func(round int, v vector) {
		if k.round-round <= idleRounds {
			use(v)
		}
	}
	visit(k.first.round, k.first.clock)
	for _, all := range k.activeStrands {
		for _, s := range all {
			visit(s.round, s.clock)
		}
	}
	for _, f := range k.forks {
		visit(f.round, f.clock)
	}
	use(k.clock)
}
