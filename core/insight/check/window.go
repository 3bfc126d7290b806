package check

import (
	"fmt"
	"slices"
	"strings"

	"gompirma/core/abi"
)

// window is a window, shared by all its members.
type window struct {
	name        string
	number      int
	dynamic     bool
	isAllocated bool  // the library allocated its memory
	freeCount   int   // number of members that have called MPI_Win_free
	comm        *comm // the window's members, and their collective calls on the window
	parts       []memberMemory
	openOps     map[int][]*operation // by origin, operations that are not complete at their targets
	// By strand: operations of this strand that another strand has ended, and that this strand itself has not ended
	// yet.
	endedByOthers map[int][]*operation
	locks         map[int]*lockState     // by target
	exposures     map[int][]*exposure    // by target, exposure epochs that have not ended
	epochCounts   map[[2]int]*epochCount // by origin and target
	epochs        map[int]string         // by rank, the kind of the rank's current access epoch
	hints         map[string]string
	lastStores    map[int]*callSite    // by rank, its last write to its own memory since it synchronized
	startTargets  map[int][]int        // by origin, the targets of the access epoch opened by MPI_Win_start
	fenceCounts   map[int]int          // by rank, the number of fences that the rank has called
	attached      map[attached]uint64  // sizes of the memory attached to a dynamic window
	noputFences   map[[2]int]*callSite // by rank and fence number, the fences with MPI_MODE_NOPUT
}

// memberMemory is a member's memory of a window.
type memberMemory struct {
	known bool // the creation of the window has returned at the member, so base is known
	base  uint64
	size  uint64
	unit  int64
	// Clocks of updates that began while known was false. A rank that sees such an update is ordered after its
	// clock.
	updateClocks []vector
	deferred     []func() // functions that add the accesses that were made before known was set
}

type heldLock struct {
	window    *window
	target    int
	exclusive bool
}

// lockState holds the clocks of earlier holders of the lock on a target. Later holders are ordered after them.
type lockState struct {
	exclusive, shared vector
	epochs            []*lockEpoch // for the check of MPI_MODE_NOCHECK
}

// exposure is an exposure epoch of a target, opened by MPI_Win_post.
type exposure struct {
	target       int
	origins      []int
	clock        vector
	completed    map[int]completion
	doneOps      []*operation // operations that become complete at the target when this epoch ends
	epochNumbers map[int]int  // by origin: number of this epoch among the target's epochs for that origin
	postedAt     timestamp
	site         *callSite
	isNoput      bool
	isNocheck    bool
}

// completion is the end of an access epoch at an origin (MPI_Win_complete).
type completion struct {
	clock vector
	site  *callSite
}

// epochCount counts the access epochs that an origin has started to a target, and the exposure epochs that the target
// has posted to the origin. Equal numbers match.
type epochCount struct {
	started, posted int
	completed       map[int]completion // by epoch number, for epochs that the target has not posted yet
	earlyOps        []*operation       // operations of epochs that the target has not posted yet
	nocheckStarts   map[int]*callSite  // by epoch number, calls of MPI_Win_start with MPI_MODE_NOCHECK
}

// makeWindow records that a rank has returned from the creation of a window.
func (c *Checker) makeWindow(k *rank, e *event) {
	meet := e.call.collective
	if meet == nil || !e.Out("win").HasValue() {
		return
	}
	w := meet.window
	if w == nil {
		c.windowCount++
		w = &window{number: c.windowCount, dynamic: e.name == "MPI_Win_create_dynamic",
			isAllocated: strings.HasPrefix(e.name, "MPI_Win_allocate"),
			comm:        &comm{members: meet.comm.members, unknownCount: meet.comm.unknownCount},
			parts:       make([]memberMemory, len(meet.comm.members)),
			openOps:     map[int][]*operation{}, endedByOthers: map[int][]*operation{},
			locks: map[int]*lockState{}, exposures: map[int][]*exposure{},
			epochCounts: map[[2]int]*epochCount{}, epochs: map[int]string{},
			lastStores:   map[int]*callSite{},
			startTargets: map[int][]int{}, fenceCounts: map[int]int{}, noputFences: map[[2]int]*callSite{}}
		for i, r := range w.comm.members { // all members pass their arguments before any member has the window
			w.parts[i] = meet.windowParts[r]
		}
		w.name = fmt.Sprintf("window %d", w.number)
		w.comm.name = w.name
		meet.window = w
	}
	p := memoryFromCall(e)
	if v := e.Out("baseptr"); v.HasValue() {
		p.base = v.Uint()
	}
	k.wins[e.Out("win").Uint()] = w
	e.call.window = w
	w.hints = hintsOf(k, e)
	if i := slices.Index(w.comm.members, k.number); i >= 0 {
		p.known = true
		late := w.parts[i].deferred
		p.updateClocks = w.parts[i].updateClocks
		w.parts[i] = p
		for _, add := range late {
			add()
		}
		c.checkWindowHints(k, e, w)
	}
}

