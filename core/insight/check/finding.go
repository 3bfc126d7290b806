package check

import (
	"fmt"
	"strings"

	"gompirma/core/abi"
	"gompirma/core/insight"
)

// Finding is one result of --check.
type Finding struct {
	// Kind of the finding. For example, race is a conflict in a window's memory or a file, and buffer is the use of
	// a buffer that an operation is still using.
	Kind   string `json:"kind"`
	Window string `json:"window,omitempty"` // the window's name, as users know it
	File   string `json:"file,omitempty"`   // name of the file whose bytes the accesses touch
	Target int    `json:"target"`           // the rank that owns the memory, in MPI_COMM_WORLD of its job
	// Job of the target; 0 for the job of the command line.
	TargetJob int `json:"target_job,omitempty"`
	// Offset of the first byte in the window or file. If the bytes belong to neither, this is their address.
	First   uint64     `json:"first"`
	Bytes   uint64     `json:"bytes"`
	Places  []CallRole `json:"accesses"`
	Advice  string     `json:"advice,omitempty"`
	Times   int        `json:"times"`
	Object  string     `json:"object,omitempty"` // kind of object, or name of the communicator
	Name    string     `json:"name,omitempty"`   // name of the assertion, hint or argument
	address bool
	// Owner is the index of the target among the ranks of all jobs.
	Owner int `json:"-"`
}

// CallRole is a call that a finding reports.
type CallRole struct {
	Rank   int              `json:"rank"` // in MPI_COMM_WORLD of its job
	Job    int              `json:"job,omitempty"`
	Caller int              `json:"-"` // index of the rank among those of all jobs
	Thread int              `json:"thread"`
	Call   string           `json:"call"`
	Detail string           `json:"detail,omitempty"`
	What   string           `json:"what"`
	Epoch  string           `json:"epoch,omitempty"`
	Place  insight.Location `json:"place"`
}

// findingKey identifies equal findings. The checker reports the first of several equal findings, and only counts the
// later ones.
type findingKey struct {
	kind         string
	window       *window
	a, b         int // numbers of the two program locations; 0 if there is only one
	kindA, kindB kind
}

// anyOp stands for the operation of MPI_Compare_and_swap.
const anyOp = 1<<64 - 1

func opName(op uint64) string {
	for _, n := range opNames {
		if n.op == op {
			return n.name
		}
	}
	return "a user-defined operation"
}

var opNames = []struct {
	op   uint64
	name string
}{{abi.MPI_SUM, "MPI_SUM"}, {abi.MPI_MIN, "MPI_MIN"}, {abi.MPI_MAX, "MPI_MAX"}, {abi.MPI_PROD, "MPI_PROD"},
	{abi.MPI_BAND, "MPI_BAND"}, {abi.MPI_BOR, "MPI_BOR"}, {abi.MPI_BXOR, "MPI_BXOR"}, {abi.MPI_LAND, "MPI_LAND"},
	{abi.MPI_LOR, "MPI_LOR"}, {abi.MPI_LXOR, "MPI_LXOR"}, {abi.MPI_MINLOC, "MPI_MINLOC"},
	{abi.MPI_MAXLOC, "MPI_MAXLOC"}, {abi.MPI_REPLACE, "MPI_REPLACE"}, {abi.MPI_NO_OP, "MPI_NO_OP"}}

// add adds an access to the memory of rank owner, and reports its conflicts. The access is ordered after start. If the
// real owner of the memory is not known yet, add postpones both until the owner is known.
func (c *Checker) add(owner int, a *access, start vector) {
	if p := c.ranks[owner].unresolvedPart(a.spans); p != nil {
		start, a.isDeferred = start.clone(), true
		p.deferred = append(p.deferred, func() {
			a.isDeferred = false
			c.add(owner, a, start)
			if a.isOver {
				c.endAccess(a, a.end)
			}
		})
		return
	}
	c.addOwned(c.resolveOwner(owner, a), a, start)
}

