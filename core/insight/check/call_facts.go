package check

import (
	"slices"
	"strings"
	"time"

	"gompirma/core/abi"
	"gompirma/core/insight"
)

// Call is a call of MPI that has returned, or that OpenCalls reports because it has not returned. It has facts that the
// checker knows in addition to the call's arguments. A rank is the index of a rank among those of all jobs; -1 if it is
// unknown or the call addresses no rank.
type Call struct {
	*insight.Record
	Rank   int
	Comm   *Comm
	Window *Window

	Target int   // target of an operation, or of a call such as MPI_Win_lock
	Disp   int64 // offset of an operation's data in the target's window memory; -1 if unknown
	Span   int64 // bytes from the first to the last byte of the data
	Bytes  int64 // size of the data of the operation, message or collective

	Dest    int // receiver of the message that the call sent
	Source  int // sender of the message that the call received
	Tag     int
	Senders []SendCall // the calls that sent the received data

	WaitedFor int // rank for whose action the call waited longest
	Waited    time.Duration
}

// SendCall identifies a call that has sent a message.
type SendCall struct {
	Rank, Thread int
	Start        time.Duration
}

// Comm is a communicator. Window is a window. All members share one Comm or Window.
type (
	Comm   = comm
	Window = window
)

// Label returns the name that the program or the standard has given to the communicator; "" if it has no name.
func (m *comm) Label() string {
	if m.number == 0 {
		return m.name
	}
	return m.label
}

// Number returns the number of the communicator; 0 for predefined ones.
func (m *comm) Number() int { return m.number }

// Label returns the name that the program has given to the window; "" if it has no name.
func (w *window) Label() string {
	if strings.HasPrefix(w.name, "window '") {
		return w.userName()
	}
	return ""
}

// Number returns the number of the window.
func (w *window) Number() int { return w.number }

// UserName returns the window's name as findings show it.
func (w *window) UserName() string { return w.userName() }

// Dynamic reports whether the window was created by MPI_Win_create_dynamic.
func (w *window) Dynamic() bool { return w.dynamic }

// Sizes calls the function `use` with each member that is recorded, and the size of the member's window memory in
// bytes.
func (w *window) Sizes(use func(rank int, size int64)) {
	for i, r := range w.comm.members {
		if r >= 0 {
			use(r, int64(w.parts[i].size))
		}
	}
}

// callFacts holds the facts about a call from which a checker made by Follow makes a Call.
type callFacts struct {
	record            *insight.Record // the record of the entry
	target            int
	disp, span, bytes int64
	sent, received    []*send
	waitedRank        int // the rank that the call waited for, if that rank arrived during the call
	waitedUntil       time.Duration
}

var noFacts = callFacts{target: -1, disp: -1, waitedRank: -1}

// Follow returns a checker that does not search for conflicts. The checker calls the function `use` with each call that
// has returned. The Call is valid until `use` returns.
func Follow(ranks int, use func(*Call)) *Checker {
	c := New(ranks, nil)
	c.follow = use
	for _, k := range c.ranks {
		k.clock = nil
	}
	return c
}

// RecordsLost notifies the checker that records are lost on which other records depend: records of calls that several
// ranks make together, or of calls that create or complete objects. Afterwards a checker made by Follow no
// longer reports waits between ranks and matches of messages. Any other checker ignores all later records, because a
// lost receive, completion or collective would look like a leak or a race.
func (c *Checker) RecordsLost() {
	if c.recordsLost {
		return
	}
	c.recordsLost = true
	for _, k := range c.ranks {
		// All later records are ignored, so these operations stay unresolved. Checked must not wait for them.
		k.unresolvedOps = 0
	}
}

// OpenCalls calls the function `use` with each call that has not returned.
func (c *Checker) OpenCalls(use func(*Call)) {
	for _, k := range c.ranks {
		for _, l := range k.openCalls {
			if l.record != nil {
				use(c.reportedCall(k, &event{Record: l.record,
					name: strings.TrimSuffix(l.record.Function.Name, "_c"),
					call: l}))
			}
		}
	}
}

// waitedFor records that the call may have waited for an action that a rank made at the given time. If it is called
// several times, the latest action counts.
func (a *callFacts) waitedFor(rank int, at time.Duration) {
	if a.waitedRank < 0 || at > a.waitedUntil {
		a.waitedRank, a.waitedUntil = rank, at
	}
}

// waitsExactly reports whether each member of a collective waits for all members that the table `collectives` states,
// and not for only some of them.
func waitsExactly(e *event, m *comm, base string) bool {
	switch {
	case strings.HasPrefix(base, "File_"):
		return true
	case len(m.remote) > 0, strings.HasPrefix(base, "Neighbor_"), strings.HasSuffix(base, "v"),
		strings.HasSuffix(base, "w"), base == "Reduce_scatter":
		return false
	case base == "Win_fence":
		return e.In("assert").Int()&abi.MPI_MODE_NOPRECEDE == 0
	}
	return true
}

// noteArrival records the time of a rank's arrival. If the call creates a window, it also records the rank's window
// memory as far as the arguments show it.
func (m *collectiveCall) noteArrival(k *rank, e *event) {
	m.last, m.lastAt = k.number, e.Start
	if k.number == m.root {
		m.rootAt = e.Start
	}
	if e.In("disp_unit").HasValue() && len(e.In("disp_unit").Words) > 0 || e.name == "MPI_Win_create_dynamic" {
		if m.windowParts == nil {
			m.windowParts = map[int]memberMemory{}
		}
		m.windowParts[k.number] = memoryFromCall(e)
	}
}

