package check

import (
	"fmt"
	"slices"

	"gompirma/core/datatype"
)

// share holds the arguments of a member of a collective that must be equal at the other members.
type share struct {
	site   *site
	base   string
	how    manner
	root   int64
	rooted bool
	op     uint64
	data   contents
	given  bool     // all members must have equal data
	counts []uint64 // must be equal at all members
}

// shareOf returns the share of a call.
func (k *rank) shareOf(e *event, m *comm, base string, how manner) share {
	s := share{site: k.site(e), base: base, how: how}
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
	case "Reduce_scatter":
		s.op, s.counts = word("op"), slices.Clone(e.In("recvcounts").Words)
		s.data, s.given = k.contents(sum(s.counts), word("datatype")), !e.Truncated
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

// agrees reports differences between the shares of two members.
func (c *Checker) agrees(m *comm, a, b share) {
	tell := func(kind, name, advice, ofA, ofB string) {
		c.tell(&Finding{Kind: kind, Name: name, Target: -1, Object: m.name, Advice: advice},
			spot{a.site, ofA}, spot{b.site, ofB})
	}
	switch {
	case a.base != b.base:
		tell("collective", "name", "All members of a communicator or window must call the same collectives "+
			"in the same "+
			"order.", "", "")
	case a.how != b.how:
		tell("collective", "name", "Blocking, nonblocking and persistent collectives do not match each "+
			"other: use the "+
			"same kind on all members.", "", "")
	case len(m.remote) > 0:
	case a.rooted && a.root != b.root:
		tell("collective", "root", "Pass the same root on all members.", fmt.Sprintf("has root %d", a.root),
			fmt.Sprintf("has root %d", b.root))
	case a.op != b.op && a.op < firstMade && b.op < firstMade:
		tell("collective", "op", "Pass the same operation on all members.", "has operation "+opName(a.op),
			"has operation "+opName(b.op))
	case a.given && b.given && a.data.bytes != b.data.bytes && a.data.sized && b.data.sized:
		tell("collective", "length", "Pass counts and datatypes with the same number of bytes on all members.",
			fmt.Sprintf("has %d bytes", a.data.bytes), fmt.Sprintf("has %d bytes", b.data.bytes))
	case !slices.Equal(a.counts, b.counts):
		tell("collective", "length", "Pass the same counts on all members.", fmt.Sprintf("has counts "+
			"%d", a.counts),
			fmt.Sprintf("has counts %d", b.counts))
	case a.given && b.given:
		if how := a.data.differs(b.data, false); how != "" {
			tell("signature", "", how, "", "")
		}
	}
}

func sum(counts []uint64) (n int64) {
	for _, c := range counts {
		n += int64(c)
	}
	return n
}

// list describes the data that a member of a collective sends to each member, or receives from each.
type list struct {
	counts []uint64         // by member; one element: the same for all
	types  []*datatype.Type // by member; one element: the same for all
	member int              // the only member with data; -1 if all have data
}

// lists describes the data of a member in a collective with a count or a datatype for each member.
type lists struct {
	site        *site
	sends, gets list
}

// to returns the count and the datatype for a member; nil if there are none or they are unknown.
func (l *list) to(member int) (count int64, t *datatype.Type) {
	of := func(n int) int { return min(member, n-1) }
	if l.member >= 0 && member != l.member || len(l.counts) == 0 || len(l.types) == 0 ||
		len(l.counts) > 1 && member >= len(l.counts) || len(l.types) > 1 && member >= len(l.types) {
		return 0, nil
	}
	return int64(l.counts[of(len(l.counts))]), l.types[of(len(l.types))]
}

// listsOf returns the lists of a call, if its collective has a count or a datatype for each member.
func (k *rank) listsOf(e *event, m *comm, base string) (l lists, is bool) {
	l.site = k.site(e)
	side := func(s string, member int) list {
		some := list{member: member, counts: slices.Clone(e.In(s + "count").Words)}
		if len(some.counts) == 0 {
			some.counts = slices.Clone(e.In(s + "counts").Words)
		}
		if types := e.In(s + "types"); len(types.Words) > 0 {
			for _, h := range types.Words {
				some.types = append(some.types, k.typeOf(h))
			}
		} else if v := e.In(s + "type"); len(v.Words) > 0 {
			some.types = []*datatype.Type{k.typeOf(v.Uint())}
		}
		return some
	}
	const all = -1
	me, root := slices.Index(m.members, k.number), int(e.In("root").Int())
	sends, gets := inPlace(e.In("sendbuf").Uint()), inPlace(e.In("recvbuf").Uint())
	switch base {
	case "Gatherv":
		if !sends {
			l.sends = side("send", root)
		}
		if me == root {
			l.gets = side("recv", all)
		}
	case "Scatterv":
		if !gets {
			l.gets = side("recv", root)
		}
		if me == root {
			l.sends = side("send", all)
		}
	case "Allgatherv":
		l.gets = side("recv", all)
		if l.sends = side("send", all); sends {
			n, t := l.gets.to(me)
			l.sends = list{counts: []uint64{uint64(n)}, types: []*datatype.Type{t}, member: all}
		}
	case "Alltoallv", "Alltoallw":
		l.gets = side("recv", all)
		if l.sends = side("send", all); sends {
			l.sends = l.gets
		}
	default:
		return l, false
	}
	return l, true
}

// listsAgree compares the lists of a member with those of the members that arrived earlier.
func (c *Checker) listsAgree(k *rank, e *event, meet *meeting, base string) {
	m := meet.comm
	if len(m.remote) > 0 || base != meet.share.base {
		return
	}
	mine, is := k.listsOf(e, m, base)
	if !is {
		return
	}
	if meet.lists == nil {
		meet.lists = map[int]lists{}
	}
	me := slices.Index(m.members, k.number)
	meet.lists[me] = mine
	for other, theirs := range meet.lists {
		c.passes(m, &mine, &theirs, me, other)
		if other != me {
			c.passes(m, &theirs, &mine, other, me)
		}
	}
}

// passes compares the data that one member of a collective sends to another with the data that the other receives from
// it.
func (c *Checker) passes(m *comm, a, b *lists, from, to int) {
	n, t := a.sends.to(to)
	expected, u := b.gets.to(from)
	if t == nil || u == nil || t == u && n == expected {
		return
	}
	f := &Finding{Kind: "signature", Target: -1, Object: m.name}
	sent, taken := contentsOf(n, t), contentsOf(expected, u)
	if sent.bytes != taken.bytes && sent.sized && taken.sized {
		f.Kind, f.Name = "collective", "length"
		f.Advice = fmt.Sprintf("Rank %d of the communicator sends %d bytes to rank %d, which expects %d "+
			"bytes.", from,
			sent.bytes, to, taken.bytes)
	} else if f.Advice = sent.differs(taken, false); f.Advice == "" {
		return
	}
	c.tell(f, spot{a.site, "sends"}, spot{b.site, "receives"})
}

// hintFails reports a hint that is violated. w is the window with the hint; nil if it is a communicator's.
func (c *Checker) hintFails(name string, s *site, w *window, why string) {
	f := &Finding{Kind: "hint", Name: name, Target: s.rank, Advice: why}
	if w != nil {
		f.Window = w.plain()
	}
	c.tell(f, spot{s, "violates the hint"})
}

// asserted reports an assertion that is violated.
func (c *Checker) asserted(name string, w *window, by *site, against *site, why string) {
	c.tell(&Finding{Kind: "assertion", Name: name, Window: w.plain(), Target: by.rank, Advice: why},
		spot{by, "asserts MPI_MODE_" + name}, spot{against, "violates the assertion"})
}

// hintsOfWindow checks the hints that the parts of a window are equal at all members.
func (c *Checker) hintsOfWindow(k *rank, e *event, w *window) {
	mine := slices.Index(w.meets.members, k.number)
	for i := range w.parts {
		p, me := &w.parts[i], &w.parts[mine]
		if !p.known || w.dynamic {
			continue
		}
		if w.hints["same_size"] == "true" && p.size != me.size {
			c.hintFails("same_size", k.site(e), w, fmt.Sprintf("The info key same_size promises equal "+
				"sizes, but they are "+
				"%d and %d bytes.", p.size, me.size))
			return
		}
		if w.hints["same_disp_unit"] == "true" && p.unit != me.unit {
			c.hintFails("same_disp_unit", k.site(e), w, fmt.Sprintf("The info key same_disp_unit "+
				"promises equal displacement "+
				"units, but they are %d and %d.", p.unit, me.unit))
			return
		}
	}
}

// nocheck checks MPI_MODE_NOCHECK: another lock epoch of the target must not be concurrent with a conflicting lock.
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
		c.asserted("NOCHECK", w, by, other, "MPI_MODE_NOCHECK promises that no other process holds or "+
			"requests a conflicting lock. Remove the assertion, or order the two lock epochs.")
		break
	}
	state.epochs = append(state.epochs,
		&lockEpoch{rank: k.number, exclusive: exclusive, unchecked: unchecked, site: s})
}

// lockEpoch is the time during which a rank holds a lock.
type lockEpoch struct {
	rank                 int
	exclusive, unchecked bool
	site                 *site
	over                 bool
	end                  moment
}
