package check

import (
	"fmt"
	"slices"
	"strings"
)

// collArguments holds the arguments of a member's collective call that the checker compares with the arguments of the
// other members.
type collArguments struct {
	site      *callSite
	base      string
	variant   variant
	root      int64
	hasRoot   bool
	op        uint64
	data      dataInfo
	mustMatch bool     // data has the same signature at all members, or the call is an error
	counts    []uint64 // element counts that must be equal at all members
	equal     []argument
}

// argument is an argument of a collective call on a file that must be equal at all members.
type argument struct {
	name  string // name of the parameter
	value string // as findings show it; empty if unknown
}

// argumentTexts has the texts in findings for the arguments of collective calls on files, by name of the argument. The
// first text is for one value, the second text for several values.
var argumentTexts = map[string][2]string{"amode": {"access mode", "access modes"},
	"etype": {"etype extent", "etype extents"}, "datarep": {"data representation", "data representations"},
	"size": {"size", "sizes"}, "flag": {"flag", "flags"}, "offset": {"offset", "offsets"},
	"whence": {"whence", "values of whence"}}

// firstDifference returns the index of the first argument whose values in a and b are known and differ. It returns -1
// if no argument differs.
func firstDifference(a, b []argument) int {
	for i := range min(len(a), len(b)) {
		if a[i].value != b[i].value && a[i].value != "" && b[i].value != "" {
			return i
		}
	}
	return -1
}

// collArgumentsOf returns the collArguments of a call.
func (k *rank) collArgumentsOf(e *event, m *comm, base string, how variant) collArguments {
	s := collArguments{site: k.newSite(e), base: base, variant: how}
	word := func(name string) uint64 { return e.In(name).Uint() }
	if flow := collectives[base]; flow == fromRoot || flow == toRoot {
		s.hasRoot, s.root = true, e.In("root").Int()
	}
	switch base {
	case "Bcast":
		s.data, s.mustMatch = k.dataOf(int64(word("count")), word("datatype")), true
	case "Reduce", "Allreduce", "Scan", "Exscan":
		s.op = word("op")
		s.data, s.mustMatch = k.dataOf(int64(word("count")), word("datatype")), true
	case "Reduce_scatter_block":
		s.op = word("op")
		s.data, s.mustMatch = k.dataOf(int64(word("recvcount")), word("datatype")), true
	case "Reduce_scatter":
		s.op, s.counts = word("op"), slices.Clone(e.In("recvcounts").Words)
		s.data, s.mustMatch = k.dataOf(sum(s.counts), word("datatype")), !e.Truncated
	case "Gather", "Allgather", "Alltoall", "Scatter":
		root := s.hasRoot && m.worldRank(k, int(s.root)) == k.number
		if base == "Gather" && root || base == "Scatter" && !root || inPlace(word("sendbuf")) {
			s.data = k.dataOf(int64(word("recvcount")), word("recvtype"))
		} else {
			s.data = k.dataOf(int64(word("sendcount")), word("sendtype"))
		}
		s.mustMatch = true
	}
	if strings.HasPrefix(base, "File_") {
		s.equal = k.equalArguments(e, base)
	}
	return s
}

// compareArguments reports a difference between the arguments of two members of a collective.
func (c *Checker) compareArguments(m *comm, a, b collArguments) {
	report := func(kind, name, advice, ofA, ofB string) {
		c.report(&Finding{Kind: kind, Name: name, Target: -1, Object: m.name, Advice: advice},
			callRole{a.site, ofA}, callRole{b.site, ofB})
	}
	different := firstDifference(a.equal, b.equal)
	switch {
	case a.base != b.base:
		report("collective", "name", "All members of a communicator, window or file must call the same "+
			"collectives in the same order.", "", "")
	case a.variant != b.variant:
		report("collective", "name", "Blocking, nonblocking and persistent collectives do not match each "+
			"other: use the same kind on all members.", "", "")
	case len(m.remote) > 0:
	case different >= 0:
		name := a.equal[different].name
		text := argumentTexts[name][0]
		report("collective", name, "Pass the same "+text+" on all members.",
			"has "+text+" "+a.equal[different].value, "has "+text+" "+b.equal[different].value)
	case a.hasRoot && a.root != b.root:
		report("collective", "root", "Pass the same root on all members.", fmt.Sprintf("has root %d", a.root),
			fmt.Sprintf("has root %d", b.root))
	case a.op != b.op && a.op < firstDynamic && b.op < firstDynamic:
		report("collective", "op", "Pass the same operation on all members.", "has operation "+opName(a.op),
			"has operation "+opName(b.op))
	case a.mustMatch && b.mustMatch && a.data.bytes != b.data.bytes && a.data.hasBytes && b.data.hasBytes:
		report("collective", "length",
			"Pass counts and datatypes with the same number of bytes on all members.",
			fmt.Sprintf("has %d bytes", a.data.bytes), fmt.Sprintf("has %d bytes", b.data.bytes))
	case !slices.Equal(a.counts, b.counts):
		report("collective", "length", "Pass the same counts on all members.", fmt.Sprintf("has counts "+
			"%d", a.counts),
			fmt.Sprintf("has counts %d", b.counts))
	case a.mustMatch && b.mustMatch:
		if how := a.data.mismatch(b.data, false, "in the first call", "in the second call"); how != "" {
			report("signature", "", how, "", "")
		}
	}
}

func sum(counts []uint64) (n int64) {
	for _, c := range counts {
		n += int64(c)
	}
	return n
}

// list describes the data that one member of a collective sends to the other members, or receives from them.
type list struct {
	counts []uint64   // by member; one element stands for all members
	types  []*typemap // by member; one element stands for all members
	member int        // the only member with which data is exchanged; -1 for all members
}

