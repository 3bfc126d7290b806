package model

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
)

// Profile selects the kind of programs to generate.
type Profile struct {
	Ranks    int
	Windows  int    // maximum number of windows
	Kind     string // kind of all windows; "" for random kinds
	Bytes    int    // approximate maximum size of a member's memory
	Elements int    // approximate maximum number of elements in a call
	Calls    int    // maximum number of calls of a rank in a phase
	Phases   int
	Depth    int  // maximum nesting of datatypes
	Mixed    bool // calls may concurrently accumulate into one element with different operations
	Hot      int  // percentage of accumulates that reuse the target location of an earlier accumulate
	Burst    int  // percentage of accumulates that are repeated many times; above 0 also enables phases by collide
	Plain    bool // no derived datatypes
	Strange  bool // elements may be misaligned
	// Reference avoids features that Debian's MPICH does not support correctly: window sizes and addresses that are
	// not multiples of 64, MPI_MIN and MPI_MAX of unsigned types, gets before MPI_Win_flush_local, MPI_Win_test in
	// a loop, locks with MPI_MODE_NOCHECK. It also avoids elements that overlap at the target, which MPI does not
	// permit but gompirma supports.
	Reference bool
	Apart     bool // the ranks are on several nodes, so there are no shared-memory windows
}

// generator generates one program.
type generator struct {
	*rand.Rand
	profile Profile
	p       *Program
	id      int

	win  *Window
	ph   *Phase
	use  *tracker
	past [][]*Action // accumulates, fetches and swaps of this phase, by target
}

// Generate returns the program of a seed. The same seed and profile always give the same program.
func Generate(seed uint64, profile Profile) *Program {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0x6d6f64656c)), profile: profile}
	g.p = &Program{Seed: seed, N: profile.Ranks, Fresh: g.IntN(3) == 0}
	for range 1 + g.IntN(profile.Windows) {
		g.p.Windows = append(g.p.Windows, g.window())
	}
	for range 1 + g.IntN(profile.Phases) {
		g.phase()
	}
	return g.p
}

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

func (g *generator) window() *Window {
	w := &Window{Kind: g.profile.Kind, Order: g.Perm(g.p.N)}
	if w.Kind == "" {
		w.Kind = pick(g, "create", "create", "allocate", "shared", "dynamic")
		if w.Kind == "shared" && g.profile.Apart {
			w.Kind = "allocate"
		}
	}
	w.Held = g.IntN(4) == 0
	units := []int{1, 1, 2, 4, 8, 16, 3, 12}
	same := pick(g, units...)
	memory := pick(g, "malloc", "alloc", "static", "")
	sameUnit := g.IntN(2) == 0
	for range g.p.N {
		m := &Member{Unit: same}
		if !sameUnit {
			m.Unit = pick(g, units...)
		}
		regions := 1
		if w.Kind == "dynamic" {
			m.Unit = 1
			regions = 1 + g.IntN(3)
		}
		if w.Kind == "create" || w.Kind == "dynamic" {
			m.Skew = pick(g, 0, 0, 0, 16, 8)
			if g.profile.Strange {
				m.Skew = g.IntN(16)
			}
		}
		for r := range regions {
			size := g.profile.Bytes/4 + g.IntN(g.profile.Bytes)
			if g.IntN(16) == 0 {
				size = g.IntN(20)
				if w.Kind == "dynamic" {
					size++
				}
			}
			if g.profile.Reference {
				size, m.Skew = (size+63)/64*64, 0
			}
			region := Region{Start: len(m.Init), Size: size}
			if w.Kind == "create" || w.Kind == "dynamic" {
				region.Memory = memory
				if memory == "" {
					region.Memory = pick(g, "malloc", "alloc", "static")
				}
			}
			m.Regions = append(m.Regions, region)
			m.Init = append(m.Init, make([]byte, size)...)
			g.zones(m, r)
		}
		w.Members = append(w.Members, m)
	}
	g.info(w)
	return w
}

// info adds some info keys of the standard or of gompirma to w. The keys do not change the results of a program.
func (g *generator) info(w *Window) {
	maybe := func(info string) {
		if g.IntN(3) == 0 {
			w.Info = append(w.Info, info)
		}
	}
	maybe(fmt.Sprintf("mpi_accumulate_granularity=%d", pick(g, 0, 1, 8, 64, 4096)))
	maybe("accumulate_ordering=" + pick(g, "rar,raw,war,waw", "waw,raw,rar,war"))
	same := true
	for _, m := range w.Members {
		same = same && m.Unit == w.Members[0].Unit
	}
	if same {
		maybe("same_disp_unit=true")
	}
	switch w.Kind {
	case "create", "dynamic":
		maybe("gompirma_share_in_place=true")
		maybe("gompirma_share_in_place=" + pick(g, "true", "false"))
	case "shared":
		maybe("alloc_shared_noncontig=true")
		fallthrough
	case "allocate":
		maybe(fmt.Sprintf("mpi_minimum_memory_alignment=%d", pick(g, 8, 256, 4096)))
		maybe("gompirma_huge_pages=true")
	}
}

