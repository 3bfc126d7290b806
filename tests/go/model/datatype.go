package model

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
)

// Type is a predefined datatype, or a constructor with its arguments. The model computes the type map of a Type from
// the standard's definitions, without the library under test.
type Type struct {
	Basic *Basic // the predefined type; nil if a constructor makes the type
	ctor  string // constructor, in the form that interp.c reads
	args  []int
	kids  []*Type
	id    int // number of the type in the program text; 0 until the type is written

	elems            []elem // the typemap, without lb and ub markers
	lb, ub           int
	marked           bool // the bounds come from MPI_Type_create_resized
	trueLB, trueUB   int
	alignment, depth int
}

// elem is one entry of a typemap.
type elem struct {
	off   int
	basic *Basic
}

func leaf(b *Basic) *Type {
	return &Type{Basic: b, elems: []elem{{0, b}}, ub: b.Extent, trueUB: b.Extent, alignment: b.align()}
}

func (t *Type) extent() int { return t.ub - t.lb }

// each calls the function `do` for every element of `count` copies of t, in typemap order, with the element's offset
// and predefined type.
func (t *Type) each(count int, do func(off int, b *Basic)) {
	for i := range count {
		for _, e := range t.elems {
			do(i*t.extent()+e.off, e.basic)
		}
	}
}

// bounds returns the range of bytes that `count` copies of t occupy, relative to the buffer's address.
func (t *Type) bounds(count int) (from, to int) {
	if count == 0 || len(t.elems) == 0 {
		return 0, 0
	}
	last := (count - 1) * t.extent()
	return min(t.trueLB, last+t.trueLB), max(t.trueUB, last+t.trueUB)
}

// disjoint reports whether no byte belongs to two elements of `count` copies of t.
func (t *Type) disjoint(count int) bool {
	var all []elem
	t.each(count, func(off int, b *Basic) { all = append(all, elem{off, b}) })
	sort.Slice(all, func(i, j int) bool { return all[i].off < all[j].off })
	for i := 1; i < len(all); i++ {
		if all[i-1].off+all[i-1].basic.Extent > all[i].off {
			return false
		}
	}
	return true
}

// placed is a block of `length` copies of the type `kid` at a displacement.
type placed struct {
	length, disp int // disp in bytes
	kid          *Type
}

// make computes the typemap and the bounds of t, which consists of the given blocks.
func (t *Type) make(parts []placed) *Type {
	type bound struct {
		lb, ub int
		set    bool
	}
	var natural, marked bound
	widen := func(b *bound, lb, ub int) {
		if !b.set {
			*b = bound{lb, ub, true}
		}
		b.lb, b.ub = min(b.lb, lb), max(b.ub, ub)
	}
	first := true
	t.alignment = 1
	for _, p := range parts {
		t.alignment = max(t.alignment, p.kid.alignment)
		t.depth = max(t.depth, p.kid.depth+1)
		for i := range p.length {
			at := p.disp + i*p.kid.extent()
			for _, e := range p.kid.elems {
				t.elems = append(t.elems, elem{at + e.off, e.basic})
				if lo, hi := at+e.off, at+e.off+e.basic.Extent; first {
					t.trueLB, t.trueUB, first = lo, hi, false
				} else {
					t.trueLB, t.trueUB = min(t.trueLB, lo), max(t.trueUB, hi)
				}
			}
			// Bounds set by MPI_Type_create_resized override all other bounds (MPI-5.0 5.1.7).
			if p.kid.marked {
				widen(&marked, at+p.kid.lb, at+p.kid.ub)
			} else {
				widen(&natural, at+p.kid.lb, at+p.kid.ub)
			}
		}
	}
	t.lb, t.ub = natural.lb, natural.ub
	if marked.set {
		t.lb, t.ub, t.marked = marked.lb, marked.ub, true
	}
	return t
}

func resized(kid *Type, lb, extent int) *Type {
	t := (&Type{ctor: "resized", args: []int{lb, extent}, kids: []*Type{kid}}).make([]placed{{1, 0, kid}})
	t.lb, t.ub, t.marked = lb, lb+extent, true
	return t
}

// settled returns a type with explicit bounds if the extent of t would depend on the alignment padding of the MPI
// library.
func settled(t *Type) *Type {
	if t.Basic == nil && !t.marked && t.extent()%t.alignment != 0 {
		return resized(t, t.lb, t.extent())
	}
	return t
}

func (t *Type) String() string {
	if t.Basic != nil {
		return t.Basic.Name
	}
	kids := make([]string, len(t.kids))
	for i, k := range t.kids {
		kids[i] = k.String()
	}
	return fmt.Sprintf("%s%v(%s)", t.ctor, t.args, strings.Join(kids, ", "))
}

// run is a part of a type signature: n elements of one predefined type.
type run struct {
	basic *Basic
	n     int
}