// unresolvedPart returns the window memory of another member that contains the bytes. This memory is mapped at this
// rank, but its address at the other member is not known yet. If the bytes belong to no such memory, unresolvedPart
// returns nil.
func (k *rank) unresolvedPart(spans []span) *memberMemory {
	for _, a := range k.aliases {
		p := &a.window.parts[a.member]
		if !p.known && len(spans) > 0 && spans[0].low < a.high && a.low < spans[len(spans)-1].high {
			return p
		}
	}
	return nil
}

// resolveOwner returns the rank that owns the memory of an access, whose spans are addresses at the given rank. Memory
// of another rank may be mapped at the given rank. In this case resolveOwner converts the spans to addresses at the
// owner.
func (c *Checker) resolveOwner(rank int, a *access) int {
	a.owner = rank
	for _, alias := range c.ranks[rank].aliases {
		if alias.low <= a.low() && a.high() <= alias.high {
			at := alias.window.parts[alias.member].base - alias.low
			for i := range a.spans {
				a.spans[i].low += at
				a.spans[i].high += at
			}
			for i := range a.typed {
				a.typed[i].low += at
				a.typed[i].high += at
			}
			a.owner = alias.window.comm.members[alias.member]
			break
		}
	}
	return a.owner
}

// addOwned does what add does, for memory whose owner is known.
func (c *Checker) addOwned(owner int, a *access, start vector) {
	s := c.ranks[owner].space
	a.owner = owner
	var earlier *access
	s.each(a, func(x *access) {
		if earlier == nil && a.repeats(x) {
			earlier = x
		}
		switch {
		case x.updateClock != nil, a.onlyReads() && x.onlyReads(), a.group != nil && a.group == x.group,
			a.site == x.site, a.cannotConflict(x):
			return
		case x.endedBefore(start), harmless(a, x):
			return
		}
		if at, is := overlap(a, x); is {
			c.conflict(owner, x, a, at)
		}
	})
	if earlier != nil {
		a.representBy(earlier)
		return
	}
	s.add(a)
}

func (c *Checker) endAccess(a *access, at timestamp) {
	if a.isDeferred {
		a.isOver, a.end = true, at
		return
	}
	if a.hasEnded {
		return
	}
	a.hasEnded = true
	root := a
	if a.root != nil {
		root = a.root
		a.isOver, a.end = true, at
	}
	if root.representedCount > 0 {
		root.representedCount--
		return
	}
	root.isOver, root.end = true, at
	if root.isDropped {
		return
	}
	c.ranks[root.owner].space.noteEnd(root)
}

// harmless reports whether two accesses need no order. This holds if both are accumulates that are ordered or atomic
// with respect to each other, if one access polls for the effect of the other access, or if a lock separates the two
// accesses.
func harmless(a, b *access) bool {
	if a.observes(b) || b.observes(a) {
		return true
	}
	if a.kind == updates && b.kind == updates && a.win == b.win && sameElements(a, b) {
		same := a.win != nil && a.win.hints["accumulate_ops"] == "same_op"
		if a.op == b.op || !same && (a.op == abi.MPI_NO_OP || b.op == abi.MPI_NO_OP) || a.op == anyOp ||
			b.op == anyOp {
			return true
		}
	}
	if a.kind == updates && b.kind == updates && a.site.rank == b.site.rank && a.win == b.win && a.ordered &&
		b.ordered && sameElements(a, b) {
		return true
	}
	for _, x := range a.held {
		for _, y := range b.held {
			if x.window == y.window && x.target == y.target && (x.exclusive || y.exclusive) &&
				a.site.rank != b.site.rank && x.target == a.owner {
				return true
			}
		}
	}
	return false
}

func describe(a *access) string {
	switch {
	case a.byProgram && a.kind == reads:
		return "reads the memory"
	case a.byProgram:
		return "writes the memory"
	case a.win != nil && a.onlyReads():
		return "reads the target's memory"
	case a.win != nil && a.kind == writes:
		return "writes the target's memory"
	case a.win != nil:
		return "updates the target's memory"
	case a.kind == reads:
		return "reads its buffer"
	}
	return "writes its buffer"
}

