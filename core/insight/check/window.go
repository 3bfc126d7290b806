package check

import (
	"fmt"
	"slices"
	"strings"

	"gompirma/core/abi"
)

// window is a window, shared by all its members.
type window struct {
	name    string
	number  int
	dynamic bool
	owned   bool  // the library allocated its memory
	freeing int   // number of members that have called MPI_Win_free
	meets   *comm // its members, and their collective calls on it
	parts   []part
	open    map[int][]*operation // by origin, operations that are not complete at their targets
	// By strand, its operations that another strand has ended.
	elsewhere map[int][]*operation
	locks     map[int]*lockState  // by target
	posts     map[int][]*exposure // by target, exposure epochs that have not ended
	turns     map[[2]int]*turns   // by origin and target
	epochs    map[int]string      // by rank, the kind of its current epoch
	hints     map[string]string
	stored    map[int]*site       // by rank, the last write to its memory since it synchronized
	started   map[int][]int       // by origin, the targets of its access epoch
	fences    map[int]int         // by rank, the number of its fences
	attached  map[attached]uint64 // sizes of the memory attached to a dynamic window
	noput     map[[2]int]*site    // by rank and number of the fence, the fences with MPI_MODE_NOPUT
}

// part is a member's memory of a window.
type part struct {
	known bool // the creation of the window has returned at the member
	base  uint64
	size  uint64
	unit  int64
	begun []vector // clocks of updates that began before known; a rank that sees the updates is ordered after them
	late  []func() // add the accesses that were made before known
}

// hold is a lock that a rank holds.
type hold struct {
	window    *window
	target    int
	exclusive bool
}

// lockState holds the clocks of earlier holders of a target's lock, which later holders are ordered after.
type lockState struct {
	exclusive, shared vector
	epochs            []*lockEpoch // for the checks of assertions
}

// exposure is an exposure epoch of a target.
type exposure struct {
	target    int
	origins   []int
	clock     vector
	completed map[int]completion
	done      []*operation // operations that are complete at the target when the epoch ends
	number    map[int]int  // by origin, the number of the epoch of the pair
	at        moment
	site      *site
	noput     bool
	unchecked bool
}

// completion is the end of an access epoch at an origin.
type completion struct {
	clock vector
	site  *site
}

// turns counts the epochs of an origin at a target.
type turns struct {
	started, posted int
	completed       map[int]completion // by epoch number, for epochs that the target has not posted
	early           []*operation       // operations of epochs that the target has not posted
	unchecked       map[int]*site      // by epoch number, starts that assert that the target has posted
}

// makeWindow records the window that a rank has received.
func (c *Checker) makeWindow(k *rank, e *event) {
	meet := e.call.meeting
	if meet == nil || !e.Out("win").Given() {
		return
	}
	w := meet.window
	if w == nil {
		c.windows++
		w = &window{number: c.windows, dynamic: e.name == "MPI_Win_create_dynamic",
			owned: strings.HasPrefix(e.name, "MPI_Win_allocate"),
			meets: &comm{members: meet.comm.members}, parts: make([]part, len(meet.comm.members)),
			open: map[int][]*operation{}, elsewhere: map[int][]*operation{},
			locks: map[int]*lockState{}, posts: map[int][]*exposure{},
			turns: map[[2]int]*turns{}, epochs: map[int]string{}, stored: map[int]*site{},
			started: map[int][]int{}, fences: map[int]int{}, noput: map[[2]int]*site{}}
		for i, r := range w.meets.members { // all members have passed their arguments before any has the window
			w.parts[i] = meet.parts[r]
		}
		w.name = fmt.Sprintf("window %d", w.number)
		w.meets.name = w.name
		meet.window = w
	}
	p := partOf(e)
	if v := e.Out("baseptr"); v.Given() {
		p.base = v.Uint()
	}
	k.wins[e.Out("win").Uint()] = w
	e.call.window = w
	w.hints = hintsOf(k, e)
	if i := slices.Index(w.meets.members, k.number); i >= 0 {
		p.known = true
		late := w.parts[i].late
		p.begun = w.parts[i].begun
		w.parts[i] = p
		for _, add := range late {
			add()
		}
		c.hintsOfWindow(k, e, w)
	}
}