// zones divides a region of a member into zones, each of which has one type. It also initializes the region's memory.
func (g *generator) zones(m *Member, region int) {
	r := m.Regions[region]
	for at := 0; at < r.Size; {
		z := zone{region: region, start: at, size: r.Size - at}
		if g.IntN(3) != 0 {
			z.size = min(z.size, 16+g.IntN(r.Size))
		}
		if g.IntN(2) == 0 {
			z.basic = pick(g, basics...)
			// Prefer types that gompirma updates by compare-and-swap or under a lock.
			if g.profile.Burst > 0 && g.IntN(2) == 0 {
				z.basic = pick(g, float32Type, float64Type, longDouble, doubleInt)
			}
			z.small = g.IntN(2) == 0
			z.size -= z.size % z.basic.Extent
			if z.size == 0 {
				z = zone{region: region, start: at, size: min(r.Size-at, 16)}
			}
		}
		bytes := m.Init[r.Start+z.start : r.Start+z.start+z.size]
		g.fill(bytes)
		if z.basic != nil {
			for off := 0; off < z.size; off += z.basic.Extent {
				g.value(z.basic, "", z.small, bytes[off:])
			}
		}
		m.zones = append(m.zones, z)
		at = (z.start + z.size + 15) / 16 * 16
	}
}

func (g *generator) fill(b []byte) {
	for i := range b {
		b[i] = byte(g.Uint32())
	}
}

// value stores a random value of type b to `to`. The value is a valid operand of `op` on memory that this function has
// initialized.
func (g *generator) value(b *Basic, op Op, small bool, to []byte) {
	float := func(x float64, p *Basic, to []byte) { p.storeFloat(to, big.NewFloat(x)) }
	switch b.Kind {
	case signed, unsigned, bits, character:
		v := g.Uint64()
		if small || g.IntN(3) == 0 {
			v = uint64(g.IntN(5)) - 1
		}
		b.storeInt(to, v)
	case logical:
		to[0] = byte(g.IntN(2))
	case floating:
		if op == opProd {
			float(pick(g, 0.5, 1, 2, -1, -2), b, to)
		} else {
			float(float64(g.IntN(33)-16)/2, b, to)
		}
	case cmplx:
		re, im := float64(g.IntN(9)-4), float64(g.IntN(9)-4)
		if op == opProd {
			re, im = pick(g, 1.0, -1, 0), 0
			if re == 0 {
				im = pick(g, 1.0, -1)
			}
		}
		float(re, b.part, to)
		float(im, b.part, to[b.part.Extent:])
	case pair:
		if b.part.Kind == floating {
			float(float64(g.IntN(5)-2), b.part, to)
		} else {
			b.part.storeInt(to, uint64(g.IntN(5)-2))
		}
		b.index.storeInt(to[b.at:], uint64(g.IntN(16)))
	}
}

// MPI assertions, as numbers that interp.c reads.
const (
	noCheck = 1 << iota
	noStore
	noPut
	noPrecede
	noSucceed
)

func (g *generator) phase() {
	win := g.IntN(len(g.p.Windows))
	g.win = g.p.Windows[win]
	g.ph = &Phase{Win: win, Ranks: make([][]*Action, g.p.N)}
	g.use = newTracker(g.win)
	g.use.mixed = g.profile.Mixed && g.IntN(2) == 0
	if g.profile.Hot > 50 {
		g.use.most = 24
	}
	g.past = make([][]*Action, g.p.N)
	g.ph.Sync = pick(g, "fence", "pscw", "passive", "passive")
	if g.profile.Burst > 0 && g.IntN(3) > 0 {
		g.collide()
		g.p.Phases = append(g.p.Phases, g.ph)
		return
	}
	if g.win.Held {
		g.ph.Sync = "held"
	}
	switch g.ph.Sync {
	case "held":
		g.held()
	case "fence":
		g.fence()
	case "pscw":
		g.pscw()
	default:
		g.passive()
	}
	g.p.Phases = append(g.p.Phases, g.ph)
}

