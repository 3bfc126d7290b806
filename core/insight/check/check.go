// Package check finds memory accesses that conflict in the sense of MPI (MPI-5.0 12.3, 12.7) and that nothing orders.
// It also finds erroneous MPI calls. Its input is the recorded calls of the ranks of a job. It owns the happens-before
// model of a job: vector clocks, matching of messages and collectives, epochs of windows, and the findings. It does not
// depend on how records are collected, or where findings are reported.
//
// Every thread of a rank has a vector clock. The clock counts the thread's calls. For every other thread, it holds the
// number of calls of the other thread that precede this thread's current call. Messages, collectives and the
// synchronization of windows order threads of different ranks; events order threads within a rank.
//
// An operation accesses its target's memory and the origin's buffers. Other calls access their buffers. The checker
// keeps each access in the space (space.go) of the rank that owns the memory. An access lasts from its earliest
// possible beginning to its guaranteed end. A new access conflicts with an earlier access in the space if both touch
// the same bytes and at least one of them writes. There is no conflict if the new access is ordered after the end of
// the earlier access. Wall-clock time is irrelevant. Records must arrive in an order in which causes precede effects
// (insight.Sorter).
//
// The ranks of several jobs have consecutive numbers. If ranks communicate with processes that are not recorded, these
// processes count as one: each call of a communicator with such members comes before the completion of each later one.
//
// Where the order is unknown, the package assumes that an order exists, so that it reports no false conflicts. For
// example, it assumes that neighborhood collectives synchronize all members, and that a read of memory is ordered after
// the accumulates that have updated the memory.
package check

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"gompirma/core/abi"
	"gompirma/core/insight"
)

// Checker holds the state of the analysis of a job.
type Checker struct {
	ranks           []*rank      // ranks of all jobs, by the indices of their parts of the memory for records
	jobs            insight.Jobs // indices of the first ranks of the jobs
	comms           map[commKey]*comm
	locate          func(rank int, address uint64) insight.Location
	findings        []*Finding
	findingsByKey   map[findingKey]*Finding
	locationNumbers map[insight.Location]int // numbers of the program locations of findings, from 1
	windowCount     int
	commCount       int
	liveComms       map[*comm]bool // communicators that at least one process has not freed
	openFiles       map[*file]bool // files that at least one process has not closed
	recordCount     int            // number of records since the last call of forget
	newFindings     []*Finding
	follow          func(*Call) // set by Follow: called with each call; the checker then searches for no conflicts
	syncCheck       bool        // the caller will call Checked
	recordsLost     bool        // records were lost, so the state of collectives and messages is unknown
	event           event       // the current record
	windowCall      call        // state of the current operation on a window; reused for the next one
	strandCount     int         // number of strand numbers in use
	strict          bool        // search for sends that complete only because of buffering
	blockedReplays  []*replay   // threads with steps that cannot be replayed yet (strict.go)
	hasUnknown      bool        // a communicator has members that are not recorded
	unknown         vector      // clock of the calls that members which are not recorded may have noticed
}

// rank is the state of a rank.
type rank struct {
	number            int
	clock             vector // clock of the current record's strand (threads.go)
	threads                  // the threads of the rank
	space             *space
	comms             map[uint64]*comm
	idups             []pendingIdup
	commCounts        map[string]int // for each commKey.description, the number of communicators with it
	types             map[uint64]*typemap
	wins              map[uint64]*window
	requests          map[uint64]*request
	files             map[uint64]*file
	splits            map[uint64]*request // by handle of the file, the split collectives that are active
	infos             map[uint64]map[string]string
	liveObjects       map[object]*callSite // objects that the rank has made and not freed
	freed             freed
	sessions          int           // number of its sessions
	hasWorld          bool          // the rank has called MPI_Init, but not MPI_Finalize
	hasCallbacks      bool          // the program has callbacks, called by MPI, that may free objects
	openCalls         map[int]*call // by thread, the call that the thread is in
	aliases           []alias
	heldLocks         []heldLock // locks that the rank holds on windows
	ended             bool
	current           *call
	returnedCalls     []returnedCall // returned calls whose results wait for Checked
	unraised          []conflictingCall
	replays           map[int]*replay // by thread
	hasUnknownReceive bool            // a receive of the rank has completed, but its message is unknown
	unresolvedOps     int             // number of operations whose bytes at the target are unknown
}