// partOf returns the rank's part of a new window, as far as the arguments of the call show it.
func partOf(e *event) part {
	p := part{base: e.In("base").Uint(), size: e.In("size").Uint(), unit: e.In("disp_unit").Int()}
	if e.name == "MPI_Win_create_dynamic" {
		p.unit = 1
	}
	return p
}

// lockOf returns the state of a target's lock.
func (w *window) lockOf(target int) *lockState {
	if w.locks[target] == nil {
		w.locks[target] = &lockState{}
	}
	return w.locks[target]
}

func (w *window) turnsOf(origin, target int) *turns {
	key := [2]int{origin, target}
	if w.turns[key] == nil {
		w.turns[key] = &turns{}
	}
	return w.turns[key]
}

// enterWindow processes the entry of a call on a window.
func (c *Checker) enterWindow(k *rank, e *event) {
	w := k.wins[e.In("win").Uint()]
	if w == nil {
		return
	}
	e.call.window = w
	switch e.name {
	case "MPI_Win_lock", "MPI_Win_lock_all":
		if w.hints["no_locks"] == "true" {
			c.hintFails("no_locks", k.site(e), w, "The info key no_locks promises that no process locks "+
				"the window. Remove "+
				"the key or the lock.")
		}
	case "MPI_Win_start":
		c.started(k, e, w)
	case "MPI_Win_fence", "MPI_Win_free":
		if e.name == "MPI_Win_fence" {
			c.fenceAsserts(k, e, w)
		}
		w.take(k, func(o *operation) bool {
			c.done(o, e.call.now)
			return true
		})
		if e.name == "MPI_Win_free" {
			c.givesBack(w)
		}
	case "MPI_Win_post":
		c.posted(k, e, w)
	case "MPI_Win_complete":
		c.completes(k, w, k.site(e))
	case "MPI_Win_unlock", "MPI_Win_unlock_all":
		for _, h := range k.held {
			if h.window != w || e.name == "MPI_Win_unlock" && h.target != w.meets.world(k,
				int(e.In("rank").Int())) {
				continue
			}
			state := w.lockOf(h.target)
			to := &state.shared
			if h.exclusive {
				to = &state.exclusive
			}
			if *to == nil {
				*to = k.clock.clone()
			}
			to.join(k.clock)
			for _, x := range state.epochs {
				if x.rank == k.number && !x.over {
					x.over, x.end = true, e.call.now
				}
			}
		}
	}
}

// givesBack records that one more member frees a window. No member returns before all have called. Then the library may
// reuse its memory, so earlier accesses conflict with nothing that follows.
func (c *Checker) givesBack(w *window) {
	if w.freeing++; w.freeing < len(w.meets.members) || !w.owned {
		return
	}
	for i, r := range w.meets.members {
		if p := &w.parts[i]; p.known && p.size > 0 {
			c.ranks[r].space.drop(span{p.base, p.base + p.size})
		}
	}
}

// completes ends an access epoch with regard to its targets. Their exposure epochs end later; operations that read end
// now.
func (c *Checker) completes(k *rank, w *window, s *site) {
	for _, target := range w.started[k.number] {
		t := w.turnsOf(k.number, target)
		if x := w.exposureOf(k.number, target, t.started-1); x != nil {
			x.completed[k.number] = completion{k.clock.clone(), s}
		} else { // the target has not posted it
			if t.completed == nil {
				t.completed = map[int]completion{}
			}
			t.completed[t.started-1] = completion{k.clock.clone(), s}
		}
	}
	delete(w.started, k.number)
	w.take(k, func(o *operation) bool {
		if x := w.exposureOf(k.number, o.target, o.turn); x != nil {
			x.done = append(x.done, o)
		}
		if o.reads {
			c.doneThere(o, k.now())
		}
		o.completed = true
		return false
	})
}

