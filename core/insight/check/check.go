// Package check finds accesses to memory that MPI calls conflicting or erroneous and that nothing orders. Its input are
// the recorded calls of the ranks of a job (MPI-5.0 12.3, 12.7). It owns the happens-before model of a job: vector
// clocks, matching of messages and collectives, epochs of windows, and the findings. It must not know how records are
// collected, or where findings are reported.
//
// Every thread of a rank has a vector clock: it counts the thread's calls, and holds for every other thread how much of
// its history precedes. Messages, collectives and the synchronization of windows order threads of different ranks;
// events order threads within a rank. An access is made by an operation to its target or to the origin's buffer, or by
// another call to its buffers. Each access is in the space of the rank that owns the memory, from its earliest possible
// begin to its guaranteed end. A new access conflicts with an access of the space if both touch the same bytes and one
// of them writes, unless the new one is ordered after the end of the other. Wall-clock time is irrelevant. Records must
// arrive in an order in which causes precede effects (insight.Sorter).
//
// Where the order is unknown, the package assumes that one exists, so that it reports no false conflicts. For example,
// neighborhood collectives synchronize all members here, and a read of memory that accumulates have updated is ordered
// after them.
package check

import (
	"strings"
	"sync"
	"time"

	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/insight"
)

// Checker holds the state of the analysis of a job.
type Checker struct {
	ranks           []*rank
	comms           map[commKey]*comm
	locate          func(rank int, address uint64) insight.Location
	findings        []*Finding
	findingsByKey   map[findingKey]*Finding
	locationNumbers map[insight.Location]int // places of findings, numbered from 1
	windowCount     int
	commCount       int
	liveComms       map[*comm]bool // communicators that not all processes have freed
	recordCount     int            // number of records since the last call of forget
	newFindings     []*Finding
	follow          func(*Call) // set by Follow: receives the calls, and no conflicts are searched; else nil
	syncCheck       bool        // Checked will be asked for the calls that were the later ones of conflicts
	recordsLost     bool        // records were lost: collective operations and matching are unknown from then on
	event           event       // the current record
	windowCall      call        // the current operation on a window, whose state is dropped when it has returned
	strandCount     int         // number of strands that have numbers
	strict          bool        // look for sends that complete only because of buffering
	blockedReplays  []*replay   // replays with steps
}

// rank is the state of a rank.
type rank struct {
	number            int
	clock             vector // of the strand of the current record
	threads                  // the threads of the rank
	space             *space
	comms             map[uint64]*comm
	idups             []pendingIdup
	commCounts        map[string]int // number of communicators by commKey.what
	types             map[uint64]*datatype.Type
	wins              map[uint64]*window
	requests          map[uint64]*request
	infos             map[uint64]map[string]string
	liveObjects       map[object]*callSite // objects that the rank has made and not freed
	freed             freed
	hasCallbacks      bool          // callbacks of the program that MPI calls may free objects
	openCalls         map[int]*call // by thread, the call that it is in
	aliases           []alias
	heldLocks         []heldLock // locks of windows that the rank holds
	ended             bool
	current           *call
	returnedCalls     []returnedCall // calls that have returned and are not answered yet
	unraised          []conflictingCall
	replays           map[int]*replay // by thread
	hasUnknownReceive bool            // a receive has completed with an unknown message
	unresolvedOps     int             // number of its operations whose memory at the target is unknown
}

// alias is memory of another rank that is mapped in this rank's address space.
type alias struct {
	span
	window *window
	member int // whose part it is
}

// event is a record, with its function's name without the suffix _c.
type event struct {
	*insight.Record
	name string
	call *call // the state of the call since its entry
}

// call is the state of a call between its entry and its return.
type call struct {
	now        moment // the moment of the entry
	buffers    []*access
	collective *collectiveCall
	receive    *receive
	send       *send
	window     *window
	callFacts  // the data for Follow
}

// callSite identifies a call in the program.
type callSite struct {
	rank    int
	thread  int
	start   time.Duration // start time of the call
	address uint64
	name    string // name of the function
	detail  string // such as the operation
	epoch   string // epoch in which the call was made
}

