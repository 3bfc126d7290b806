package check

import (
	"fmt"
	"slices"
)

// share is what a member of a collective has given, as far as others have to give the same.
type share struct {
	site   *site
	base   string
	root   int64
	rooted bool
	op     uint64
	data   contents
	given  bool // data is what all members give
}

// shareOf returns what a call gives.
func (k *rank) shareOf(e *event, m *comm, base string) share {
	s := share{site: k.site(e), base: base}
	word := func(name string) uint64 { return e.In(name).Uint() }
	if flow := collectives[base]; flow == fromRoot || flow == toRoot {
		s.rooted, s.root = true, e.In("root").Int()
	}
	switch base {
	case "Bcast":
		s.data, s.given = k.contents(int64(word("count")), word("datatype")), true
	case "Reduce", "Allreduce", "Scan", "Exscan":
		s.op = word("op")
		s.data, s.given = k.contents(int64(word("count")), word("datatype")), true
	case "Reduce_scatter_block":
		s.op = word("op")
		s.data, s.given = k.contents(int64(word("recvcount")), word("datatype")), true
	case "Gather", "Allgather", "Alltoall", "Scatter":
		root := s.rooted && m.world(k, int(s.root)) == k.number
		if base == "Gather" && root || base == "Scatter" && !root || inPlace(word("sendbuf")) {
			s.data = k.contents(int64(word("recvcount")), word("recvtype"))
		} else {
			s.data = k.contents(int64(word("sendcount")), word("sendtype"))
		}
		s.given = true
	}
	return s
}

// agrees compares what two members have given.
func (c *Checker) agrees(m *comm, a, b share) {
	tell := func(kind, name, advice string) {
		c.tell(&Finding{Kind: kind, Name: name, Target: -1, Object: m.name, Advice: advice},
			spot{a.site, "takes part"}, spot{b.site, "takes part"})
	}
	switch {
	case a.base != b.base:
		tell("collective", "name", "all members of a communicator call the same collectives in the same order")
	case len(m.remote) > 0:
	case a.rooted && a.root != b.root:
		tell("collective", "root", fmt.Sprintf("one has root %d, the other %d", a.root, b.root))
	case a.op != b.op && a.op < firstMade && b.op < firstMade:
		tell("collective", "op", fmt.Sprintf("one has %s, the other %s", opName(a.op), opName(b.op)))
	case a.given && b.given && a.data.known && b.data.known && a.data.bytes != b.data.bytes:
		tell("collective", "length", fmt.Sprintf("one gives %d bytes, the other %d", a.data.bytes,
			b.data.bytes))
	case a.given && b.given:
		if how := a.data.differs(b.data, false); how != "" {
			tell("signature", "", how)
		}
	}
}

// hintFails tells of a hint that is not true; w: the window that it is of, nil: it is a communicator's.
func (c *Checker) hintFails(name string, s *site, w *window, why string) {
	f := &Finding{Kind: "hint", Name: name, Target: s.rank, Advice: why}
	if w != nil {
		f.Window = w.plain()
	}
	c.tell(f, spot{s, "does otherwise"})
}

// asserted tells of an assertion that is not true.
func (c *Checker) asserted(name string, w *window, by *site, against *site, why string) {
	c.tell(&Finding{Kind: "assertion", Name: name, Window: w.plain(), Target: by.rank, Advice: why},
		spot{by, "asserts " + name}, spot{against, "makes it untrue"})
}

// hintsOfWindow compares the parts of a window that all members say are equal.
func (c *Checker) hintsOfWindow(k *rank, e *event, w *window) {
	mine := slices.Index(w.meets.members, k.number)
	for i := range w.parts {
		p, me := &w.parts[i], &w.parts[mine]
		if !p.known || w.dynamic {
			continue
		}
		if w.hints["same_size"] == "true" && p.size != me.size {
			c.hintFails("same_size", k.site(e), w, fmt.Sprintf("sizes are %d and %d bytes", p.size,
				me.size))
			return
		}
		if w.hints["same_disp_unit"] == "true" && p.unit != me.unit {
			c.hintFails("same_disp_unit", k.site(e), w, fmt.Sprintf("displacement units are %d and %d",
				p.unit, me.unit))
			return
		}
	}
}

// nocheck looks whether another epoch of a target's lock may be at the same time.
func (c *Checker) nocheck(k *rank, w *window, target int, exclusive, unchecked bool, s *site) {
	if c.follow != nil {
		return
	}
	state := w.lockOf(target)
	state.epochs = slices.DeleteFunc(state.epochs, func(x *lockEpoch) bool {
		return len(state.epochs) > 64 &&
			x.over
	})
	for _, x := range state.epochs {
		if x.rank == k.number || !x.exclusive && !exclusive || !x.unchecked && !unchecked ||
			x.over && x.end.before(k.clock) {
			continue
		}
		by, other := s, x.site
		if !unchecked {
			by, other = x.site, s
		}
		c.asserted("NOCHECK", w, by, other, "another process may hold a conflicting lock")
		break
	}
	state.epochs = append(state.epochs,
		&lockEpoch{rank: k.number, exclusive: exclusive, unchecked: unchecked, site: s})
}

// lockEpoch is the time in which a rank has a lock.
type lockEpoch struct {
	rank                 int
	exclusive, unchecked bool
	site                 *site
	over                 bool
	end                  moment
}