func (c *Checker) conflict(owner int, x, y *access, at span) {
	kind := "race"
	if x.win == nil && y.win == nil && x.site.rank == y.site.rank {
		kind = "buffer"
	}
	w := x.win
	if w == nil {
		w = y.win
	}
	if w == nil && kind == "race" {
		w = c.ranks[owner].windowAt(at)
	}
	if c.syncCheck {
		c.ranks[y.site.rank].addConflict(x, y, w)
	}
	ax, kx := c.findingLocation(x)
	ay, ky := c.findingLocation(y)
	key := findingKey{kind, w, ax, ay, kx, ky}
	if key.a > key.b || key.a == key.b && key.kindA > key.kindB {
		key.a, key.b, key.kindA, key.kindB = key.b, key.a, key.kindB, key.kindA
	}
	if f := c.findingsByKey[key]; f != nil {
		f.Times++
		return
	}
	f := &Finding{Kind: kind, Target: owner, First: at.low, Bytes: at.high - at.low, address: true}
	if w != nil {
		f.Window = w.userName()
		for i, r := range w.comm.members {
			if r == owner && !w.dynamic {
				f.First -= w.parts[i].base
				f.address = false
			}
		}
	}
	f.Advice = advice(x, y)
	c.addFinding(key, f, callRole{x.site, describe(x)}, callRole{y.site, describe(y)})
}

// addFinding adds a finding with its calls. Its field Target is the index of a rank among those of all jobs.
func (c *Checker) addFinding(key findingKey, f *Finding, calls ...callRole) {
	f.Times, f.Owner = 1, f.Target
	f.TargetJob, f.Target = c.jobs.Of(f.Owner)
	for _, s := range calls {
		role := CallRole{Caller: s.rank, Thread: s.thread, Call: s.name, Detail: s.detail, What: s.what,
			Epoch: s.epoch, Place: c.locate(s.rank, s.address)}
		role.Job, role.Rank = c.jobs.Of(s.rank)
		f.Places = append(f.Places, role)
	}
	c.findingsByKey[key] = f
	c.findings = append(c.findings, f)
	c.newFindings = append(c.newFindings, f)
}

// windowAt returns a window in which this rank's memory contains the bytes; nil if no window contains them.
func (k *rank) windowAt(at span) *window {
	for _, w := range k.wins {
		for i, r := range w.comm.members {
			if p := &w.parts[i]; r == k.number && p.base <= at.low && at.high <= p.base+p.size {
				return w
			}
		}
	}
	return nil
}

// advice returns what the user can do to order two accesses.
func advice(x, y *access) string {
	switch {
	case x.kind == updates && y.kind == updates && x.win != y.win:
		return "Accumulates are atomic with respect to each other only if they use the same window. Use one " +
			"window, or synchronize the two calls."
	case x.kind == updates && y.kind == updates && x.element != 0 && x.element == y.element && !sameElements(x, y):
		return "Accumulates are atomic only if their elements begin at the same addresses. Align the " +
			"elements, or synchronize the two calls."
	case x.kind == updates && y.kind == updates && !sameElements(x, y):
		return "Accumulates to one location are atomic only with the same predefined datatype. Use one " +
			"datatype, or synchronize the two calls."
	case x.kind == updates && y.kind == updates:
		return "Concurrent accumulates to one location must use the same operation; with " +
			"accumulate_ops=same_op_no_op, the default, one of them may also be MPI_NO_OP. Use one " +
			"operation, or synchronize the two calls."
	case x.site.rank == y.site.rank && x.site.thread != y.site.thread && x.isOver:
		return "Nothing orders the two threads. Put a mutex, a barrier or a join between the end of the " +
			"first access and the second."
	case x.site.rank == y.site.rank && strings.HasSuffix(strings.TrimSuffix(x.site.name, "_c"), "_begin"):
		return "Do not touch this buffer until the split collective has ended (" +
			strings.TrimSuffix(strings.TrimSuffix(x.site.name, "_c"), "_begin") + "_end)."
	case x.site.rank == y.site.rank && (x.win == nil || y.win == nil):
		return "Do not touch this buffer until the operation is complete (flush, end of epoch, or MPI_Wait)."
	case x.site.rank == y.site.rank:
		return "Operations of one origin are not ordered. Put MPI_Win_flush or the end of the epoch between " +
			"them."
	case !x.isOver:
		return "The first access may still be running. Flush or end its epoch, then synchronize the ranks."
	}
	return "Nothing orders the two accesses. Put a message, a barrier or the end of the epoch between them."
}