func (g *generator) do(rank int, verb string, args ...int) {
	g.ph.Ranks[rank] = append(g.ph.Ranks[rank], &Action{Verb: verb, Args: args})
}

// calls adds up to n calls by `rank` to random ranks of `targets`.
func (g *generator) calls(rank, n int, targets []int) {
	for range n {
		if a := g.call(rank, targets); a != nil {
			g.ph.Ranks[rank] = append(g.ph.Ranks[rank], a)
		}
	}
}

func (g *generator) everyone() []int {
	all := make([]int, g.p.N)
	for i := range all {
		all[i] = i
	}
	return all
}

// written reports whether calls of this phase change the memory of `rank`, and whether the rank's own stores do.
func (g *generator) written(rank int) (written, stored bool) {
	for _, actions := range g.ph.Ranks {
		for _, a := range actions {
			if a.ID != 0 && a.Target == rank {
				if a.Verb == verbStore {
					stored = true
				} else if a.Verb != verbGet && a.Verb != verbLoad {
					written = true
				}
			}
		}
	}
	return written, stored
}

// maybeRequests makes `rank` complete its requests now, or leaves them pending until the end of the phase.
func (g *generator) maybeRequests(rank int) {
	if g.IntN(2) == 0 {
		g.do(rank, "requests", g.IntN(5))
	}
}

func (g *generator) fence() {
	for r := range g.p.N {
		g.do(r, "barrier")
		g.do(r, "fence", 0)
		g.calls(r, g.IntN(g.profile.Calls+1), g.everyone())
		g.maybeRequests(r)
		g.do(r, "fence", 0)
	}
	precede, succeed := g.IntN(2)*noPrecede, g.IntN(2)*noSucceed
	for r, actions := range g.ph.Ranks {
		first, last := precede, succeed
		written, stored := g.written(r)
		if !written && g.IntN(2) == 0 {
			first |= noPut
		}
		if !stored && g.IntN(2) == 0 {
			last |= noStore
		}
		actions[1].Args = []int{first}
		actions[len(actions)-1].Args = []int{last}
	}
}

func (g *generator) pscw() {
	targets, origins := make([][]int, g.p.N), make([][]int, g.p.N)
	for o := range g.p.N {
		for _, t := range g.Perm(g.p.N) {
			if g.IntN(3) > 0 {
				targets[o] = append(targets[o], t)
				origins[t] = append(origins[t], o)
			}
		}
	}
	check := g.IntN(2) * noCheck
	for r := range g.p.N {
		g.do(r, "barrier")
		if len(origins[r]) > 0 {
			g.do(r, "post", append([]int{check, len(origins[r])}, origins[r]...)...)
		}
		if check != 0 { // MPI_MODE_NOCHECK: all posts must precede the start
			g.do(r, "barrier")
		}
		if len(targets[r]) > 0 {
			g.do(r, "start", append([]int{check, len(targets[r])}, targets[r]...)...)
			g.calls(r, g.IntN(g.profile.Calls+1), targets[r])
			g.maybeRequests(r)
			g.do(r, "complete")
		}
		if len(origins[r]) > 0 {
			if g.IntN(3) == 0 && !g.profile.Reference {
				g.do(r, "test")
			} else {
				g.do(r, "wait")
			}
		}
		if g.win.Kind == "shared" { // makes the loads and stores of this rank's memory visible
			g.do(r, "own")
			g.do(r, "barrier")
			g.do(r, "own")
		}
	}
	for r, actions := range g.ph.Ranks {
		written, _ := g.written(r)
		for _, a := range actions {
			if a.Verb == "post" && !written && g.IntN(2) == 0 {
				a.Args[0] |= noPut
			}
		}
	}
}

func (g *generator) passive() {
	// MPI_MODE_NOCHECK is permitted if no lock of the phase is exclusive.
	unchecked := g.IntN(3) == 0 && !g.profile.Reference
	// Avoid deadlocks. The standard does not define an order in which lock_all acquires locks. On one node,
	// gompirma acquires them in ascending order, as the programs do. On several nodes it acquires each lock when it
	// is needed. Then no rank may hold an exclusive lock while it requests another lock.
	several := !g.profile.Apart || g.IntN(2) == 0
	lockAll := !g.profile.Apart || !several
	for r := range g.p.N {
		g.do(r, "own")
		g.do(r, "barrier")
		for range 1 + g.IntN(3) {
			g.lockEpoch(r, unchecked, several, lockAll)
		}
		g.do(r, "barrier")
		g.do(r, "own")
	}
}