// New returns a checker of a job with the given number of ranks. The function place maps an address of a rank to a
// place in the program.
func New(ranks int, place func(rank int, address uint64) insight.Location) *Checker {
	c := &Checker{strandCount: ranks, comms: map[commKey]*comm{}, liveComms: map[*comm]bool{}, locate: place,
		findingsByKey: map[findingKey]*Finding{}, locationNumbers: map[insight.Location]int{}}
	allRanks := make([]int, ranks)
	for i := range allRanks {
		allRanks[i] = i
	}
	world := &comm{name: "MPI_COMM_WORLD", members: allRanks}
	for i := range ranks {
		self := &comm{name: "MPI_COMM_SELF", members: []int{i}}
		first := &strand{number: i}
		c.ranks = append(c.ranks, &rank{number: i, clock: make(vector, ranks), space: newSpace(),
			threads:    threads{first: first, running: first},
			comms:      map[uint64]*comm{abi.MPI_COMM_WORLD: world, abi.MPI_COMM_SELF: self},
			commCounts: map[string]int{},
			types:      map[uint64]*datatype.Type{}, wins: map[uint64]*window{},
			requests: map[uint64]*request{},
			infos:    map[uint64]map[string]string{}, liveObjects: map[object]*callSite{},
			openCalls: map[int]*call{}})
	}
	return c
}

// Record processes the next record of a rank.
func (c *Checker) Record(number int, r *insight.Record) {
	k := c.ranks[number]
	if c.recordsLost && c.follow == nil {
		if c.syncCheck && r.Function != nil && !r.Entry { // the call waits until it is answered
			k.addReturned(&event{Record: r, call: &call{callFacts: noFacts}})
		}
		return
	}
	k.switchThread(r.Thread)
	if r.Function == nil {
		if len(r.Events) == 1 && r.Events[0].Kind == insight.FreeWindow {
			c.reportFreedInUse(k, r)
		} else if len(r.Events) > 0 {
			c.threadEvents(k, r)
		} else {
			c.programAccesses(k, r)
		}
		c.countRecord()
		return
	}
	e := &c.event
	*e = event{Record: r, name: strings.TrimSuffix(r.Function.Name, "_c")}
	k.tick()
	if r.Entry {
		e.call = newCall(k)
		if c.follow != nil {
			e.call.record = r.Clone()
		}
		k.openCalls[r.Thread] = e.call
		c.enterCall(k, e)
		return
	}
	if e.call = k.openCalls[r.Thread]; e.call != nil {
		delete(k.openCalls, r.Thread)
	} else {
		if e.call = &c.windowCall; insight.ChangesWindow(r.Number) {
			*e.call = call{now: k.now(), callFacts: noFacts}
		} else {
			e.call = newCall(k)
		}
		if r.Result == abi.MPI_SUCCESS {
			c.enterCall(k, e)
		}
	}
	k.current = e.call
	c.leaveCall(k, e)
	if c.syncCheck {
		k.addReturned(e)
	}
	if c.follow != nil {
		c.follow(c.reportedCall(k, e))
		return
	}
	c.countRecord()
}

// countRecord calls forget after every 4096 records.
func (c *Checker) countRecord() {
	if c.recordCount++; c.recordCount >= 4096 {
		c.recordCount = 0
		c.forget()
	}
}

// forget drops accesses that no future access can conflict with.
func (c *Checker) forget() {
	var all vector
	for _, k := range c.ranks {
		k.forgetObjects()
		if k.ended {
			continue
		}
		k.clocks(func(v vector) {
			if all == nil {
				all = v.clone()
			}
			all = all[:min(len(all), len(v))]
			for i := range all {
				all[i] = min(all[i], v[i])
			}
		})
	}
	if all == nil {
		return
	}
	for _, k := range c.ranks {
		k.space.forget(all)
	}
}

// newSite returns the site of a call.
func (k *rank) newSite(e *event) *callSite {
	return &callSite{rank: k.number, thread: e.Thread, start: e.Start, address: e.Caller, name: e.Function.Name}
}

// locationNumber returns the number of a place in the program. It is the same for all ranks.
func (c *Checker) locationNumber(s *callSite) int {
	p := c.locate(s.rank, s.address)
	if c.locationNumbers[p] == 0 {
		c.locationNumbers[p] = len(c.locationNumbers) + 1
	}
	return c.locationNumbers[p]
}