// memoryFromCall returns the rank's memory of a new window, as far as the arguments of the call show it.
func memoryFromCall(e *event) memberMemory {
	p := memberMemory{base: e.In("base").Uint(), size: e.In("size").Uint(), unit: e.In("disp_unit").Int()}
	if e.name == "MPI_Win_create_dynamic" {
		p.unit = 1
	}
	return p
}

func (w *window) lockOf(target int) *lockState {
	if w.locks[target] == nil {
		w.locks[target] = &lockState{}
	}
	return w.locks[target]
}

func (w *window) epochCountsOf(origin, target int) *epochCount {
	key := [2]int{origin, target}
	if w.epochCounts[key] == nil {
		w.epochCounts[key] = &epochCount{}
	}
	return w.epochCounts[key]
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
			c.reportHint("no_locks", k.newSite(e), w,
				"The info key no_locks promises that no process locks the window. Remove the key or "+
					"the lock.")
		}
	case "MPI_Win_start":
		c.startEpoch(k, e, w)
	case "MPI_Win_fence", "MPI_Win_free":
		if e.name == "MPI_Win_fence" {
			c.checkFenceAsserts(k, e, w)
		}
		w.removeOps(k, func(o *operation) bool {
			c.completeOp(o, e.call.now)
			return true
		})
		if e.name == "MPI_Win_free" {
			c.noteWinFree(w)
		}
	case "MPI_Win_post":
		c.postEpoch(k, e, w)
	case "MPI_Win_complete":
		c.completeEpoch(k, w, k.newSite(e))
	case "MPI_Win_unlock", "MPI_Win_unlock_all":
		for _, h := range k.heldLocks {
			if h.window != w || e.name == "MPI_Win_unlock" && h.target != w.comm.worldRank(k,
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

// noteWinFree records that one more member has called MPI_Win_free. No member returns from it before all members have
// called it. After the last call, the library may reuse the memory that it allocated for the window. So earlier
// accesses to this memory no longer conflict with later ones.
func (c *Checker) noteWinFree(w *window) {
	if w.freeCount++; w.freeCount < len(w.comm.members)-w.comm.unknownCount || !w.isAllocated {
		return
	}
	for i, r := range w.comm.members {
		if p := &w.parts[i]; p.known && p.size > 0 {
			c.ranks[r].space.drop(span{p.base, p.base + p.size})
		}
	}
}

// completeEpoch records MPI_Win_complete for the targets of an access epoch. Puts and updates end at a target when the
// target's exposure epoch ends. Gets end at once.
func (c *Checker) completeEpoch(k *rank, w *window, s *callSite) {
	for _, target := range w.startTargets[k.number] {
		t := w.epochCountsOf(k.number, target)
		if x := w.exposureOf(k.number, target, t.started-1); x != nil {
			x.completed[k.number] = completion{k.clock.clone(), s}
		} else { // the target has not posted the exposure epoch
			if t.completed == nil {
				t.completed = map[int]completion{}
			}
			t.completed[t.started-1] = completion{k.clock.clone(), s}
		}
	}
	delete(w.startTargets, k.number)
	w.removeOps(k, func(o *operation) bool {
		if x := w.exposureOf(k.number, o.target, o.epoch); x != nil {
			x.doneOps = append(x.doneOps, o)
		}
		if o.isGet {
			c.completeAtTarget(o, k.now())
		}
		o.isCompleted = true
		return false
	})
}

// maxEndedByOthers is the largest length of a list in endedByOthers.
const maxEndedByOthers = 1 << 14

// removeOps calls the function `use` with each pending operation of a rank that precedes the current call. If `use`
// returns true, removeOps removes the operation. It skips operations of other threads that are not ordered before the
// call, because in another run they may follow the call.
//
// One strand may end an operation of a second strand. When the second strand calls removeOps, removeOps calls `use`
// again, because the second strand need not be ordered after the first strand's end of the operation.
func (w *window) removeOps(k *rank, use func(*operation) bool) {
	self := k.now().strand
	if mine := w.endedByOthers[self]; len(mine) > 0 {
		if mine = slices.DeleteFunc(mine, use); len(mine) == 0 {
			delete(w.endedByOthers, self)
		} else {
			w.endedByOthers[self] = mine
		}
	}
	w.openOps[k.number] = slices.DeleteFunc(w.openOps[k.number], func(o *operation) bool {
		if !o.began.before(k.clock) || !use(o) {
			return false
		}
		w.noteEnded(k, o)
		return true
	})
}

// noteEnded records an ended operation in endedByOthers, if a strand other than the operation's own strand has ended
// it.
func (w *window) noteEnded(k *rank, o *operation) {
	own := o.began.strand
	if k.activeStrands == nil || own == k.now().strand {
		return
	}
	if len(w.endedByOthers[own]) == maxEndedByOthers {
		w.endedByOthers[own] = slices.Delete(w.endedByOthers[own], 0, maxEndedByOthers/2)
	}
	w.endedByOthers[own] = append(w.endedByOthers[own], o)
}

// Advice for assertions that are violated.
const (
	noStore = "MPI_MODE_NOSTORE promises no stores to the local window memory since the last synchronization. " +
		"Remove the assertion, or synchronize after the store."
	noPut = "MPI_MODE_NOPUT promises that no put or accumulate changes this memory until the next " +
		"synchronization. Remove the assertion."
	postBeforeStart = "MPI_MODE_NOCHECK promises that MPI_Win_post is called before MPI_Win_start, but nothing " +
		"orders them. Put a message or a barrier between them, or remove the assertion."
)

// postEpoch starts an exposure epoch (MPI_Win_post).
func (c *Checker) postEpoch(k *rank, e *event, w *window) {
	x := &exposure{target: k.number, origins: e.Members(false), clock: k.clock.clone(),
		completed:    map[int]completion{},
		epochNumbers: map[int]int{}}
	x.postedAt, x.site = e.call.now, k.newSite(e)
	x.isNocheck = e.In("assert").Int()&abi.MPI_MODE_NOCHECK != 0
	x.isNoput = e.In("assert").Int()&abi.MPI_MODE_NOPUT != 0
	if s := w.lastStores[k.number]; s != nil && e.In("assert").Int()&abi.MPI_MODE_NOSTORE != 0 {
		c.reportAssert("NOSTORE", w, x.site, s, noStore)
	}
	delete(w.lastStores, k.number)
	w.exposures[k.number] = append(w.exposures[k.number], x)
	for _, origin := range x.origins {
		t := w.epochCountsOf(origin, k.number)
		x.epochNumbers[origin] = t.posted
		t.posted++
		if v, is := t.completed[x.epochNumbers[origin]]; is {
			x.completed[origin] = v
			delete(t.completed, x.epochNumbers[origin])
		}
		if s := t.nocheckStarts[x.epochNumbers[origin]]; s != nil {
			c.reportAssert("NOCHECK", w, s, x.site, postBeforeStart)
			delete(t.nocheckStarts, x.epochNumbers[origin])
		}
		early := t.earlyOps
		t.earlyOps = nil
		for _, o := range early {
			if o.epoch == x.epochNumbers[origin] {
				o.start.join(x.clock)
				o.isEarly = false
				c.checkNoput(o, x)
				if o.isCompleted {
					x.doneOps = append(x.doneOps, o)
				}
				c.addTargetAccess(o)
			} else {
				t.earlyOps = append(t.earlyOps, o)
			}
		}
	}
}

// exposureOf returns the exposure epoch of a target that matches the origin's access epoch with the number `epoch`. It
// returns nil if the target has not posted the exposure epoch.
func (w *window) exposureOf(origin, target, epoch int) *exposure {
	for _, x := range w.exposures[target] {
		if n, ok := x.epochNumbers[origin]; ok && n == epoch {
			return x
		}
	}
	return nil
}

// leaveWindow processes the return of a call on a window.
func (c *Checker) leaveWindow(k *rank, e *event) {
	if e.Out("win").HasValue() && e.call.collective != nil && e.name != "MPI_Win_free" {
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
		target = w.comm.worldRank(k, int(r.Int()))
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
		c.addAlias(k, e, w)
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
		for _, t := range w.startTargets[k.number] {
			if x := w.exposureOf(k.number, t, w.epochCountsOf(k.number, t).started-1); x != nil {
				e.call.waitedFor(x.site.rank, x.site.start)
			}
		}
	case "MPI_Win_complete":
		delete(w.epochs, k.number)
		w.endAtOrigin(c, k)
	case "MPI_Win_wait":
		c.waitEpoch(k, w)
	case "MPI_Win_test":
		if e.Out("flag").Int() != 0 {
			c.waitEpoch(k, w)
		}
	case "MPI_Win_lock":
		if target < 0 {
			return
		}
		exclusive := e.In("lock_type").Int() == abi.MPI_LOCK_EXCLUSIVE
		unchecked := e.In("assert").Int()&abi.MPI_MODE_NOCHECK != 0
		w.acquireLock(k, target, exclusive, unchecked)
		c.checkNocheck(k, w, target, exclusive, unchecked, k.newSite(e))
		delete(w.lastStores, k.number)
		w.epochs[k.number] = "lock"
	case "MPI_Win_lock_all":
		for _, t := range w.comm.members {
			w.acquireLock(k, t, false, e.In("assert").Int()&abi.MPI_MODE_NOCHECK != 0)
		}
		w.epochs[k.number] = "lock_all"
	case "MPI_Win_unlock", "MPI_Win_unlock_all":
		everywhere := e.name == "MPI_Win_unlock_all"
		c.flushOps(k, w, target, everywhere, true, e.call.now)
		k.heldLocks = slices.DeleteFunc(slices.Clone(k.heldLocks), func(h heldLock) bool {
			return h.window == w && (everywhere || h.target == target)
		})
		delete(w.epochs, k.number)
	case "MPI_Win_flush", "MPI_Win_flush_all":
		c.flushOps(k, w, target, e.name == "MPI_Win_flush_all", true, k.now())
	case "MPI_Win_flush_local", "MPI_Win_flush_local_all":
		c.flushOps(k, w, target, e.name == "MPI_Win_flush_local_all", false, k.now())
	}
}

// acquireLock records that a rank holds a lock. If unchecked is false (no MPI_MODE_NOCHECK), the rank is ordered after
// earlier holders whose locks conflict.
func (w *window) acquireLock(k *rank, target int, exclusive, unchecked bool) {
	k.heldLocks = append(slices.Clone(k.heldLocks), heldLock{w, target, exclusive})
	if unchecked {
		return
	}
	state := w.lockOf(target)
	k.clock.join(state.exclusive)
	if exclusive {
		k.clock.join(state.shared)
	}
}

// endAtOrigin ends the operations of an access epoch at the origin. At the targets, these operations end with the
// exposure epochs.
func (w *window) endAtOrigin(c *Checker, k *rank) {
	w.removeOps(k, func(o *operation) bool {
		c.completeAtOrigin(o, k.now())
		return true
	})
}

// waitEpoch ends the oldest exposure epoch of rank k (MPI_Win_wait).
func (c *Checker) waitEpoch(k *rank, w *window) {
	posts := w.exposures[k.number]
	if len(posts) == 0 {
		return
	}
	x := posts[0]
	w.exposures[k.number] = posts[1:]
	for _, v := range x.completed {
		k.current.waitedFor(v.site.rank, v.site.start)
		k.clock.join(v.clock)
	}
	for _, o := range x.doneOps {
		c.completeAtTarget(o, k.now())
	}
}

// flushOps ends the operations of a rank to a target, or to all targets, at the origin. If atTarget is true, it also
// ends them at the target.
func (c *Checker) flushOps(k *rank, w *window, target int, allTargets, atTarget bool, at timestamp) {
	w.removeOps(k, func(o *operation) bool {
		if !allTargets && o.target != target {
			return false
		}
		if atTarget {
			c.completeOp(o, at)
		} else if c.completeAtOrigin(o, at); o.targetAccess != nil && o.targetAccess.root != nil &&
			o.epoch < 0 && !o.isEarly {
			// Another access represents this one in the space. The origin may poll and never flush, so this
			// access must end here.
			o.targetAccess.abandon()
			return true
		}
		return atTarget
	})
}

// addAlias records the address at which MPI_Win_shared_query has returned another member's memory.
func (c *Checker) addAlias(k *rank, e *event, w *window) {
	size, base := e.Out("size").Uint(), e.Out("baseptr").Uint()
	i := int(e.In("rank").Int())
	if i < 0 || i >= len(w.parts) || size == 0 || base == 0 {
		return
	}
	if m := w.comm.members[i]; m >= 0 && m != k.number {
		k.aliases = append(k.aliases, alias{span{base, base + size}, w, i})
	}
}

// userName returns the name that the program has given to the window; "window" and a number if it has given none.
func (w *window) userName() string {
	return strings.TrimSuffix(strings.TrimPrefix(w.name, "window '"), "'")
}

// startEpoch starts an access epoch (MPI_Win_start) and checks MPI_MODE_NOCHECK.
func (c *Checker) startEpoch(k *rank, e *event, w *window) {
	w.startTargets[k.number] = e.Members(false)
	for _, target := range w.startTargets[k.number] {
		t := w.epochCountsOf(k.number, target)
		epoch := t.started
		t.started++
		if c.follow != nil || e.In("assert").Int()&abi.MPI_MODE_NOCHECK == 0 {
			continue
		}
		if x := w.exposureOf(k.number, target, epoch); x == nil {
			if t.nocheckStarts == nil {
				t.nocheckStarts = map[int]*callSite{}
			}
			t.nocheckStarts[epoch] = k.newSite(e)
		} else if !x.isNocheck {
			c.reportAssert("NOCHECK", w, k.newSite(e), x.site,
				"Pass MPI_MODE_NOCHECK to both MPI_Win_post and MPI_Win_start, or to neither.")
		} else if !x.postedAt.before(k.clock) {
			c.reportAssert("NOCHECK", w, k.newSite(e), x.site, postBeforeStart)
		}
	}
}

func (c *Checker) checkFenceAsserts(k *rank, e *event, w *window) {
	assert, s := e.In("assert").Int(), k.newSite(e)
	if openOps := w.openOps[k.number]; assert&abi.MPI_MODE_NOPRECEDE != 0 && len(openOps) > 0 {
		c.reportAssert("NOPRECEDE", w, s, openOps[0].targetInfo.site,
			"MPI_MODE_NOPRECEDE promises that the fence completes no operation of this process, but "+
				"this operation is pending. Remove the assertion.")
	}
	if store := w.lastStores[k.number]; assert&abi.MPI_MODE_NOSTORE != 0 && store != nil {
		c.reportAssert("NOSTORE", w, s, store, noStore)
	}
	delete(w.lastStores, k.number)
	w.fenceCounts[k.number]++
	if assert&abi.MPI_MODE_NOPUT != 0 {
		w.noputFences[[2]int{k.number, w.fenceCounts[k.number]}] = s
	}
	delete(w.noputFences, [2]int{k.number, w.fenceCounts[k.number] - 2})
}

// checkNoput reports an operation that changes its target's memory although the target has asserted MPI_MODE_NOPUT.
func (c *Checker) checkNoput(o *operation, x *exposure) {
	if o.targetInfo.what == reads || o.targetInfo.what == updates && o.targetInfo.op == abi.MPI_NO_OP {
		return
	}
	if x != nil && x.isNoput {
		c.reportAssert("NOPUT", o.window, x.site, o.targetInfo.site, noPut)
	}
}