// lockEpoch makes a lock_all epoch if `lockAll` permits that. Otherwise it locks several targets in ascending order, so
// that ranks cannot deadlock. If `several` is true, more than one of the locks may be exclusive.
func (g *generator) lockEpoch(r int, unchecked, several, lockAll bool) {
	check := func() int {
		if unchecked {
			return g.IntN(2) * noCheck
		}
		return 0
	}
	var targets []int
	all := g.IntN(3) == 0 && lockAll
	exclusive := false
	switch {
	case all:
		targets = g.everyone()
		g.do(r, "lock_all", check())
	case g.IntN(2) == 0:
		targets = []int{g.IntN(g.p.N)}
	default:
		for t := range g.p.N {
			if g.IntN(2) == 0 {
				targets = append(targets, t)
			}
		}
	}
	if !all {
		exclusive = !unchecked && g.IntN(2) == 0 && (several || len(targets) == 1)
		for _, t := range targets {
			g.do(r, "lock", int(truth(exclusive)), t, check())
		}
	}
	if len(targets) == 0 {
		return
	}
	pending := g.rounds(r, targets, exclusive)
	late := g.IntN(2) == 0
	if pending && !late {
		g.do(r, "requests", g.IntN(5))
	}
	if all {
		g.do(r, "unlock_all")
	} else {
		for _, i := range g.Perm(len(targets)) {
			g.do(r, "unlock", targets[i])
		}
	}
	for _, t := range targets {
		g.use.segments[r][t]++
	}
	if pending && late {
		g.do(r, "requests", g.IntN(5))
	}
}

// held makes a phase of a window that stays in one lock_all epoch. The phase uses flushes and barriers.
func (g *generator) held() {
	for r := range g.p.N {
		g.do(r, "sync")
		g.do(r, "barrier")
		if g.rounds(r, g.everyone(), false) && g.IntN(2) == 0 {
			g.do(r, "requests", g.IntN(5))
		}
		g.do(r, "flush_all")
		g.do(r, "barrier")
		g.do(r, "sync")
	}
}

// collide makes a phase in which all ranks concurrently accumulate many times into the same elements and do nothing
// else.
func (g *generator) collide() {
	g.ph.Sync = "collide"
	usual := g.profile
	g.profile.Hot, g.profile.Burst = 100, 100
	defer func() { g.profile = usual }()
	// The checker can check long histories only if every call fetches, or if no call fetches and all use one
	// operation.
	verbs := []string{verbAccumulate}
	if g.IntN(3) == 0 {
		verbs = []string{verbGetAccumulate, verbGetAccumulate, verbFetch, verbSwap}
	} else {
		g.use.mixed = false
	}
	target := g.IntN(g.p.N)
	for r := range g.p.N {
		g.do(r, "sync")
		g.do(r, "barrier")
		if !g.win.Held {
			g.do(r, "lock_all", 0)
		}
		g.do(r, "barrier")
	}
	for range 1 + g.IntN(3) {
		for _, r := range g.Perm(g.p.N) {
			for range 8 {
				if a := g.aim(r, pick(g, verbs...), target); a != nil && g.accept(r, a) {
					g.ph.Ranks[r] = append(g.ph.Ranks[r], a)
					break
				}
			}
		}
	}
	for r := range g.p.N {
		if g.win.Held {
			g.do(r, "flush_all")
		} else {
			g.do(r, "unlock_all")
		}
		g.do(r, "barrier")
		g.do(r, "sync")
	}
}

// rounds makes calls of rank r to the ranks `targets` in a passive target epoch. Between these calls it makes calls
// that complete operations, such as flushes. It returns true if some of the calls are request-based.
func (g *generator) rounds(r int, targets []int, exclusive bool) (requests bool) {
	first := len(g.ph.Ranks[r])
	for range 1 + g.IntN(3) {
		g.calls(r, 1+g.IntN(g.profile.Calls), targets)
		if exclusive && g.IntN(2) == 0 {
			g.increment(r, pick(g, targets...))
		}
		way := g.IntN(7)
		if g.profile.Reference && (way == 3 || way == 4) {
			way = 0
		}
		switch way {
		case 0, 1:
			t := pick(g, targets...)
			g.do(r, "flush", t)
			g.use.segments[r][t]++
		case 2:
			g.do(r, "flush_all")
			for _, t := range targets {
				g.use.segments[r][t]++
			}
		case 3:
			g.do(r, "flush_local", pick(g, targets...))
		case 4:
			g.do(r, "flush_local_all")
		case 5:
			g.do(r, "requests", g.IntN(5))
		}
	}
	for _, a := range g.ph.Ranks[r][first:] {
		requests = requests || a.Form&formRequest != 0
	}
	return requests
}