// alias is another rank's window memory that is mapped in this rank's address space.
type alias struct {
	span
	window *window
	member int // index of the member that owns the memory
}

// event is a record of a call. name is the function's name without the suffix _c.
type event struct {
	*insight.Record
	name string
	call *call // the state of the call since its entry
}

// call is the state of a call between its entry and its return.
type call struct {
	now        timestamp // timestamp of the entry into the call
	buffers    []*access
	fileAccess *access // the access to bytes of a file
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
	detail  string // for example the name of the operation (MPI_SUM)
	epoch   string // epoch in which the call was made
}

// New returns a checker of a job with the given number of ranks, to which AddJob may add further jobs. The function
// place maps a code address of a rank to its location in the program.
func New(ranks int, place func(rank int, address uint64) insight.Location) *Checker {
	c := &Checker{comms: map[commKey]*comm{}, liveComms: map[*comm]bool{},
		openFiles: map[*file]bool{}, locate: place,
		findingsByKey: map[findingKey]*Finding{}, locationNumbers: map[insight.Location]int{}}
	c.AddJob(ranks)
	return c
}

// AddJob adds the ranks of a job that ranks have started with MPI_Comm_spawn. Their numbers follow those of all other
// ranks. It must be called before the first record of these ranks. The checker does not need to order them after the
// start: ranks of two jobs share memory only after a collective call of both.
func (c *Checker) AddJob(ranks int) {
	first := len(c.ranks)
	world := &comm{name: "MPI_COMM_WORLD"}
	if len(c.jobs) > 0 {
		world.name = fmt.Sprintf("MPI_COMM_WORLD of job %d", len(c.jobs))
	}
	c.jobs = append(c.jobs, first)
	var clock vector
	for i := first; i < first+ranks; i++ {
		world.members = append(world.members, i)
		self := &comm{name: "MPI_COMM_SELF", members: []int{i}}
		first := &strand{number: c.strandCount}
		c.strandCount++
		if c.follow == nil {
			clock = make(vector, c.strandCount)
		}
		c.ranks = append(c.ranks, &rank{number: i, clock: clock, space: newSpace(),
			threads:    threads{first: first, running: first},
			comms:      map[uint64]*comm{abi.MPI_COMM_WORLD: world, abi.MPI_COMM_SELF: self},
			commCounts: map[string]int{},
			types:      map[uint64]*typemap{}, wins: map[uint64]*window{},
			requests: map[uint64]*request{}, files: map[uint64]*file{}, splits: map[uint64]*request{},
			infos: map[uint64]map[string]string{}, liveObjects: map[object]*callSite{},
			openCalls: map[int]*call{}})
	}
}

// HasUnknown reports whether a communicator has members that are not recorded.
func (c *Checker) HasUnknown() bool { return c.hasUnknown }

