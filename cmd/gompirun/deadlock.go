package main

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"gompirma/core/shm"
)

// Why ranks wait for each other. Said is only what is certain of ranks that all wait.

// edge is that a rank's only wait cannot end before another rank calls something.
type edge struct {
	from, to int
	what     string // "waits in ... for 2"
}

// edges returns what a rank needs for certain; nothing of one whose threads wait for several things, any of which may
// end.
func (p picture) edges(d *doing, h held) (es []edge) {
	if len(d.ws) != 1 || d.more > 0 {
		return nil
	}
	w := &d.ws[0]
	var to []int
	switch {
	case w.Reason == shm.ForLock:
		for _, one := range h.of(w) {
			to = append(to, one.rank)
		}
	case w.Reason == shm.ForComplete:
		if w.Lacks == w.Members.N {
			to = ofMembers(&w.Members)
		}
	case w.Reason != shm.ForUnsaid && w.Peer >= 0:
		to = []int{int(w.Peer)}
	case collective(w) && w.All && w.Peer >= 0 && !p.isIn(int(w.Peer), w):
		to = []int{int(w.Peer)}
	default:
		to = p.missing(w)
	}
	for _, rank := range to {
		itself := rank == d.rank && w.Reason != shm.ForMessage && w.Reason != shm.ForPost
		if rank < 0 || rank >= len(p) || itself {
			continue
		}
		what := "waits " + toward(w, fmt.Sprint(rank))
		if w.Reason == shm.ForLock {
			what += fmt.Sprintf(", which %d holds", rank)
		}
		es = append(es, edge{d.rank, rank, what})
	}
	return es
}

// mostStarts bounds from how many ranks a shortest way back is looked for.
const mostStarts = 256

// allEdges returns the edges of each rank.
func (p picture) allEdges(h held) [][]edge {
	out := make([][]edge, len(p))
	for r := range p {
		out[r] = p.edges(&p[r], h)
	}
	return out
}

// cycle returns a shortest chain of ranks each of which needs the next for certain, and the last one the first; nil:
// none was found.
func cycle(out [][]edge) []edge {
	var best []edge
	starts := 0
	for r := range out {
		if len(out[r]) == 0 {
			continue
		}
		if starts++; starts > mostStarts {
			break
		}
		if way := wayBack(out, r); way != nil && (best == nil || len(way) < len(best)) {
			best = way
		}
	}
	return best
}

// wayBack returns the shortest way from a rank to itself, nil if there is none.
func wayBack(out [][]edge, start int) []edge {
	came := map[int]edge{}
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		for _, e := range out[queue[0]] {
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

// mismatches says of which communicators and windows the members are in different collectives.
func (p picture) mismatches() (lines []string) {
	type calls struct {
		w     *shm.Waiting
		ranks map[string][]int
	}
	objects := map[key]*calls{}
	for r := range p {
		for i := range p[r].ws {
			w := &p[r].ws[i]
			k, ok := keyOf(w)
			if !ok || !collective(w) {
				continue
			}
			if objects[k] == nil {
				objects[k] = &calls{w: w, ranks: map[string][]int{}}
			}
			objects[k].ranks[w.Call] = append(objects[k].ranks[w.Call], r)
		}
	}
	for _, c := range objects {
		var names []string
		in, meet := 0, 0
		for name, ranks := range c.ranks {
			names = append(names, name)
			in += len(ranks)
			if meeting[strings.TrimSuffix(name, "_c")] {
				meet++
			}
		}
		// A member may have done its part of one that is not a meeting, and be in the next: unless nobody is
		// left that the others could wait for.
		if len(names) < 2 || meet < 2 && in < c.w.Members.N {
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
			parts = append(parts, fmt.Sprintf("%s %sin %s", ranksOf(ranks), are, printable(name)))
		}
		kind, _, _ := strings.Cut(object(c.w), " ")
		same := "the same " + kind + " " + strings.TrimPrefix(object(c.w), kind+" ")
		if kind != "window" && kind != "communicator" {
			same = "the same communicator " + object(c.w)
		}
		lines = append(lines, strings.Join(parts, ", ")+" on "+same)
	}
	sort.Strings(lines)
	return lines
}

// why says in a line why no rank can go on, as far as it is known.
func (p picture) why(h held) string {
	if lines := p.mismatches(); len(lines) > 0 {
		return strings.Join(lines, "; ")
	}
	out := p.allEdges(h)
	way := cycle(out)
	if way == nil {
		return p.nobodyElse(out)
	}
	var parts []string
	for _, e := range way {
		parts = append(parts, fmt.Sprintf("%d %s", e.from, e.what))
	}
	return strings.Join(parts, "; ")
}

// nobodyElse says of a rank that one of several others could help why none of them does: each needs that rank itself.
// "" if there is no such rank.
func (p picture) nobodyElse(out [][]edge) string {
	for r := range p {
		if len(p[r].ws) != 1 || p[r].more > 0 {
			continue
		}
		w := &p[r].ws[0]
		either := w.Reason == shm.ForMessage && w.Peer == shm.PeersAny || w.Reason == shm.ForComplete
		needs := map[string][]int{}
		var order []string
		for _, other := range ofMembers(&w.Members) {
			if other == r {
				continue
			}
			k := -1
			if other >= 0 && other < len(p) {
				k = slices.IndexFunc(out[other], func(e edge) bool { return e.to == r })
			}
			if either = either && k >= 0; !either {
				break
			}
			what := out[other][k].what
			if needs[what] = append(needs[what], other); len(needs[what]) == 1 {
				order = append(order, what)
			}
		}
		if !either || order == nil {
			continue
		}
		text := fmt.Sprintf("%d waits %s", r, p.wait(w))
		for _, what := range order {
			ranks := needs[what]
			if len(ranks) > 1 {
				what = several(what)
			}
			text += fmt.Sprintf("; %s %s", ranges(ranks), what)
		}
		return text
	}
	return ""
}