// place returns a random location in zone z of m's memory for `count` copies of t: the displacement, and the offset in
// bytes from the start of m's memory. The displacement is -1 if it finds no location.
func (g *generator) place(m *Member, z zone, t *Type, count, grain int) (disp, at int) {
	from, to := t.bounds(count)
	region := m.Regions[z.region]
	if to-from > z.size {
		return -1, 0
	}
	positions := (z.size - (to - from)) / grain
	for range 12 {
		at = z.start + g.IntN(positions+1)*grain - from
		if g.IntN(4) == 0 {
			at = z.start - from
		}
		if g.profile.Strange && z.basic == nil {
			at = z.start + g.IntN(z.size-(to-from)+1) - from
		}
		if at >= 0 && at%m.Unit == 0 {
			return at / m.Unit, region.Start + at
		}
	}
	return -1, 0
}

// elements returns a random number of elements of a call.
func (g *generator) elements() int {
	if most := g.profile.Elements; g.profile.Burst == 100 && most > 100 && g.IntN(2) == 0 {
		return 64 + g.IntN(most-64) // accumulates of 64 elements and more lock the target
	}
	if g.IntN(3) == 0 {
		return 1
	}
	if g.IntN(3) > 0 {
		return 1 + g.IntN(min(12, g.profile.Elements))
	}
	return 1 + g.IntN(g.profile.Elements)
}

// side makes the type and the count of one side of a call. Together the type and the count have the signature `sig`.
func (g *generator) side(sig []run, grain, most int) (*Type, int) {
	s := &shaper{g.Rand, grain, most}
	depth := 0
	if !g.profile.Plain && g.IntN(2) == 0 {
		depth = 1 + g.IntN(g.profile.Depth)
	}
	count := 1
	if len(sig) == 1 {
		if depth == 0 {
			return leaf(sig[0].basic), sig[0].n
		}
		if sig[0].n > 2000 {
			// A large type is built of at most 8 copies of one type, which has an equal share of the
			// elements.
			for count = 8; sig[0].n%count != 0; count-- {
			}
			sig = []run{{sig[0].basic, sig[0].n / count}}
			depth = 1
			if sig[0].n > 2000 {
				return leaf(sig[0].basic), sig[0].n * count
			}
		} else if g.IntN(2) == 0 {
			count = s.divisor(sig[0].n)
			sig = []run{{sig[0].basic, sig[0].n / count}}
		}
	}
	t := s.typeFor(sig, depth)
	if count > 1 && !t.disjoint(count) {
		t = settled(resized(t, min(t.lb, t.trueLB), s.spacing(t)))
	}
	return t, count
}

// close makes a type and a count for a signature, with elements that may overlap. Elements may be repeated, or may
// share some of their bytes if displacements are not multiples of their size. MPI does not permit such types for
// targets and results; gompirma processes the elements in type map order.
func (g *generator) close(sig []run, grain, most int) (*Type, int) {
	s := &shaper{g.Rand, grain, most}
	b, n := sig[0].basic, min(sig[0].n, 2000)
	way := g.IntN(4)
	if n != sig[0].n || len(sig) == 1 && n == 1 {
		return g.side(sig, grain, most)
	}
	if len(sig) > 1 {
		way = 0
	} else if way == 0 {
		k := 1 + g.IntN(n-1)
		sig = []run{{b, k}, {b, n - k}}
	}
	t := &Type{}
	var parts []placed
	count := 1
	switch way {
	case 0:
		t.ctor, t.args = "struct", []int{len(sig)}
		for _, r := range sig {
			t.args = append(t.args, 1)
			t.kids = append(t.kids, s.typeOf(r.basic, r.n, g.IntN(2)))
		}
		for _, kid := range t.kids {
			at := g.IntN(4) * grain
			t.args = append(t.args, at)
			parts = append(parts, placed{1, at, kid})
		}
	case 1:
		var lengths, disps []int
		kid := leaf(b)
		for left, k := n, 0; left > 0; left -= k {
			k = 1 + g.IntN(min(left, 3))
			lengths = append(lengths, k)
			disps = append(disps, g.IntN(n/2+1)*b.Extent/grain*grain)
			parts = append(parts, placed{k, disps[len(disps)-1], kid})
		}
		t.ctor, t.args, t.kids = "hindexed", append(append([]int{len(lengths)}, lengths...), disps...),
			[]*Type{kid}
	case 2:
		length := s.divisor(n)
		stride := g.IntN(length*b.Extent+1) / grain * grain
		kid := leaf(b)
		t.ctor, t.args, t.kids = "hvector", []int{n / length, length, stride}, []*Type{kid}
		for i := range n / length {
			parts = append(parts, placed{length, i * stride, kid})
		}
	case 3: // copies whose distance is less than their length
		count = s.divisor(n)
		kid := s.typeOf(b, n/count, g.IntN(2))
		return resized(kid, min(kid.lb, kid.trueLB), g.IntN(s.spacing(kid)+1)/grain*grain), count
	}
	return settled(t.make(parts)), count
}