// mostElsewhere is the largest number of operations of a strand that other strands have ended and the strand itself has
// not.
const mostElsewhere = 1 << 14

// take calls use with the operations of a rank that are under way and precede the current call. Operations of other
// threads may follow it in another run; the call does not end those. An operation is no longer under way when use
// returns true. If another strand than its own ended an operation, use is called again from its own strand, which need
// not be ordered after the other.
func (w *window) take(k *rank, use func(*operation) bool) {
	self := k.now().strand
	if mine := w.elsewhere[self]; len(mine) > 0 {
		if mine = slices.DeleteFunc(mine, use); len(mine) == 0 {
			delete(w.elsewhere, self)
		} else {
			w.elsewhere[self] = mine
		}
	}
	w.open[k.number] = slices.DeleteFunc(w.open[k.number], func(o *operation) bool {
		if !o.began.before(k.clock) || !use(o) {
			return false
		}
		w.endedBy(k, o)
		return true
	})
}

// endedBy records an operation that has ended, if a strand other than its own has ended it.
func (w *window) endedBy(k *rank, o *operation) {
	own := o.began.strand
	if k.inside == nil || own == k.now().strand {
		return
	}
	if len(w.elsewhere[own]) == mostElsewhere {
		w.elsewhere[own] = slices.Delete(w.elsewhere[own], 0, mostElsewhere/2)
	}
	w.elsewhere[own] = append(w.elsewhere[own], o)
}

// Advice on assertions that are not true.
const (
	noStore = "MPI_MODE_NOSTORE promises no stores to the local window memory since the last synchronization. " +
		"Remove the " +
		"assertion, or synchronize after the store."
	noPut = "MPI_MODE_NOPUT promises that no put or accumulate changes this memory until the next " +
		"synchronization. " +
		"Remove the assertion."
	postBeforeStart = "MPI_MODE_NOCHECK promises that MPI_Win_post is called before MPI_Win_start, but nothing " +
		"orders " +
		"them. Put a message or a barrier between them, or remove the assertion."
)

// posted starts an exposure epoch.
func (c *Checker) posted(k *rank, e *event, w *window) {
	x := &exposure{target: k.number, origins: e.Members(false), clock: k.clock.clone(),
		completed: map[int]completion{},
		number:    map[int]int{}}
	x.at, x.site = e.call.now, k.site(e)
	x.unchecked = e.In("assert").Int()&abi.MPI_MODE_NOCHECK != 0
	x.noput = e.In("assert").Int()&abi.MPI_MODE_NOPUT != 0
	if s := w.stored[k.number]; s != nil && e.In("assert").Int()&abi.MPI_MODE_NOSTORE != 0 {
		c.asserted("NOSTORE", w, x.site, s, noStore)
	}
	delete(w.stored, k.number)
	w.posts[k.number] = append(w.posts[k.number], x)
	for _, origin := range x.origins {
		t := w.turnsOf(origin, k.number)
		x.number[origin] = t.posted
		t.posted++
		if v, is := t.completed[x.number[origin]]; is {
			x.completed[origin] = v
			delete(t.completed, x.number[origin])
		}
		if s := t.unchecked[x.number[origin]]; s != nil {
			c.asserted("NOCHECK", w, s, x.site, postBeforeStart)
			delete(t.unchecked, x.number[origin])
		}
		early := t.early
		t.early = nil
		for _, o := range early {
			if o.turn == x.number[origin] {
				o.start.join(x.clock)
				o.early = false
				c.puts(o, x)
				if o.completed {
					x.done = append(x.done, o)
				}
				c.atTarget(o)
			} else {
				t.early = append(t.early, o)
			}
		}
	}
}

// exposureOf returns the exposure epoch that matches an origin's access epoch; nil if the target has not posted it.
func (w *window) exposureOf(origin, target, turn int) *exposure {
	for _, x := range w.posts[target] {
		if n, ok := x.number[origin]; ok && n == turn {
			return x
		}
	}
	return nil
}

