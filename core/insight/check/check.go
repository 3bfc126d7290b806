// Package check finds accesses to memory that MPI calls conflicting or erroneous and that nothing orders, in what the
// ranks of a job have called (MPI-5.0 12.3, 12.7).
//
// Every thread of a rank has a clock, which counts its calls and knows how much of each other one's history it comes
// after: by messages, collectives and the synchronization of windows, and within a rank by what orders threads. Every
// access, of an operation at its target, of it with the origin's buffer, and of other calls with theirs, lies in the
// space of the rank whose memory it is, from when it may begin until it has surely ended. A new access conflicts with
// one of that space that touches the same bytes, of which one writes, if it does not come after that one's end; time
// plays no part. Calls must come in an order in which causes are before effects (insight.Order).
//
// What is not known is taken for ordered, so that nothing is found that is not there: collectives over neighbours
// synchronize all members here, and whoever reads what accumulates have written comes after those.
package check

import (
	"strings"
	"sync"
	"time"

	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/insight"
)

// Checker is what is known of a job.
type Checker struct {
	ranks         []*rank
	comms         map[commKey]*comm
	place         func(rank int, address uint64) insight.Place
	findings      []*Finding
	known         map[findingKey]*Finding
	places        map[insight.Place]int // that findings are about, numbered from 1
	windows       int
	communicators int            // how many have been made
	live          map[*comm]bool // those that not all processes have freed
	calls         int            // and other records since the last look for what can be forgotten
	news          []*Finding
	follow        func(*Call) // who only wants to know what calls are about; nil: conflicts are looked for
	answers       bool        // it is asked which calls were the later ones of conflicts (Answers)
	broken        bool        // records were lost: nothing is known any longer of what several ranks do together
	event         event       // the record that is looked at
	operates      call        // of an operation on a window, of which nothing is kept when it has returned
	strands       int         // how many have numbers
	strict        bool        // sends that are complete because they are buffered are looked for
	blocked       []*replay   // that have steps
}

// rank is what is known of one.
type rank struct {
	number   int
	clock    vector // of the strand that the record at hand is of
	threads         // that it has
	space    *space
	comms    map[uint64]*comm
	idups    []idup
	made     map[string]int // communicators, by commKey.what
	types    map[uint64]*datatype.Type
	wins     map[uint64]*window
	requests map[uint64]*request
	infos    map[uint64]map[string]string
	live     map[object]*site // what it has made, and has not freed
	freed    freed
	hidden   bool          // functions of the program that MPI calls may free something
	entered  map[int]*call // of threads that are in a call
	aliases  []alias
	held     []hold // locks of windows
	ended    bool
	current  *call
	asked    []asked // calls that have returned, and of which nothing has been said
	later    []later
	replays  map[int]*replay // by thread
	missed   bool            // a receive has got a message that is not known
	unknown  int             // operations of it of which the target's memory is not known
}

// alias is memory of another rank that is mapped here.
type alias struct {
	span
	window *window
	member int // whose part it is
}

// event is a record, without the _c of its name.
type event struct {
	*insight.Record
	name string
	call *call // what has been noted of the call since it was entered
}

// call is what is remembered between a call's entry and its return.
type call struct {
	now     moment // of the entry
	buffers []*access
	meeting *meeting
	receive *receive
	send    *send
	window  *window
	about   // what Follow tells
}

// site is a place in the program that calls.
type site struct {
	rank    int
	thread  int
	start   time.Duration // of the call
	address uint64
	name    string // of the function
	detail  string // such as the operation
	epoch   string // in which the call was made
}

// New returns a checker of a job with so many ranks. place finds out where in the program a rank has called from.
func New(ranks int, place func(rank int, address uint64) insight.Place) *Checker {
	c := &Checker{strands: ranks, comms: map[commKey]*comm{}, live: map[*comm]bool{}, place: place,
		known: map[findingKey]*Finding{}, places: map[insight.Place]int{}}
	everybody := make([]int, ranks)
	for i := range everybody {
		everybody[i] = i
	}
	world := &comm{name: "MPI_COMM_WORLD", members: everybody}
	for i := range ranks {
		self := &comm{name: "MPI_COMM_SELF", members: []int{i}}
		first := &strand{number: i}
		c.ranks = append(c.ranks, &rank{number: i, clock: make(vector, ranks), space: newSpace(),
			threads: threads{first: first, running: first},
			comms:   map[uint64]*comm{abi.MPI_COMM_WORLD: world, abi.MPI_COMM_SELF: self},
			made:    map[string]int{},
			types:   map[uint64]*datatype.Type{}, wins: map[uint64]*window{},
			requests: map[uint64]*request{},
			infos:    map[uint64]map[string]string{}, live: map[object]*site{},
			entered: map[int]*call{}})
	}
	return c
}