// noteWait records which member a rank has waited for, when the rank leaves a collective.
func (m *collectiveCall) noteWait(k *rank) {
	switch {
	case !m.waitsExactly:
	case m.flow == fromRoot && m.rootAt > 0:
		k.current.waitedFor(m.root, m.rootAt)
	case (m.flow == fromAll || m.flow == toRoot && k.number == m.root) && len(m.entered) == len(m.comm.allRanks()):
		k.current.waitedFor(m.last, m.lastAt)
	}
}

// noteOperation records the target of an operation and the target memory that the operation accesses.
func (a *callFacts) noteOperation(k *rank, e *event, w *window, target int) {
	count, datatype := e.In("target_count"), e.In("target_datatype").Uint()
	n := int64(1)
	if len(count.Words) > 0 {
		n = count.Int()
	} else {
		datatype = e.In("datatype").Uint()
	}
	a.target = target
	t := k.typeOf(datatype)
	if t == nil {
		return
	}
	a.bytes = n * t.size
	p := &w.parts[slices.Index(w.comm.members, target)]
	if low, high := t.span(n); a.bytes > 0 && p.unit > 0 {
		a.disp, a.span = e.In("target_disp").Int()*p.unit+low, high-low
	}
}

// reportedCall returns the Call for a finished or pending call.
func (c *Checker) reportedCall(k *rank, e *event) *Call {
	a := e.call
	t := &Call{Record: e.Record, Rank: k.number, Comm: k.commOf(e.In("comm").Uint()), Window: a.window,
		Target: a.target,
		Disp:   a.disp, Span: a.span, Bytes: a.bytes, Dest: -1, Source: -1, Tag: -1, WaitedFor: -1}
	if t.Window == nil {
		t.Window = k.wins[e.In("win").Uint()]
	}
	if t.Comm == nil && t.Window == nil && a.collective != nil {
		t.Comm = a.collective.comm
	}
	if r := e.In("rank"); t.Target < 0 && t.Window != nil && len(r.Words) > 0 {
		t.Target = t.Window.comm.worldRank(k, int(r.Int()))
	}
	if t.Bytes == 0 {
		t.Bytes = k.bytesMoved(e)
	}
	if len(a.sent) == 1 && a.sent[0] != nil {
		t.Dest, t.Tag = a.sent[0].to, a.sent[0].tag
	}
	if c.recordsLost {
		return t
	}
	received := int64(0)
	for _, s := range a.received {
		t.Senders = append(t.Senders, SendCall{s.site.rank, s.site.thread, s.site.start})
		received += s.data.bytes
	}
	if len(a.received) == 1 {
		t.Source = a.received[0].from
		if t.Dest < 0 {
			t.Tag = a.received[0].tag
		}
	}
	if t.Dest < 0 && len(a.received) > 0 {
		t.Bytes = received
	}
	waits := insight.MayWait(e.Function) && e.name != "MPI_Waitsome"
	if a.waitedRank >= 0 && a.waitedRank != k.number && waits && !e.Entry && a.waitedUntil > e.Start &&
		a.waitedUntil < e.End {
		t.WaitedFor, t.Waited = a.waitedRank, a.waitedUntil-e.Start
	}
	return t
}

// bytesMoved returns the number of bytes that a message call, a collective or an access to a file contributes: elements
// times the size of their datatype. For a scatter, it returns the bytes that the member receives. For a receive it
// returns 0, because the size of the message is unknown before the message arrives.
func (k *rank) bytesMoved(e *event) (bytes int64) {
	base := strings.TrimPrefix(e.name, "MPI_")
	if starting, is := strings.CutPrefix(base, "I"); is && starting != "" {
		base = strings.ToUpper(starting[:1]) + starting[1:]
	}
	if strings.HasSuffix(base, "_init") || receivesMessage("MPI_"+base) && !sendsMessage("MPI_"+base) {
		return 0
	}
	size := func(datatype string) int64 {
		if t := k.typeOf(e.In(datatype).Uint()); t != nil {
			return t.size
		}
		return 0
	}
	members := int64(1)
	if m := k.commOf(e.In("comm").Uint()); m != nil {
		members = int64(len(m.members))
		if len(m.remote) > 0 {
			members = int64(len(m.remote))
		}
	}
	in := !inPlace(e.In("sendbuf").Uint())
	if a, is := splitFileAccess(e.name); is && !a.isEnd {
		return e.In("count").Int() * size("datatype")
	}
	switch base {
	case "Send", "Bsend", "Ssend", "Rsend", "Sendrecv_replace", "Bcast", "Reduce", "Allreduce", "Scan", "Exscan":
		return e.In("count").Int() * size("datatype")
	case "Sendrecv":
		return e.In("sendcount").Int() * size("sendtype")
	case "Reduce_scatter_block":
		return members * e.In("recvcount").Int() * size("datatype")
	case "Scatter", "Scatterv":
		if !inPlace(e.In("recvbuf").Uint()) {
			return e.In("recvcount").Int() * size("recvtype")
		}
	case "Gather", "Gatherv", "Allgather", "Allgatherv", "Neighbor_allgather", "Neighbor_allgatherv":
		if in {
			return e.In("sendcount").Int() * size("sendtype")
		}
	case "Alltoall":
		if in {
			return members * e.In("sendcount").Int() * size("sendtype")
		}
		return members * e.In("recvcount").Int() * size("recvtype")
	case "Alltoallv", "Neighbor_alltoallv":
		for _, n := range e.In("sendcounts").Words {
			bytes += int64(n) * size("sendtype")
		}
	case "Reduce_scatter":
		for _, n := range e.In("recvcounts").Words {
			bytes += int64(n) * size("datatype")
		}
	}
	return bytes
}