// shaper makes random types with a given signature. Displacements are multiples of `grain` bytes, so that elements stay
// aligned.
type shaper struct {
	*rand.Rand
	grain int
	most  int // approximate maximum true extent of the types
}

// typeFor makes a type with the signature `sig`, whose elements do not overlap.
func (s *shaper) typeFor(sig []run, depth int) *Type {
	if len(sig) > 1 {
		parts := make([]*Type, len(sig))
		for i, r := range sig {
			parts[i] = s.typeOf(r.basic, r.n, depth-1)
		}
		return settled(s.structOf(parts))
	}
	return s.typeOf(sig[0].basic, sig[0].n, depth)
}

// divisor returns a random divisor of n.
func (s *shaper) divisor(n int) int {
	var all []int
	for d := 1; d <= n; d++ {
		if n%d == 0 {
			all = append(all, d)
		}
	}
	return all[s.IntN(len(all))]
}

// gap returns a random small distance. It is often 0.
func (s *shaper) gap() int {
	if s.IntN(2) == 0 {
		return 0
	}
	return s.IntN(4)
}

// typeOf makes a type whose signature is n elements of b.
func (s *shaper) typeOf(b *Basic, n, depth int) *Type {
	if n == 1 && (depth <= 0 || s.IntN(2) == 0) {
		return leaf(b)
	}
	if depth <= 0 {
		t := leaf(b)
		return (&Type{ctor: "contiguous", args: []int{n}, kids: []*Type{t}}).make([]placed{{n, 0, t}})
	}
	if t := s.constructed(b, n, depth); t.trueUB-t.trueLB <= s.most && t.disjoint(1) {
		return settled(t)
	}
	return s.typeOf(b, n, 0)
}

func (s *shaper) constructed(b *Basic, n, depth int) *Type {
	switch s.IntN(8) {
	case 0, 1:
		return s.strided(b, n, depth)
	case 2, 3:
		return s.listed(b, n, depth)
	case 4:
		var parts []*Type
		for left := n; left > 0; {
			k := 1 + s.IntN(left)
			parts = append(parts, s.typeOf(b, k, depth-1))
			left -= k
		}
		return s.structOf(parts)
	case 5:
		return s.subarray(b, n, depth)
	case 6:
		kid := s.typeOf(b, n, depth-1)
		before, behind := s.gap()*s.grain, s.gap()*s.grain
		from, to := min(kid.lb, kid.trueLB), max(kid.ub, kid.trueUB)
		if s.IntN(4) == 0 { // raise the lower bound into the data; otherwise lower it
			return resized(kid, from+before, to-from+behind)
		}
		return resized(kid, from-before, to-from+before+behind)
	}
	kid := s.typeOf(b, n, depth-1)
	if kid.Basic != nil {
		return (&Type{ctor: "contiguous", args: []int{1}, kids: []*Type{kid}}).make([]placed{{1, 0, kid}})
	}
	t := *kid
	t.ctor, t.args, t.kids, t.id = "dup", nil, []*Type{kid}, 0
	return &t
}

// pitch returns the smallest distance, in extents of the type `kid`, at which copies of the type do not overlap.
func pitch(kid *Type) int {
	if kid.extent() <= 0 {
		return 0
	}
	return (kid.trueUB - kid.trueLB + kid.extent() - 1) / kid.extent()
}

// spacing returns a distance in bytes at which copies of the type `kid` do not overlap.
func (s *shaper) spacing(kid *Type) int {
	return up(max(kid.extent(), kid.trueUB-kid.trueLB, 1), s.grain)
}

// strided makes a vector, hvector or contiguous type.
func (s *shaper) strided(b *Basic, n, depth int) *Type {
	inside := s.divisor(n)
	kid := s.typeOf(b, inside, depth-1)
	n /= inside
	length := s.divisor(n)
	count := n / length
	step := pitch(kid)
	var parts []placed
	t := &Type{kids: []*Type{kid}}
	switch s.IntN(3) {
	case 0:
		t.ctor, t.args = "contiguous", []int{n}
		parts = []placed{{n, 0, kid}}
	case 1:
		stride := length - 1 + step + s.gap()
		if s.IntN(4) == 0 {
			stride = -stride
		}
		t.ctor, t.args = "vector", []int{count, length, stride}
		for i := range count {
			parts = append(parts, placed{length, i * stride * kid.extent(), kid})
		}
	case 2:
		stride := (length-1)*kid.extent() + s.spacing(kid) + s.gap()*s.grain
		if s.IntN(4) == 0 {
			stride = -stride
		}
		t.ctor, t.args = "hvector", []int{count, length, stride}
		for i := range count {
			parts = append(parts, placed{length, i * stride, kid})
		}
	}
	return t.make(parts)
}

