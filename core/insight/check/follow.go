package check

import (
	"slices"
	"strings"
	"time"

	"gompirma/core/abi"
	"gompirma/core/insight"
)

// Call is a call that has returned, or that never did, with the facts that the checker knows beside its arguments. All
// ranks are ranks in MPI_COMM_WORLD; -1 if there is none or it is unknown.
type Call struct {
	*insight.Record
	Rank   int
	Comm   *Comm
	Window *Window

	Target int   // target of an operation, or of MPI_Win_lock and the like
	Disp   int64 // offset of an operation's data in the target's window memory; -1 if unknown
	Span   int64 // bytes from the first to the last byte of the data
	Bytes  int64 // size of the data of the operation, message or collective

	Dest   int // receiver of the message that the call sent
	Source int // sender of the message that the call received
	Tag    int
	Got    []Sent // the calls that sent the received data

	For    int // the rank that the call waited for
	Waited time.Duration
}

// Sent identifies a call that has sent a message.
type Sent struct {
	Rank, Thread int
	Start        time.Duration
}

// Comm is a communicator and Window a window. Each is shared by all its members.
type (
	Comm   = comm
	Window = window
)

// Label returns the name that the program or the standard has given to the communicator; "" if none.
func (m *comm) Label() string {
	if m.number == 0 {
		return m.name
	}
	return m.label
}

// Number returns the number of the communicator; 0 for predefined ones.
func (m *comm) Number() int { return m.number }

// Label returns the name that the program has given to the window; "" if none.
func (w *window) Label() string {
	if strings.HasPrefix(w.name, "window '") {
		return w.plain()
	}
	return ""
}

// Number returns the number of the window.
func (w *window) Number() int { return w.number }

// Plain returns the window's name as findings show it.
func (w *window) Plain() string { return w.plain() }

// Dynamic reports whether MPI_Win_create_dynamic has made the window.
func (w *window) Dynamic() bool { return w.dynamic }

// Sizes calls use with each member and the size of its part in bytes.
func (w *window) Sizes(use func(rank int, size int64)) {
	for i, r := range w.meets.members {
		use(r, int64(w.parts[i].size))
	}
}

// about holds the facts about a call that Follow reports.
type about struct {
	record            *insight.Record // of the entry
	target            int
	disp, span, bytes int64
	sent, got         []*send
	cause             int // the rank that the call waited for, if it arrived during the call
	causeAt           time.Duration
}

var unknown = about{target: -1, disp: -1, cause: -1}

// Follow returns a checker that searches for no conflicts. It calls use with each call that has returned; the Call is
// valid until use returns.
func Follow(ranks int, use func(*Call)) *Checker {
	c := New(ranks, nil)
	c.follow = use
	for _, k := range c.ranks {
		k.clock = nil
	}
	return c
}

// Broken reports to the checker that records were lost of calls that several ranks make together, or that make or
// complete objects. A checker made by Follow then no longer reports waits between ranks, nor matches of messages. Any
// other checker ignores all later records: a lost receive, completion or collective would look like a leak or a race.
func (c *Checker) Broken() {
	if c.broken {
		return
	}
	c.broken = true
	for _, k := range c.ranks {
		k.unknown = 0 // no later record resolves these operations, and Answers must not wait for that
	}
}

// Unfinished calls use with the calls that have not returned.
func (c *Checker) Unfinished(use func(*Call)) {
	for _, k := range c.ranks {
		for _, l := range k.entered {
			if l.record != nil {
				use(c.tellCall(k, &event{Record: l.record,
					name: strings.TrimSuffix(l.record.Function.Name, "_c"),
					call: l}))
			}
		}
	}
}

// await records that another rank did at a given time what the call may have waited for. The latest one counts.
func (a *about) await(rank int, at time.Duration) {
	if a.cause < 0 || at > a.causeAt {
		a.cause, a.causeAt = rank, at
	}
}

// exactly reports whether a collective makes its members wait as the table collectives says, not less.
func exactly(e *event, m *comm, base string) bool {
	switch {
	case len(m.remote) > 0, strings.HasPrefix(base, "Neighbor_"), strings.HasSuffix(base, "v"),
		strings.HasSuffix(base, "w"), base == "Reduce_scatter":
		return false
	case base == "Win_fence":
		return e.In("assert").Int()&abi.MPI_MODE_NOPRECEDE == 0
	}
	return true
}