// leaveWindow processes the return of a call on a window.
func (c *Checker) leaveWindow(k *rank, e *event) {
	if e.Out("win").Given() && e.call.meeting != nil && e.name != "MPI_Win_free" {
		c.makeWindow(k, e)
		return
	}
	w := e.call.window
	if w == nil {
		if w = k.wins[e.In("win").Uint()]; w == nil {
			return
		}
	}
	target := -1
	if r := e.In("rank"); len(r.Words) > 0 {
		target = w.meets.world(k, int(r.Int()))
	}
	switch e.name {
	case "MPI_Win_set_name":
		if text := e.In("win_name").Text(); text != "" {
			w.name = "window '" + text + "'"
		}
	case "MPI_Win_attach":
		w.attach(k, e)
	case "MPI_Win_detach":
		if c.follow == nil {
			c.detach(k, e, w)
		}
	case "MPI_Win_shared_query":
		c.mapped(k, e, w)
	case "MPI_Win_free":
		delete(k.wins, e.In("win").Uint())
		k.aliases = slices.DeleteFunc(k.aliases, func(a alias) bool { return a.window == w })
	case "MPI_Win_fence":
		w.epochs[k.number] = "fence"
		if e.In("assert").Int()&abi.MPI_MODE_NOSUCCEED != 0 {
			delete(w.epochs, k.number)
		}
	case "MPI_Win_start":
		w.epochs[k.number] = "start"
		for _, t := range w.started[k.number] {
			if x := w.exposureOf(k.number, t, w.turnsOf(k.number, t).started-1); x != nil {
				e.call.await(x.site.rank, x.site.start)
			}
		}
	case "MPI_Win_complete":
		delete(w.epochs, k.number)
		w.completed(c, k)
	case "MPI_Win_wait":
		c.waited(k, w)
	case "MPI_Win_test":
		if e.Out("flag").Int() != 0 {
			c.waited(k, w)
		}
	case "MPI_Win_lock":
		if target < 0 {
			return
		}
		exclusive := e.In("lock_type").Int() == abi.MPI_LOCK_EXCLUSIVE
		unchecked := e.In("assert").Int()&abi.MPI_MODE_NOCHECK != 0
		w.locked(k, target, exclusive, unchecked)
		c.nocheck(k, w, target, exclusive, unchecked, k.site(e))
		delete(w.stored, k.number)
		w.epochs[k.number] = "lock"
	case "MPI_Win_lock_all":
		for _, t := range w.meets.members {
			w.locked(k, t, false, e.In("assert").Int()&abi.MPI_MODE_NOCHECK != 0)
		}
		w.epochs[k.number] = "lock_all"
	case "MPI_Win_unlock", "MPI_Win_unlock_all":
		everywhere := e.name == "MPI_Win_unlock_all"
		c.flushed(k, w, target, everywhere, true, e.call.now)
		k.held = slices.DeleteFunc(slices.Clone(k.held), func(h hold) bool {
			return h.window == w && (everywhere || h.target == target)
		})
		delete(w.epochs, k.number)
	case "MPI_Win_flush", "MPI_Win_flush_all":
		c.flushed(k, w, target, e.name == "MPI_Win_flush_all", true, k.now())
	case "MPI_Win_flush_local", "MPI_Win_flush_local_all":
		c.flushed(k, w, target, e.name == "MPI_Win_flush_local_all", false, k.now())
	}
}

// locked records that a rank holds a lock.
func (w *window) locked(k *rank, target int, exclusive, unchecked bool) {
	k.held = append(slices.Clone(k.held), hold{w, target, exclusive})
	if unchecked {
		return
	}
	state := w.lockOf(target)
	k.clock.join(state.exclusive)
	if exclusive {
		k.clock.join(state.shared)
	}
}

// completed ends the operations of an access epoch at the origin. At their targets they end with the exposure epoch.
func (w *window) completed(c *Checker, k *rank) {
	w.take(k, func(o *operation) bool {
		c.doneHere(o, k.now())
		return true
	})
}