// listed makes an indexed, hindexed, indexed_block or hindexed_block type with random blocks in random order.
func (s *shaper) listed(b *Basic, n, depth int) *Type {
	inside := s.divisor(n)
	kid := s.typeOf(b, inside, depth-1)
	n /= inside
	step := pitch(kid)
	if step == 0 {
		return s.structOf([]*Type{kid})
	}
	var lengths []int
	blocks := s.IntN(2) == 0
	if blocks {
		length := s.divisor(n)
		for range n / length {
			lengths = append(lengths, length)
		}
	} else {
		for left := n; left > 0; {
			k := s.IntN(left + 1) // may be 0: an empty block
			lengths = append(lengths, k)
			left -= k
			if len(lengths) > 2*n {
				lengths = append(lengths, left)
				break
			}
		}
	}
	inBytes := s.IntN(2) == 0
	unit := kid.extent()
	if inBytes {
		unit = s.grain
	}
	// Place the blocks in random order without overlap, from a random start. The displacements `disps` count in
	// units of `unit` bytes; below, they are converted to bytes if inBytes is true.
	disps := make([]int, len(lengths))
	at := s.IntN(5) - 2
	for _, i := range s.Perm(len(lengths)) {
		disps[i] = at
		if lengths[i] > 0 {
			span := ((lengths[i]-1)*kid.extent() + max(kid.trueUB-kid.trueLB, kid.extent()) +
				unit - 1) / unit
			if !inBytes {
				span = lengths[i] - 1 + step
			}
			at += span + s.gap()
		}
	}
	t := &Type{kids: []*Type{kid}}
	var parts []placed
	for i, length := range lengths {
		parts = append(parts, placed{length, disps[i] * unit, kid})
		if inBytes {
			disps[i] *= unit
		}
	}
	h := ""
	if inBytes {
		h = "h"
	}
	if blocks {
		t.ctor, t.args = h+"indexed_block", append([]int{len(lengths), lengths[0]}, disps...)
	} else {
		t.ctor, t.args = h+"indexed", append(append([]int{len(lengths)}, lengths...), disps...)
	}
	return t.make(parts)
}

// structOf makes a struct of the types `kids`. Its blocks do not overlap, and their order in memory is random.
func (s *shaper) structOf(kids []*Type) *Type {
	disps := make([]int, len(kids))
	at := (s.IntN(5) - 2) * s.grain
	for _, i := range s.Perm(len(kids)) {
		k := kids[i]
		disps[i] = up(at-min(k.trueLB, k.lb), s.grain)
		at = disps[i] + max(k.trueUB, k.ub) + s.gap()*s.grain
	}
	t := &Type{ctor: "struct", kids: kids}
	var parts []placed
	lengths := make([]int, len(kids))
	for i, k := range kids {
		lengths[i] = 1
		parts = append(parts, placed{1, disps[i], k})
	}
	t.args = append(append([]int{len(kids)}, lengths...), disps...)
	return t.make(parts)
}

// up rounds n, which may be negative, up to a multiple of `to`.
func up(n, to int) int {
	if r := n % to; r > 0 {
		return n + to - r
	} else {
		return n - r
	}
}

// subarray makes a subarray type of one to three dimensions.
func (s *shaper) subarray(b *Basic, n, depth int) *Type {
	inside := s.divisor(n)
	kid := s.typeOf(b, inside, depth-1)
	if kid.trueLB < kid.lb || kid.trueUB > kid.ub {
		kid = s.typeOf(b, inside, 0)
	}
	n /= inside
	dims := 1 + s.IntN(3)
	order := s.IntN(2) // 0: MPI_ORDER_C, 1: MPI_ORDER_FORTRAN
	sizes, subsizes, starts := make([]int, dims), make([]int, dims), make([]int, dims)
	for d := range dims {
		subsizes[d] = n
		if d < dims-1 {
			subsizes[d] = s.divisor(n)
		}
		n /= subsizes[d]
		starts[d] = s.gap()
		sizes[d] = starts[d] + subsizes[d] + s.gap()
	}
	t := &Type{ctor: "subarray", kids: []*Type{kid}}
	t.args = append(append(append([]int{dims}, sizes...), subsizes...), append(starts, order)...)
	// Elements follow in array order: in C the last dimension varies fastest, in Fortran the first.
	fastest := make([]int, dims) // dimensions, the fastest varying one first
	for d := range dims {
		fastest[d] = d
		if order == 0 {
			fastest[d] = dims - 1 - d
		}
	}
	total := 1
	for d := range dims {
		total *= sizes[d]
	}
	var parts []placed
	var walk func(level, off int)
	strides := make([]int, dims)
	stride := 1
	for _, d := range fastest {
		strides[d] = stride
		stride *= sizes[d]
	}
	walk = func(level, off int) {
		if level < 0 {
			parts = append(parts, placed{1, off * kid.extent(), kid})
			return
		}
		d := fastest[level]
		for i := range subsizes[d] {
			walk(level-1, off+(starts[d]+i)*strides[d])
		}
	}
	walk(dims-1, 0)
	t.make(parts)
	t.lb, t.ub, t.marked = 0, total*kid.extent(), true
	return t
}