// gives records the time of a rank's arrival, and its arguments about the window that the call makes.
func (m *meeting) gives(k *rank, e *event) {
	m.last, m.lastAt = k.number, e.Start
	if k.number == m.root {
		m.rootAt = e.Start
	}
	if e.In("disp_unit").Given() && len(e.In("disp_unit").Words) > 0 || e.name == "MPI_Win_create_dynamic" {
		if m.parts == nil {
			m.parts = map[int]part{}
		}
		m.parts[k.number] = partOf(e)
	}
}

// awaited records the member that a leaving rank has waited for.
func (m *meeting) awaited(k *rank) {
	switch {
	case !m.exact:
	case m.flow == fromRoot && m.rootAt > 0:
		k.current.await(m.root, m.rootAt)
	case (m.flow == fromAll || m.flow == toRoot && k.number == m.root) && len(m.entered) == len(m.comm.everybody()):
		k.current.await(m.last, m.lastAt)
	}
}

// operates records the memory that an operation accesses.
func (a *about) operates(k *rank, e *event, w *window, target int) {
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
	a.bytes = n * t.Size()
	p := &w.parts[slices.Index(w.meets.members, target)]
	if low, high, ok := t.Layout().Bounds(n); ok && a.bytes > 0 && p.unit > 0 {
		a.disp, a.span = e.In("target_disp").Int()*p.unit+low, high-low
	}
}

// tellCall returns the Call for a finished or pending call.
func (c *Checker) tellCall(k *rank, e *event) *Call {
	a := e.call
	t := &Call{Record: e.Record, Rank: k.number, Comm: k.comm(e.In("comm").Uint()), Window: a.window,
		Target: a.target,
		Disp:   a.disp, Span: a.span, Bytes: a.bytes, Dest: -1, Source: -1, Tag: -1, For: -1}
	if t.Window == nil {
		t.Window = k.wins[e.In("win").Uint()]
	}
	if t.Comm == nil && t.Window == nil && a.meeting != nil {
		t.Comm = a.meeting.comm
	}
	if r := e.In("rank"); t.Target < 0 && t.Window != nil && len(r.Words) > 0 {
		t.Target = t.Window.meets.world(k, int(r.Int()))
	}
	if t.Bytes == 0 {
		t.Bytes = k.moved(e)
	}
	if len(a.sent) == 1 && a.sent[0] != nil {
		t.Dest, t.Tag = a.sent[0].to, a.sent[0].tag
	}
	if c.broken {
		return t
	}
	received := int64(0)
	for _, s := range a.got {
		t.Got = append(t.Got, Sent{s.site.rank, s.site.thread, s.site.start})
		received += s.data.bytes
	}
	if len(a.got) == 1 {
		t.Source = a.got[0].from
		if t.Dest < 0 {
			t.Tag = a.got[0].tag
		}
	}
	if t.Dest < 0 && len(a.got) > 0 {
		t.Bytes = received
	}
	waits := insight.MayWait(e.Function) && e.name != "MPI_Waitsome"
	if a.cause >= 0 && a.cause != k.number && waits && !e.Entry && a.causeAt > e.Start && a.causeAt < e.End {
		t.For, t.Waited = a.cause, a.causeAt-e.Start
	}
	return t
}

// moved returns the number of bytes that a message call or a collective passes in: elements times the size of their
// datatype. Scattered data count at the receiver; data of a receive are unknown before its message arrives.
func (k *rank) moved(e *event) (bytes int64) {
	base := strings.TrimPrefix(e.name, "MPI_")
	if starting, is := strings.CutPrefix(base, "I"); is && starting != "" {
		base = strings.ToUpper(starting[:1]) + starting[1:]
	}
	if strings.HasSuffix(base, "_init") || receives("MPI_"+base) && !sends("MPI_"+base) {
		return 0
	}
	size := func(datatype string) int64 {
		if t := k.typeOf(e.In(datatype).Uint()); t != nil {
			return t.Size()
		}
		return 0
	}
	members := int64(1)
	if m := k.comm(e.In("comm").Uint()); m != nil {
		members = int64(len(m.members))
		if len(m.remote) > 0 {
			members = int64(len(m.remote))
		}
	}
	in := !inPlace(e.In("sendbuf").Uint())
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