// lists describes what a member sends and receives in a collective that has a count or a datatype for each member.
type lists struct {
	site            *callSite
	sends, receives list
}

// at returns the count and the datatype of the data that is exchanged with a member. The result t is nil if no data is
// exchanged with it, or if count or datatype is unknown.
func (l *list) at(member int) (count int64, t *typemap) {
	of := func(n int) int { return min(member, n-1) }
	if l.member >= 0 && member != l.member || len(l.counts) == 0 || len(l.types) == 0 ||
		len(l.counts) > 1 && member >= len(l.counts) || len(l.types) > 1 && member >= len(l.types) {
		return 0, nil
	}
	return int64(l.counts[of(len(l.counts))]), l.types[of(len(l.types))]
}

// listsOf returns the lists of a call. The result `is` is false if the collective has neither a count nor a datatype
// for each member.
func (k *rank) listsOf(e *event, m *comm, base string) (l lists, is bool) {
	l.site = k.newSite(e)
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
			some.types = []*typemap{k.typeOf(v.Uint())}
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
			l.receives = side("recv", all)
		}
	case "Scatterv":
		if !gets {
			l.receives = side("recv", root)
		}
		if me == root {
			l.sends = side("send", all)
		}
	case "Allgatherv":
		l.receives = side("recv", all)
		if l.sends = side("send", all); sends {
			n, t := l.receives.at(me)
			l.sends = list{counts: []uint64{uint64(n)}, types: []*typemap{t}, member: all}
		}
	case "Alltoallv", "Alltoallw":
		l.receives = side("recv", all)
		if l.sends = side("send", all); sends {
			l.sends = l.receives
		}
	default:
		return l, false
	}
	return l, true
}

// compareLists compares the lists of a member of a collective with those of the members that arrived earlier.
func (c *Checker) compareLists(k *rank, e *event, meet *collectiveCall, base string) {
	m := meet.comm
	if len(m.remote) > 0 || base != meet.arguments.base {
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
		c.compareTransfer(m, &mine, &theirs, me, other)
		if other != me {
			c.compareTransfer(m, &theirs, &mine, other, me)
		}
	}
}

// compareTransfer compares the data that member `from` of a collective sends to member `to` with the data that member
// `to` expects from member `from`.
func (c *Checker) compareTransfer(m *comm, a, b *lists, from, to int) {
	n, t := a.sends.at(to)
	expected, u := b.receives.at(from)
	if t == nil || u == nil || t == u && n == expected {
		return
	}
	f := &Finding{Kind: "signature", Target: -1, Object: m.name}
	sent, taken := dataOfType(n, t), dataOfType(expected, u)
	if sent.bytes != taken.bytes && sent.hasBytes && taken.hasBytes {
		f.Kind, f.Name = "collective", "length"
		f.Advice = fmt.Sprintf("Rank %d of the communicator sends %d bytes to rank %d, which expects %d "+
			"bytes.", from,
			sent.bytes, to, taken.bytes)
	} else if f.Advice = sent.mismatch(taken, false, "at the sender", "at the receiver"); f.Advice == "" {
		return
	}
	c.report(f, callRole{a.site, "sends"}, callRole{b.site, "receives"})
}

// reportHint reports a violated hint. w is the window with the hint, nil for a hint of a communicator.
func (c *Checker) reportHint(name string, s *callSite, w *window, why string) {
	f := &Finding{Kind: "hint", Name: name, Target: s.rank, Advice: why}
	if w != nil {
		f.Window = w.userName()
	}
	c.report(f, callRole{s, "violates the hint"})
}

// reportAssert reports a violated assertion.
func (c *Checker) reportAssert(name string, w *window, by *callSite, against *callSite, why string) {
	c.report(&Finding{Kind: "assertion", Name: name, Window: w.userName(), Target: by.rank, Advice: why},
		callRole{by, "asserts MPI_MODE_" + name}, callRole{against, "violates the assertion"})
}

// checkWindowHints checks the hints same_size and same_disp_unit.
func (c *Checker) checkWindowHints(k *rank, e *event, w *window) {
	mine := slices.Index(w.comm.members, k.number)
	for i := range w.parts {
		p, me := &w.parts[i], &w.parts[mine]
		if !p.known || w.dynamic {
			continue
		}
		if w.hints["same_size"] == "true" && p.size != me.size {
			c.reportHint("same_size", k.newSite(e), w, fmt.Sprintf("The info key same_size promises equal "+
				"sizes, but they are %d and %d bytes. Remove the key, or pass equal sizes.",
				p.size, me.size))
			return
		}
		if w.hints["same_disp_unit"] == "true" && p.unit != me.unit {
			c.reportHint("same_disp_unit", k.newSite(e), w, fmt.Sprintf("The info key same_disp_unit "+
				"promises equal displacement units, but they are %d and %d. Remove the key, or pass "+
				"equal units.", p.unit, me.unit))
			return
		}
	}
}

// checkNocheck checks MPI_MODE_NOCHECK. A lock epoch with this assertion must not be concurrent with a lock epoch of
// another origin at the same target, if at least one of the two locks is exclusive.
func (c *Checker) checkNocheck(k *rank, w *window, target int, exclusive, unchecked bool, s *callSite) {
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
		c.reportAssert("NOCHECK", w, by, other, "MPI_MODE_NOCHECK promises that no other process holds or "+
			"requests a conflicting lock. Remove the assertion, or order the two lock epochs.")
		break
	}
	state.epochs = append(state.epochs,
		&lockEpoch{rank: k.number, exclusive: exclusive, unchecked: unchecked, site: s})
}

// lockEpoch is a lock epoch of a rank.
type lockEpoch struct {
	rank                 int
	exclusive, unchecked bool
	site                 *callSite
	over                 bool
	end                  timestamp
}