// Record processes the next record of a rank.
func (c *Checker) Record(number int, r *insight.Record) {
	k := c.ranks[number]
	if c.recordsLost && c.follow == nil {
		if c.syncCheck && r.Function != nil && !r.Entry { // the call waits until it has been checked
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

// forget drops accesses with which no future access can conflict.
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
		k.space.forget(func(a *access) bool { return a.endedBefore(all) })
	}
	for f := range c.openFiles {
		f.forget(all)
	}
}

// meetsUnknown reports whether a call uses a communicator, window or file with members that are not recorded.
func (k *rank) meetsUnknown(e *event) bool {
	if w := k.wins[e.In("win").Uint()]; w != nil {
		return w.comm.unknownCount > 0
	}
	if f := k.files[e.In("fh").Uint()]; f != nil {
		return f.comm.unknownCount > 0
	}
	for _, name := range []string{"comm", "intercomm"} {
		if m := k.commOf(e.In(name).Uint()); m != nil {
			return m.unknownCount > 0
		}
	}
	return false
}

// newSite returns the callSite of a call.
func (k *rank) newSite(e *event) *callSite {
	return &callSite{rank: k.number, thread: e.Thread, start: e.Start, address: e.Caller, name: e.Function.Name}
}

// locationNumber returns the number of the program location from which a call was made. The number is the same for all
// ranks.
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

func (k *rank) now() timestamp {
	if len(k.clock) == 0 {
		return timestamp{}
	}
	return timestamp{k.running.number, k.clock[k.running.number]}
}

func newCall(k *rank) *call { return &call{now: k.now(), callFacts: noFacts} }

// isWindowOnly reports for each function, by its number in a record, whether the function only uses a window. It
// returns false for collectives, and for functions that send or receive messages or create objects. Calls that only use
// a window are more frequent than all other calls.
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
	if c.hasUnknown && k.meetsUnknown(e) {
		c.unknown.join(k.clock)
	}
	if !isWindowOnly()[e.Number] {
		c.enterMessages(k, e)
		c.enterCollective(k, e)
	}
	c.enterWindow(k, e)
	if c.follow == nil {
		if !isWindowOnly()[e.Number] {
			c.enterBuffers(k, e, false)
			c.enterFile(k, e)
		}
		c.enterUpdate(k, e)
	}
}

// leaveCall processes the return of a call.
func (c *Checker) leaveCall(k *rank, e *event) {
	succeeded := e.Result == abi.MPI_SUCCESS
	if c.hasUnknown && (k.meetsUnknown(e) || len(e.In("request").Words)+len(e.In("array_of_requests").Words) > 0) {
		k.clock.join(c.unknown)
	}
	if succeeded && isWindowOnly()[e.Number] {
		c.leaveWindow(k, e)
		c.operation(k, e)
		return
	}
	c.leaveBuffers(k, e)
	c.leaveFile(k, e)
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
	// even if these calls return an error, they also return which requests they have completed
	isSome := e.name == "MPI_Waitsome" || e.name == "MPI_Testsome"
	if succeeded || isSome && e.Result == abi.MPI_ERR_IN_STATUS {
		c.completeRequests(k, e)
	} else {
		c.completeFailed(k, e)
	}
	if !succeeded && !closesFile(e) {
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
		// drops accesses to memory that was at these addresses before
		k.space.drop(span{base, base + e.In("size").Uint()})
	case e.name == "MPI_Session_init":
		k.sessions++
		k.ended = false
	case e.name == "MPI_Init" || e.name == "MPI_Init_thread":
		k.hasWorld, k.ended = true, false
	case e.name == "MPI_Finalize" || e.name == "MPI_Session_finalize":
		c.endOfRank(k, e.name)
	case e.name == "MPI_Free_mem" && c.follow == nil:
		c.freedMemory(k, e)
	case strings.HasPrefix(e.name, "MPI_Info_"):
		k.trackInfo(e)
	}
	c.operation(k, e)
}

// endOfRank records that a rank has called MPI_Finalize or MPI_Session_finalize. After the last of these calls it
// reports the objects that the rank has not freed.
func (c *Checker) endOfRank(k *rank, name string) {
	if name == "MPI_Finalize" {
		k.hasWorld = false
	} else {
		k.sessions--
	}
	if k.hasWorld || k.sessions > 0 {
		return
	}
	k.ended = true
	if c.follow == nil {
		c.leaks(k)
		c.reportAtEnd()
	}
}

// reportFailure reports why MPI has returned an error, if the checker knows the cause.
func (c *Checker) reportFailure(k *rank, e *event) {
	s := k.newSite(e)
	w := k.wins[e.In("win").Uint()]
	if e.Result == abi.MPI_ERR_RMA_SYNC && w != nil {
		s.epoch = w.epochs[k.number]
		c.report(&Finding{Kind: "epoch", Window: w.userName(), Target: k.number,
			Advice: "No epoch that permits this call is open. Open one first (MPI_Win_fence, " +
				"MPI_Win_start or MPI_Win_lock), or end the open epoch."},
			callRole{s, "is not permitted"})
		return
	}
	c.reportFreedUse(k, e)
}