// buffer makes a buffer for `count` copies of t. If `data` is true, it is an origin buffer with values, otherwise a
// result buffer.
func (g *generator) buffer(t *Type, count int, data bool, op Op, small bool) *Buffer {
	from, to := t.bounds(count)
	before := (max(0, -from) + 15) / 16 * 16
	if g.IntN(4) == 0 {
		before += g.IntN(16)
	}
	b := &Buffer{Size: before + max(to, 0) + g.IntN(8), Pos: before}
	if !data {
		return b
	}
	b.Data = make([]byte, b.Size)
	g.fill(b.Data)
	t.each(count, func(off int, basic *Basic) { g.value(basic, op, small, b.Data[before+off:]) })
	return b
}

// call makes a call by `rank` to one of the targets, or a load or store. It returns nil if eight random attempts
// conflict with earlier calls of the phase.
func (g *generator) call(rank int, targets []int) *Action {
	for range 8 {
		a := g.aim(rank, pick(g, verbs...), pick(g, targets...))
		if a != nil && g.accept(rank, a) {
			return a
		}
	}
	return nil
}

// verbs lists the verbs from which calls are chosen. A repeated entry is chosen more often.
var verbs = []string{
	verbPut, verbPut, verbPut, verbPut, verbPut, verbGet, verbGet, verbGet, verbGet, verbAccumulate, verbAccumulate,
	verbAccumulate, verbAccumulate,
	verbGetAccumulate, verbGetAccumulate, verbGetAccumulate, verbFetch, verbSwap, verbLoad, verbStore,
}

// accept adds the action `a` to the phase and returns true. It returns false if the action conflicts with another
// action of the phase.
func (g *generator) accept(rank int, a *Action) bool {
	if !g.use.claim(rank, a) {
		return false
	}
	g.id++
	a.ID = g.id
	if a.accumulates() && a.Target >= 0 && a.TCount > 0 {
		g.past[a.Target] = append(g.past[a.Target], a)
	}
	return true
}

// aim makes a random call by `rank` to `target`. A load or store accesses the memory of `target` in a shared window,
// and the memory of `rank` in other windows. aim returns nil if it finds no location or no type.
func (g *generator) aim(rank int, verb string, target int) *Action {
	if (verb == verbLoad || verb == verbStore) && g.win.Kind != "shared" {
		target = rank
	}
	m := g.win.Members[target]
	a := &Action{Verb: verb, Target: target, Times: 1}
	if a.accumulates() && g.IntN(100) < g.profile.Hot && len(g.past[target]) > 0 {
		return g.echo(a, pick(g, g.past[target]...))
	}
	if len(m.zones) == 0 {
		return nil
	}
	z := pick(g, m.zones...)
	b := z.basic
	for b == nil {
		if c := pick(g, basics...); !c.typed() {
			b = c
		}
	}
	sig := []run{{b, g.elements()}}
	grain := b.Extent
	if a.Verb == verbFetch || a.Verb == verbSwap {
		sig[0].n = 1
	}
	if a.Verb == verbSwap && !b.swappable() {
		return nil
	}
	if z.basic == nil && (a.Verb == verbPut || a.Verb == verbGet) && !g.profile.Plain && g.IntN(4) == 0 {
		// The signature has several types.
		for range 1 + g.IntN(3) {
			if c := pick(g, basics...); !c.typed() {
				sig = append(sig, run{c, 1 + g.IntN(6)})
			}
		}
		grain = 8
	}
	if g.profile.Strange && z.basic == nil && g.IntN(3) == 0 {
		grain = 1
	}
	if a.Verb == verbFetch || a.Verb == verbSwap || a.Verb == verbLoad || a.Verb == verbStore {
		if sig[0].n*b.Extent > z.size {
			sig[0].n = 1
		}
		a.TType, a.TCount = leaf(b), sig[0].n
	} else {
		a.TType, a.TCount = g.side(sig, grain, z.size)
		if !g.profile.Plain && !g.profile.Reference && g.IntN(6) == 0 {
			a.TType, a.TCount = g.close(sig, grain, z.size)
		}
	}
	if a.Disp, a.At = g.place(m, z, a.TType, a.TCount, grain); a.Disp < 0 {
		return nil
	}
	a.Region = z.region
	if a.accumulates() {
		a.Op = pick(g, b.ops()...)
		if g.profile.Burst == 100 && g.IntN(2) == 0 && slices.Contains(b.ops(), opSum) {
			a.Op = opSum // any lost update changes the sum
		}
		if g.profile.Reference && b.Kind == unsigned && (a.Op == opMin || a.Op == opMax) {
			a.Op = opReplace
		}
		if a.Verb != verbAccumulate && g.IntN(5) == 0 {
			a.Op = opNoOp
		}
		if a.Verb == verbSwap {
			a.Op = opSwap
		}
	}
	return g.finish(a, sig, z.small)
}