// NewFindings returns the findings since its last call.
func (c *Checker) NewFindings() []*Finding {
	news := c.newFindings
	c.newFindings = nil
	return news
}

// Findings returns all findings.
func (c *Checker) Findings() []*Finding { return c.findings }

// String returns a finding as text of several lines.
func (f *Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", f.Kind)
	if f.Kind != "race" && f.Kind != "buffer" {
		fmt.Fprintf(&b, " %s\n", f.title())
		f.writePlaces(&b)
		return b.String()
	}
	where := fmt.Sprintf("%d bytes at offset %d", f.Bytes, f.First)
	if f.File != "" {
		fmt.Fprintf(&b, " file '%s', %s\n", f.File, where)
		f.writePlaces(&b)
		return b.String()
	}
	if f.address {
		where = fmt.Sprintf("%d bytes at address %#x", f.Bytes, f.First)
	}
	if f.Window != "" {
		fmt.Fprintf(&b, " %s,", f.windowTitle())
	}
	fmt.Fprintf(&b, " memory of %s, %s\n", insight.RankName(f.TargetJob, f.Target), where)
	f.writePlaces(&b)
	return b.String()
}

// windowTitle returns the window of a finding as text.
func (f *Finding) windowTitle() string {
	if strings.HasPrefix(f.Window, "window ") { // the window has no name
		return f.Window
	}
	return "window '" + f.Window + "'"
}

// title returns a summary of a finding that is not a conflict of two accesses.
func (f *Finding) title() string {
	on := f.Object
	if f.Window != "" {
		on = f.windowTitle()
	}
	switch f.Kind {
	case "collective":
		if text, is := argumentTexts[f.Name]; is {
			return "different " + text[1] + " on " + on
		}
		return map[string]string{"name": "ranks call different collectives on ", "root": "different roots on ",
			"op": "different operations on ", "length": "different data sizes on "}[f.Name] + on
	case "signature":
		return "datatypes do not match on " + on
	case "epoch":
		return "call without a suitable epoch on " + on
	case "leak":
		switch on {
		case "message":
			return "message is never received"
		case "file":
			return "file is never closed"
		}
		return on + " is never freed"
	case "freed":
		if on == "file" {
			return "file is used after it was closed"
		}
		return on + " is used after it was freed"
	case "assertion":
		return "MPI_MODE_" + f.Name + " is violated on " + on
	case "hint":
		if on == "" {
			return f.Name + " is violated"
		}
		return f.Name + " is violated on " + on
	case "memory":
		return "memory is freed or detached while " + on + " uses it"
	case "buffering":
		return "sends on " + on + " complete only because MPI buffers messages"
	}
	return strings.Join(strings.Fields(f.Name+" "+on), " ")
}

func (f *Finding) writePlaces(b *strings.Builder) {
	threads := false // two threads of one rank made the calls
	for _, p := range f.Places {
		first := &f.Places[0]
		threads = threads || p.Job == first.Job && p.Rank == first.Rank && p.Thread != first.Thread
	}
	for _, p := range f.Places {
		b.WriteString("    " + insight.RankName(p.Job, p.Rank))
		if threads {
			fmt.Fprintf(b, ", thread %d", p.Thread)
		}
		fmt.Fprintf(b, ": %s", p.Call)
		if p.Detail != "" {
			fmt.Fprintf(b, " (%s)", p.Detail)
		}
		fmt.Fprintf(b, " at %v", p.Place)
		if p.What != "" {
			b.WriteString(" " + p.What)
		}
		if p.Epoch != "" {
			fmt.Fprintf(b, ", in a %s epoch", p.Epoch)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "    %s", f.Advice)
}