// tick advances the clock of the running strand. A checker made by Follow has no clocks.
func (k *rank) tick() {
	if len(k.clock) > 0 {
		k.clock[k.running.number]++
	}
}

func (k *rank) now() moment {
	if len(k.clock) == 0 {
		return moment{}
	}
	return moment{k.running.number, k.clock[k.running.number]}
}

func newCall(k *rank) *call { return &call{now: k.now(), callFacts: noFacts} }

// isWindowOnly holds for each function, by its number in a record, whether it is about a window only: not a collective,
// without messages, and it makes no object. These calls are more frequent than all others.
var isWindowOnly = sync.OnceValue(func() []bool {
	are := make([]bool, len(abi.Functions()))
	for i, f := range abi.Functions() {
		_, _, meets := splitCollective(strings.TrimSuffix(f.Name, "_c"))
		for _, p := range f.Params {
			are[i] = are[i] || p.Kind.Name == "WINDOW"
			meets = meets || p.Kind.Name == "COMMUNICATOR" ||
				objectNames[p.Kind.Name] != "" && p.Dir != abi.In
		}
		are[i] = are[i] && !meets
	}
	return are
})

// enterCall processes the entry of a call.
func (c *Checker) enterCall(k *rank, e *event) {
	if !isWindowOnly()[e.Number] {
		c.enterMessages(k, e)
		c.enterCollective(k, e)
	}
	c.enterWindow(k, e)
	if c.follow == nil {
		if !isWindowOnly()[e.Number] {
			c.enterBuffers(k, e, false)
		}
		c.enterUpdate(k, e)
	}
}

// leaveCall processes the return of a call.
func (c *Checker) leaveCall(k *rank, e *event) {
	succeeded := e.Result == abi.MPI_SUCCESS
	if succeeded && isWindowOnly()[e.Number] {
		c.leaveWindow(k, e)
		c.operation(k, e)
		return
	}
	c.leaveBuffers(k, e)
	if succeeded {
		c.leaveCollective(k, e)
		c.leaveMessages(k, e)
		c.addUnknownRequest(k, e)
		c.leaveWindow(k, e)
	}
	if !succeeded && c.follow == nil {
		c.reportFailure(k, e)
	}
	if s := e.call.send; !succeeded && s != nil && e.call.receive == nil {
		c.cancelRequest(k, &request{send: s}) // the message has not been sent
	}
	// these calls report the requests that they have completed
	isSome := e.name == "MPI_Waitsome" || e.name == "MPI_Testsome"
	if succeeded || isSome && e.Result == abi.MPI_ERR_IN_STATUS {
		c.completeRequests(k, e)
	} else {
		c.completeFailed(k, e)
	}
	if !succeeded {
		return
	}
	if c.follow == nil {
		c.trackObjects(k, e)
	}
	switch {
	case strings.HasPrefix(e.name, "MPI_Type_") && e.Out("newtype").HasValue():
		c.makeType(k, e)
	case e.name == "MPI_Type_free":
		delete(k.types, e.In("datatype").Uint())
	case e.name == "MPI_Alloc_mem" && e.Out("baseptr").HasValue():
		base := e.Out("baseptr").Uint()
		// forgets accesses to earlier memory at these addresses
		k.space.drop(span{base, base + e.In("size").Uint()})
	case e.name == "MPI_Finalize":
		k.ended = true
		if c.follow == nil {
			c.leaks(k)
			c.reportAtEnd()
		}
	case e.name == "MPI_Free_mem" && c.follow == nil:
		c.freedMemory(k, e)
	case strings.HasPrefix(e.name, "MPI_Info_"):
		k.trackInfo(e)
	}
	c.operation(k, e)
}

// reportFailure reports the cause of an error that MPI has returned.
func (c *Checker) reportFailure(k *rank, e *event) {
	s := k.newSite(e)
	w := k.wins[e.In("win").Uint()]
	if e.Result == abi.MPI_ERR_RMA_SYNC && w != nil {
		s.epoch = w.epochs[k.number]
		c.report(&Finding{Kind: "epoch", Window: w.userName(), Target: k.number,
			Advice: "No open epoch allows this call. Call MPI_Win_fence, MPI_Win_start or MPI_Win_lock " +
				"first."},
			callRole{s, "is erroneous"})
		return
	}
	c.reportFreedUse(k, e)
}