// waited ends the oldest exposure epoch of a target.
func (c *Checker) waited(k *rank, w *window) {
	posts := w.posts[k.number]
	if len(posts) == 0 {
		return
	}
	x := posts[0]
	w.posts[k.number] = posts[1:]
	for _, v := range x.completed {
		k.current.await(v.site.rank, v.site.start)
		k.clock.join(v.clock)
	}
	for _, o := range x.done {
		c.doneThere(o, k.now())
	}
}

// flushed ends operations to a target; without there, only at the origin.
func (c *Checker) flushed(k *rank, w *window, target int, everywhere, there bool, at moment) {
	w.take(k, func(o *operation) bool {
		if !everywhere && o.target != target {
			return false
		}
		if there {
			c.done(o, at)
		} else if c.doneHere(o, at); o.there != nil && o.there.root != nil && o.turn < 0 && !o.early {
			o.there.leave() // an earlier access represents it: a polling rank may never flush
			return true
		}
		return there
	})
}

// mapped records the address at which another member's memory is mapped here.
func (c *Checker) mapped(k *rank, e *event, w *window) {
	size, base := e.Out("size").Uint(), e.Out("baseptr").Uint()
	i := int(e.In("rank").Int())
	if i < 0 || i >= len(w.parts) || size == 0 || base == 0 {
		return
	}
	if w.meets.members[i] != k.number {
		k.aliases = append(k.aliases, alias{span{base, base + size}, w, i})
	}
}

// plain returns the name that the program has given.
func (w *window) plain() string {
	return strings.TrimSuffix(strings.TrimPrefix(w.name, "window '"), "'")
}

// started starts an access epoch.
func (c *Checker) started(k *rank, e *event, w *window) {
	w.started[k.number] = e.Members(false)
	for _, target := range w.started[k.number] {
		t := w.turnsOf(k.number, target)
		turn := t.started
		t.started++
		if c.follow != nil || e.In("assert").Int()&abi.MPI_MODE_NOCHECK == 0 {
			continue
		}
		if x := w.exposureOf(k.number, target, turn); x == nil {
			if t.unchecked == nil {
				t.unchecked = map[int]*site{}
			}
			t.unchecked[turn] = k.site(e)
		} else if !x.unchecked {
			c.asserted("NOCHECK", w, k.site(e), x.site, "MPI_Win_post and MPI_Win_start must both be "+
				"called with "+
				"MPI_MODE_NOCHECK.")
		} else if !x.at.before(k.clock) {
			c.asserted("NOCHECK", w, k.site(e), x.site, postBeforeStart)
		}
	}
}

// fenceAsserts checks the assertions of a fence.
func (c *Checker) fenceAsserts(k *rank, e *event, w *window) {
	assert, s := e.In("assert").Int(), k.site(e)
	if open := w.open[k.number]; assert&abi.MPI_MODE_NOPRECEDE != 0 && len(open) > 0 {
		c.asserted("NOPRECEDE", w, s, open[0].request.site, "MPI_MODE_NOPRECEDE promises that the fence "+
			"completes no "+
			"operation of this process, but this one is pending. Remove the assertion.")
	}
	if store := w.stored[k.number]; assert&abi.MPI_MODE_NOSTORE != 0 && store != nil {
		c.asserted("NOSTORE", w, s, store, noStore)
	}
	delete(w.stored, k.number)
	w.fences[k.number]++
	if assert&abi.MPI_MODE_NOPUT != 0 {
		w.noput[[2]int{k.number, w.fences[k.number]}] = s
	}
	delete(w.noput, [2]int{k.number, w.fences[k.number] - 2})
}

// puts checks whether the target of an operation that changes its memory has asserted that no operation does.
func (c *Checker) puts(o *operation, x *exposure) {
	if o.request.what == reads || o.request.what == updates && o.request.op == abi.MPI_NO_OP {
		return
	}
	if x != nil && x.noput {
		c.asserted("NOPUT", o.window, x.site, o.request.site, noPut)
	}
}