// Record takes the next record of a rank.
func (c *Checker) Record(number int, r *insight.Record) {
	k := c.ranks[number]
	if c.broken && c.follow == nil {
		if c.answers && r.Function != nil && !r.Entry { // the call waits until it is answered
			k.asks(&event{Record: r, call: &call{about: unknown}})
		}
		return
	}
	k.turn(r.Thread)
	if r.Function == nil {
		if len(r.Events) == 1 && r.Events[0].What == insight.Give {
			c.given(k, r)
		} else if len(r.Events) > 0 {
			c.orders(k, r)
		} else {
			c.own(k, r)
		}
		c.counts()
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
		k.entered[r.Thread] = e.call
		c.entry(k, e)
		return
	}
	if e.call = k.entered[r.Thread]; e.call != nil {
		delete(k.entered, r.Thread)
	} else {
		if e.call = &c.operates; insight.Operates(r.Number) {
			*e.call = call{now: k.now(), about: unknown}
		} else {
			e.call = newCall(k)
		}
		if r.Result == abi.MPI_SUCCESS {
			c.entry(k, e)
		}
	}
	k.current = e.call
	c.returned(k, e)
	if c.answers {
		k.asks(e)
	}
	if c.follow != nil {
		c.follow(c.tellCall(k, e))
		return
	}
	c.counts()
}

// counts looks every so often for what can be forgotten.
func (c *Checker) counts() {
	if c.calls++; c.calls >= 4096 {
		c.calls = 0
		c.forget()
	}
}

// forget drops accesses that nothing can conflict with any longer.
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

// site returns the place of a call.
func (k *rank) site(e *event) *site {
	return &site{rank: k.number, thread: e.Thread, start: e.Start, address: e.Caller, name: e.Function.Name}
}

// placeOf returns the number of a place in the program, which is the same for all ranks.
func (c *Checker) placeOf(s *site) int {
	p := c.place(s.rank, s.address)
	if c.places[p] == 0 {
		c.places[p] = len(c.places) + 1
	}
	return c.places[p]
}

// tick counts a call of the strand. Who only follows has no clocks.
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

func newCall(k *rank) *call { return &call{now: k.now(), about: unknown} }

// ofWindow says of each function, by its number in a record, whether it is about a window and nothing else: neither a
// collective nor of messages, and it makes no object. They come in greater numbers than all others.
var ofWindow = sync.OnceValue(func() []bool {
	are := make([]bool, len(abi.Functions()))
	for i, f := range abi.Functions() {
		_, _, meets := collective(strings.TrimSuffix(f.Name, "_c"))
		for _, p := range f.Params {
			are[i] = are[i] || p.Kind.Name == "WINDOW"
			meets = meets || p.Kind.Name == "COMMUNICATOR" ||
				objectNames[p.Kind.Name] != "" && p.Dir != abi.In
		}
		are[i] = are[i] && !meets
	}
	return are
})

// entry is what a call does when it begins.
func (c *Checker) entry(k *rank, e *event) {
	if !ofWindow()[e.Number] {
		c.enterMessages(k, e)
		c.enterCollective(k, e)
	}
	c.enterWindow(k, e)
	if c.follow == nil {
		if !ofWindow()[e.Number] {
			c.enterBuffers(k, e, false)
		}
		c.enterUpdate(k, e)
	}
}

// returned is what has happened when a call has returned.
func (c *Checker) returned(k *rank, e *event) {
	fine := e.Result == abi.MPI_SUCCESS
	if fine && ofWindow()[e.Number] {
		c.leaveWindow(k, e)
		c.operation(k, e)
		return
	}
	c.leaveBuffers(k, e)
	if fine {
		c.leaveCollective(k, e)
		c.leaveMessages(k, e)
		c.beginUnknown(k, e)
		c.leaveWindow(k, e)
	}
	if !fine && c.follow == nil {
		c.failed(k, e)
	}
	if s := e.call.send; !fine && s != nil && e.call.receive == nil {
		c.cancelled(k, &request{send: s}) // it has not been sent
	}
	some := e.name == "MPI_Waitsome" || e.name == "MPI_Testsome" // which say what they have completed
	if fine || some && e.Result == abi.MPI_ERR_IN_STATUS {
		c.complete(k, e)
	} else {
		c.completeFailed(k, e)
	}
	if !fine {
		return
	}
	if c.follow == nil {
		c.objects(k, e)
	}
	switch {
	case strings.HasPrefix(e.name, "MPI_Type_") && e.Out("newtype").Given():
		c.makeType(k, e)
	case e.name == "MPI_Type_free":
		delete(k.types, e.In("datatype").Uint())
	case e.name == "MPI_Alloc_mem" && e.Out("baseptr").Given():
		base := e.Out("baseptr").Uint()
		k.space.drop(span{base, base + e.In("size").Uint()}) // what was there before
	case e.name == "MPI_Finalize":
		k.ended = true
		if c.follow == nil {
			c.leaks(k)
			c.finalized()
		}
	case e.name == "MPI_Free_mem" && c.follow == nil:
		c.freedMemory(k, e)
	case strings.HasPrefix(e.name, "MPI_Info_"):
		k.info(e)
	}
	c.operation(k, e)
}

// failed looks at what was wrong with a call that MPI has refused.
func (c *Checker) failed(k *rank, e *event) {
	s := k.site(e)
	w := k.wins[e.In("win").Uint()]
	if e.Result == abi.MPI_ERR_RMA_SYNC && w != nil {
		s.epoch = w.epochs[k.number]
		c.tell(&Finding{Kind: "epoch", Window: w.plain(), Target: k.number,
			Advice: "there is no epoch in which the call is allowed"}, spot{s, "is refused"})
		return
	}
	c.misused(k, e)
}
