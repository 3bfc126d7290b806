package main

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"gompirma/core/shm"
)

// This file explains why ranks wait for each other. It reports only facts that are certain if all ranks wait in MPI.

// edge means that rank `from` waits, and that this wait cannot end before rank `to` makes a call.
type edge struct {
	from, to int
	what     string // "waits in ... for rank 2"
}

// needs describes which calls end the wait of a rank: the calls of all edges or, if anyOf is set, the call of any one
// edge. If there are no edges, these calls are unknown.
type needs struct {
	edges []edge
	anyOf bool
}

// target returns the rank to which all edges lead. It returns -1 if the edges lead to different ranks, or if there are
// no edges.
func (n *needs) target() int {
	to := -1
	for _, e := range n.edges {
		if to >= 0 && e.to != to {
			return -1
		}
		to = e.to
	}
	return to
}

// anyOf combines the needs of several waits. A rank with the combined needs continues when any one of these waits ends.
func anyOf(all []needs) (out needs) {
	out.anyOf = true
	for i := range all {
		switch n := &all[i]; {
		case len(n.edges) == 0:
			return needs{}
		case n.anyOf:
			out.edges = append(out.edges, n.edges...)
		default: // the wait ends only after the calls of all its edges, so each edge certainly delays it
			out.edges = append(out.edges, n.edges[0])
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	if out.target() >= 0 {
		out.anyOf = false
	}
	return out
}

// needs returns which calls let a rank continue. A rank can continue as soon as the wait of any one of its threads
// ends. The result has no edges if a thread's wait is unknown.
func (p snapshot) needs(d *rankState, h lockHolders) needs {
	if d.unrecorded > 0 || len(d.waits) == 0 {
		return needs{}
	}
	var threads []needs
	for i := range d.waits {
		threads = append(threads, p.waitNeeds(d.rank, &d.waits[i], h))
	}
	return anyOf(threads)
}

// waitNeeds returns which calls end `w`, the wait of one thread.
func (p snapshot) waitNeeds(rank int, w *shm.Waiting, h lockHolders) needs {
	if w.Peer == shm.PeersSeveral {
		if len(w.Events) == 0 || !w.HasAllEvents {
			return needs{}
		}
		var parts []needs
		for i := range w.Events {
			parts = append(parts, p.waitNeeds(rank, &w.Events[i], h))
		}
		return anyOf(parts)
	}
	var out needs
	var to []int
	switch {
	case w.Reason == shm.ForLock:
		for _, one := range h.holdersFor(w) {
			to = append(to, one.rank)
		}
	case w.Reason == shm.ForComplete:
		to, out.anyOf = memberRanks(&w.Members), w.PendingCount != w.Members.N
	case w.Reason == shm.ForMessage && w.Peer == shm.PeersAny:
		to, out.anyOf = memberRanks(&w.Members), true
	case w.Reason == shm.ForCall && w.Call == finalize:
		to = p.notIn(finalize)
	case w.Reason != shm.ForCall && w.Reason != shm.ForCollective && w.Peer >= 0:
		to = []int{int(w.Peer)}
	case w.Reason == shm.ForCollective && w.PendingCount < 0 && isPersistent(w.Operation):
		// gompirun does not know which members have started a persistent collective. Therefore `to` stays
		// empty.
	case isCollective(w) && w.All && w.Peer >= 0 && !p.isIn(int(w.Peer), w):
		to = []int{int(w.Peer)}
	default:
		to = p.missing(w)
	}
	for _, other := range to {
		itself := other == rank && (out.anyOf || w.Reason != shm.ForMessage && w.Reason != shm.ForPost &&
			w.Reason != shm.ForReceipt && w.Reason != shm.ForPartitions && w.Reason != shm.ForSelf)
		if other < 0 || other >= len(p) || itself {
			continue
		}
		out.edges = append(out.edges, edge{rank, other, p.edgeText(w, rank, other)})
	}
	if out.target() >= 0 {
		out.anyOf = false
	}
	return out
}

// edgeText returns text that says what rank `other` must do to end the wait `w`.
func (p snapshot) edgeText(w *shm.Waiting, rank, other int) string {
	if w.Call == finalize && w.Reason == shm.ForCall {
		return fmt.Sprintf("is in %s and %s", finalize, p.withheldText(rank, other))
	}
	what := "waits " + waitForText(w, p.name(other))
	if w.Reason == shm.ForLock {
		what += ", which " + p.name(other) + " holds"
	}
	return what
}

// blockingOf returns the name of the blocking variant of a nonblocking collective.
func blockingOf(call string) string {
	call = strings.TrimSuffix(call, "_c")
	if name, ok := strings.CutPrefix(call, "MPI_I"); ok && name != "" {
		call = "MPI_" + strings.ToUpper(name[:1]) + name[1:]
	}
	return call
}

// finalize is the call in which a finished rank waits until all other ranks are finished too.
const finalize = "MPI_Finalize"

// notIn returns the ranks that can still call MPI and are not in the given call.
func (p snapshot) notIn(call string) (ranks []int) {
	for r := range p {
		if !p[r].ended && p[r].text == "" &&
			!slices.ContainsFunc(p[r].waits, func(w shm.Waiting) bool { return w.Call == call }) {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// withheldText returns text on rank `rank`, which is in MPI_Finalize and blocks rank `other`. If `other` waits for a
// message from `rank`, or for `rank` to receive one, the text says that `rank` will not send or receive anything more.
// Otherwise it says that `rank` waits for `other`.
func (p snapshot) withheldText(rank, other int) string {
	for i := range p[other].waits {
		w := &p[other].waits[i]
		switch {
		case w.Peer != int32(rank) && w.Peer != shm.PeersAny:
		case w.Reason == shm.ForMessage || w.Reason == shm.ForPartitions:
			return "will send nothing more to " + p.name(other)
		case w.Reason == shm.ForReceipt:
			return "will receive nothing more from " + p.name(other)
		}
	}
	return "waits there for " + p.name(other)
}

// maxCycleStarts is the largest number of ranks from which the function cycle searches for a cycle.
const maxCycleStarts = 256

// allNeeds returns the needs of each rank.
func (p snapshot) allNeeds(h lockHolders) []needs {
	out := make([]needs, len(p))
	for r := range p {
		out[r] = p.needs(&p[r], h)
	}
	return out
}

// cycle returns a shortest cycle of ranks in which each rank certainly needs a call by the next rank; nil if it finds
// no cycle.
func cycle(out []needs) []edge {
	var best []edge
	starts := 0
	for r := range out {
		if len(out[r].edges) == 0 || out[r].anyOf {
			continue
		}
		if starts++; starts > maxCycleStarts {
			break
		}
		if way := shortestCycle(out, r); way != nil && (best == nil || len(way) < len(best)) {
			best = way
		}
	}
	return best
}

// shortestCycle returns the shortest cycle through rank start; nil if start is in no cycle.
func shortestCycle(out []needs, start int) []edge {
	came := map[int]edge{}
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		if out[queue[0]].anyOf {
			continue
		}
		for _, e := range out[queue[0]].edges {
			if _, seen := came[e.to]; seen {
				continue
			}
			came[e.to] = e
			if e.to == start {
				way := []edge{e}
				for way[0].from != start {
					way = slices.Insert(way, 0, came[way[0].from])
				}
				return way
			}
			queue = append(queue, e.to)
		}
	}
	return nil
}

// mismatches returns a line for each communicator or window whose members are in different collectives.
func (p snapshot) mismatches() (lines []string) {
	type calls struct {
		w       *shm.Waiting
		ranks   map[string][]int
		certain bool
	}
	objects := map[objectKey]*calls{}
	type nth struct {
		objectKey
		number int32
	}
	nonblocking := map[nth]*calls{} // by object and sequence number; all members give a collective the same number
	for r := range p {
		for i := range p[r].waits {
			w := &p[r].waits[i]
			k, ok := objectKeyOf(w)
			if !ok || !isCollective(w) {
				continue
			}
			if objects[k] == nil {
				objects[k] = &calls{w: w, ranks: map[string][]int{}}
			}
			objects[k].ranks[w.Call] = append(objects[k].ranks[w.Call], r)
		}
	}
	for r := range p {
		for i := range p[r].waits {
			w := &p[r].waits[i]
			k, ok := objectKeyOf(w)
			if c := objects[k]; c != nil && p.isInOtherSync(w) {
				c.ranks[w.Operation] = append(c.ranks[w.Operation], r)
				c.certain = true
			}
			if !ok || w.Reason != shm.ForCollective || isPersistent(w.Operation) {
				continue
			}
			n := nth{k, w.Tag}
			if nonblocking[n] == nil {
				nonblocking[n] = &calls{w: w, ranks: map[string][]int{}, certain: true}
			}
			nonblocking[n].ranks[w.Operation] = append(nonblocking[n].ranks[w.Operation], r)
		}
	}
	for _, c := range slices.AppendSeq(slices.Collect(maps.Values(objects)), maps.Values(nonblocking)) {
		var names []string
		in, meet := 0, 0
		for name, ranks := range c.ranks {
			names = append(names, name)
			in += len(ranks)
			if synchronizing[strings.TrimSuffix(name, "_c")] {
				meet++
			}
		}
		// A member may leave a non-synchronizing collective early and call the next collective. The members are
		// then in different collectives without an error. So different collectives are
		// certainly an error only in two cases: two of them are synchronizing, or every member waits in a
		// collective, so that no member can complete the earlier collective.
		if len(names) < 2 || !c.certain && meet < 2 && in < c.w.Members.N {
			continue
		}
		sort.Slice(names, func(a, b int) bool { return c.ranks[names[a]][0] < c.ranks[names[b]][0] })
		var parts []string
		for i, name := range names {
			ranks := c.ranks[name]
			are := ""
			if i == 0 {
				are = "is "
				if len(ranks) > 1 {
					are = "are "
				}
			}
			parts = append(parts, fmt.Sprintf("%s %sin %s", p.names(ranks), are, printable(name)))
		}
		lines = append(lines, "different collectives on "+objectText(c.w)+": "+strings.Join(parts, ", "))
	}
	sort.Strings(lines)
	return lines
}

// isInOtherSync reports whether w is a wait for a nonblocking collective, and a missing member is in a different,
// synchronizing collective on the same object. That member cannot leave its collective before this rank calls that
// collective too.
func (p snapshot) isInOtherSync(w *shm.Waiting) bool {
	k, ok := objectKeyOf(w)
	return ok && w.Reason == shm.ForCollective && slices.ContainsFunc(p.missing(w), func(rank int) bool {
		return rank >= 0 && rank < len(p) && slices.ContainsFunc(p[rank].waits, func(other shm.Waiting) bool {
			o, known := objectKeyOf(&other)
			return known && o == k && isSynchronizing(&other)
		})
	})
}

// deadlockText returns a line with the known reasons why no rank can continue; "" if none is known.
func (p snapshot) deadlockText(h lockHolders) string {
	if lines := p.mismatches(); len(lines) > 0 {
		return strings.Join(lines, "; ")
	}
	out := p.allNeeds(h)
	way := cycle(out)
	if way == nil {
		return p.knot(out)
	}
	var parts []string
	for _, e := range way {
		parts = append(parts, p.name(e.from)+" "+e.what)
	}
	return strings.Join(parts, "; ")
}

// maxKnotRanks is the largest number of ranks in the text of knot.
const maxKnotRanks = 64

// knot returns text on a rank that waits for any one of several ranks, none of which can continue. The function closure
// collects all ranks that this rank needs, directly or through other ranks. The ranks of this set need only each other,
// so none can continue. knot returns "" if it finds no such rank.
func (p snapshot) knot(out []needs) string {
	var best []int
	for r := range out {
		if !out[r].anyOf {
			continue
		}
		if ranks := closure(out, r); ranks != nil && (best == nil || len(ranks) < len(best)) {
			best = ranks
		}
	}
	if best == nil {
		return ""
	}
	says := map[string][]int{}
	var order []string
	for _, r := range best[1:] {
		what := p.stateText(&p[r])
		if !out[r].anyOf {
			what = out[r].edges[0].what
		}
		if says[what] = append(says[what], r); len(says[what]) == 1 {
			order = append(order, what)
		}
	}
	text := p.name(best[0]) + " " + p.stateText(&p[best[0]])
	for _, what := range order {
		ranks := says[what]
		if len(ranks) > 1 {
			what = pluralVerb(what)
		}
		text += "; " + p.names(ranks) + " " + what
	}
	return text
}

// closure returns rank `start` and the ranks that it needs, directly or through other ranks. Rank `start` comes first;
// the other ranks follow in ascending order. It returns nil if the needs of a rank are unknown, or for more than
// maxKnotRanks ranks.
func closure(out []needs, start int) []int {
	ranks := []int{start}
	for i := 0; i < len(ranks); i++ {
		edges := out[ranks[i]].edges
		if len(edges) == 0 || len(ranks) > maxKnotRanks {
			return nil
		}
		if !out[ranks[i]].anyOf {
			edges = edges[:1]
		}
		for _, e := range edges {
			if !slices.Contains(ranks, e.to) {
				ranks = append(ranks, e.to)
			}
		}
	}
	slices.Sort(ranks[1:])
	return ranks
}