// echo redirects the call `a` to the target location of the earlier call `before`.
func (g *generator) echo(a, before *Action) *Action {
	b := before.TType.elems[0].basic
	a.Region, a.Disp, a.At, a.Op = before.Region, before.Disp, before.At, before.Op
	n := len(before.TType.elems) * before.TCount
	a.TType, a.TCount = before.TType, before.TCount
	if a.Verb == verbFetch || a.Verb == verbSwap || g.IntN(4) == 0 {
		// The call `a` accesses one of the elements of the earlier call.
		m := g.win.Members[a.Target]
		i := g.IntN(n)
		a.At += i/len(before.TType.elems)*before.TType.extent() +
			before.TType.elems[i%len(before.TType.elems)].off
		if off := a.At - m.Regions[a.Region].Start; off%m.Unit != 0 {
			return nil
		} else {
			a.Disp = off / m.Unit
		}
		a.TType, a.TCount, n = leaf(b), 1, 1
	}
	switch {
	case a.Verb == verbSwap:
		if !b.swappable() || (before.Op != opSwap && !g.use.mixed) {
			return nil
		}
		a.Op = opSwap
	case g.use.mixed:
		a.Op = pick(g, b.ops()...)
	case a.Op == opSwap:
		a.Op = opNoOp
	}
	if a.Verb != verbAccumulate && a.Verb != verbSwap && g.IntN(5) == 0 {
		a.Op = opNoOp
	}
	if a.Verb == verbAccumulate && a.Op == opNoOp {
		return nil
	}
	return g.finish(a, []run{{b, n}}, g.IntN(2) == 0)
}

// finish adds the arguments of the origin's side to the call `a`.
func (g *generator) finish(a *Action, sig []run, small bool) *Action {
	b := sig[0].basic
	var most int
	for _, r := range sig {
		most += r.n * r.basic.Extent
	}
	most = 4*most + 64
	grain := b.Extent
	if len(sig) > 1 {
		grain = 8
	}
	if g.profile.Strange && g.IntN(3) == 0 {
		grain = 1
	}
	origin := func() (t *Type, count int, buffer *Buffer) {
		t, count = g.side(sig, grain, most)
		return t, count, g.buffer(t, count, true, a.Op, small)
	}
	result := func() (t *Type, count int, buffer *Buffer) {
		t, count = g.side(sig, grain, most)
		if a.Verb == verbGet && !g.profile.Plain && !g.profile.Reference && g.IntN(8) == 0 {
			t, count = g.close(sig, grain, most)
		}
		return t, count, g.buffer(t, count, false, "", false)
	}
	one := func(data bool) *Buffer { return g.buffer(leaf(b), a.TCount, data, a.Op, small) }
	switch a.Verb {
	case verbPut:
		if a.OType = g.overlapping(sig); a.OType != nil {
			a.OCount, a.Origin = 1, g.buffer(a.OType, 1, true, "", small)
			break
		}
		fallthrough
	case verbAccumulate:
		a.OType, a.OCount, a.Origin = origin()
	case verbGet:
		a.RType, a.RCount, a.Result = result()
	case verbGetAccumulate:
		if a.Op != opNoOp || g.IntN(2) == 0 { // MPI_NO_OP permits origin arguments NULL, 0, MPI_DATATYPE_NULL
			a.OType, a.OCount, a.Origin = origin()
		}
		a.RType, a.RCount, a.Result = result()
	case verbFetch:
		if a.Op != opNoOp || g.IntN(2) == 0 {
			a.OType, a.OCount, a.Origin = leaf(b), 1, one(true)
		}
		a.RType, a.RCount, a.Result = leaf(b), 1, one(false)
	case verbSwap:
		a.OType, a.OCount, a.Origin, a.Compare = leaf(b), 1, one(true), one(true)
		a.Origin.Pos, a.Compare.Pos = 0, 0
		g.value(b, "", small, a.Origin.Data)
		g.value(b, "", small, a.Compare.Data)
		a.Origin.Size, a.Compare.Size = b.Extent, b.Extent
		a.Origin.Data, a.Compare.Data = a.Origin.Data[:b.Extent], a.Compare.Data[:b.Extent]
		a.RType, a.RCount, a.Result = leaf(b), 1, one(false)
	case verbStore:
		n := a.TCount * b.Extent
		a.OType, a.OCount, a.Origin = leaf(b), a.TCount, &Buffer{Size: n, Data: make([]byte, n)}
		g.fill(a.Origin.Data)
		for i := range a.TCount {
			g.value(b, "", small, a.Origin.Data[i*b.Extent:])
		}
		return a
	case verbLoad:
		a.RType, a.RCount, a.Result = leaf(b), a.TCount, &Buffer{Size: a.TCount * b.Extent}
		return a
	}
	switch g.IntN(40) {
	case 0:
		a.OCount, a.RCount, a.TCount = 0, 0, 0
		if a.Verb == verbFetch || a.Verb == verbSwap {
			return nil
		}
	case 1:
		a.Target = procNull
	}
	if g.burst(a, b) {
		return a
	}
	if a.Verb != verbFetch && a.Verb != verbSwap {
		if g.IntN(4) == 0 {
			a.Form |= formCount
		}
		if g.IntN(4) == 0 {
			a.Form |= formRequest
		}
		if !g.profile.Plain && g.IntN(6) == 0 && (a.OType == nil || a.OCount > 0) && (a.RType == nil ||
			a.RCount > 0) {
			a.Form |= formBottom
		}
	}
	return a
}

// burst makes the generated program repeat the call `a` many times, so that calls of several origins overlap in time.
// It returns false, and changes nothing, if the call cannot be repeated.
func (g *generator) burst(a *Action, b *Basic) bool {
	if !a.accumulates() || a.Target == procNull || a.TCount == 0 || g.IntN(100) >= g.profile.Burst ||
		!a.TType.disjoint(a.TCount) {
		return false
	}
	if (b.Kind == floating || b.Kind == cmplx) && a.Op == opProd {
		return false // repeated products would be out of range
	}
	most := 60000
	for _, region := range g.win.Members[a.Target].Regions {
		if region.Memory != "" && region.Memory != "alloc" || g.profile.Apart { // slow: by messages
			most = 4000
		}
	}
	if a.Result != nil {
		most = 1500
		a.Result.Size = up(a.Result.Size, 16) // keeps the alignment of the next result buffer
	}
	most = max(2, most/(a.TCount*len(a.TType.elems)))
	a.Times = most/4 + g.IntN(most)
	return true
}

// overlapping makes a type whose elements share bytes, or returns nil. Only the origin of a put may have such a type.
func (g *generator) overlapping(sig []run) *Type {
	b, n := sig[0].basic, sig[0].n
	if len(sig) > 1 || b.typed() || n > 100 || g.profile.Plain || g.IntN(10) > 0 {
		return nil
	}
	stride := g.IntN(b.Extent)
	var parts []placed
	for i := range n {
		parts = append(parts, placed{1, i * stride, leaf(b)})
	}
	return (&Type{ctor: "hvector", args: []int{n, 1, stride}, kids: []*Type{leaf(b)}}).make(parts)
}

// increment adds a verbIncrement by `rank`, which holds an exclusive lock on `target`.
func (g *generator) increment(rank, target int) {
	m := g.win.Members[target]
	if len(m.zones) == 0 {
		return
	}
	z := pick(g, m.zones...)
	if z.basic != nil || z.size < 8 {
		return
	}
	a := &Action{Verb: verbIncrement, Times: 1, Target: target, Region: z.region, TType: leaf(int64Type), TCount: 1,
		OType: leaf(int64Type), OCount: 1}
	for range 8 {
		if a.Disp, a.At = g.place(m, z, a.TType, 1, 8); a.Disp < 0 {
			return
		}
		a.Origin = &Buffer{Size: 8, Data: make([]byte, 8)}
		g.fill(a.Origin.Data)
		if g.use.claim(rank, a) {
			g.id++
			a.ID = g.id
			g.ph.Ranks[rank] = append(g.ph.Ranks[rank], a)
			g.use.segments[rank][target]++ // verbIncrement flushes
			return
		}
	}
}
