package types

import (
	"gompirma/core/abi"
	dt "gompirma/core/datatype"
	"gompirma/core/mpierr"
)

// validate checks the program of a type, which C interprets without further checks. If it returns nil, and Bounds and
// Packed return ok for a count, then the interpretation terminates without overflow and accesses only bytes inside
// Bounds (elemBounds for elements). Errors: MPI_ERR_TYPE if the program is not valid; the text names the word.
func validate(prog []int64) error {
	if len(prog) < dt.HeadWords || prog[dt.HeadMagic] != dt.Magic ||
		prog[dt.HeadProgramWords] != int64(len(prog)) {
		return mpierr.New(abi.MPI_ERR_TYPE, "%d words are not the description of a datatype", len(prog))
	}
	v := validator{prog: prog, nodes: map[int64]seen{}}
	for at := int64(dt.HeadWords); at < int64(len(prog)); {
		n, err := v.node(at)
		if err != nil {
			return err
		}
		at += n
	}
	return v.head()
}

// seen holds the properties of a node that the validator has computed.
type seen struct {
	size, lo, hi, segments, depth int64
}

type validator struct {
	prog  []int64
	nodes map[int64]seen
}

func invalid(at int64, format string, args ...any) error {
	return mpierr.Wrap(mpierr.New(abi.MPI_ERR_TYPE, format, args...), "description of a datatype, word %d", at)
}

// node validates the node that begins at word `at` of the program, and returns its length in words.
func (v *validator) node(at int64) (int64, error) {
	p := v.prog[at:]
	need := map[int64]int64{dt.NodeBlock: 2, dt.NodeLoop: 5, dt.NodeList: 4, dt.NodeBlocks: 4,
		dt.NodeSeq: 4}[p[0]]
	switch {
	case need == 0:
		return 0, invalid(at, "%d is no kind of node", p[0])
	case int64(len(p)) < need:
		return 0, invalid(at, "the node is cut off")
	case p[1] <= 0:
		return 0, invalid(at, "size %d is not positive", p[1])
	}
	if p[0] == dt.NodeBlock {
		v.nodes[at] = seen{size: p[1], hi: p[1], segments: 1, depth: 1}
		return 2, nil
	}
	n := p[2]
	if n < 2 {
		return 0, invalid(at, "%d entries, at least 2 are needed", n)
	}
	var a arith
	var s seen
	add := func(disp int64, c seen) {
		lo, hi := a.add(disp, c.lo), a.add(disp, c.hi)
		if s.segments == 0 {
			s.lo, s.hi = lo, hi
		}
		s.lo, s.hi = min(s.lo, lo), max(s.hi, hi)
		s.size, s.segments, s.depth = a.add(s.size, c.size), a.add(s.segments, c.segments),
			max(s.depth, c.depth+1)
	}
	child := func(ref int64) (seen, error) {
		c, ok := v.nodes[ref] // contains only nodes before this one
		if !ok {
			return c, invalid(at, "%d does not refer to a node before it", ref)
		}
		return c, nil
	}
	length := int64(0)
	switch p[0] {
	case dt.NodeLoop:
		c, err := child(p[4])
		if err != nil {
			return 0, err
		}
		add(0, c)
		add(a.mul(n-1, p[3]), c)
		s.size, s.segments = a.mul(n, c.size), a.mul(n, c.segments)
		length = 5
	case dt.NodeList:
		if length = 4 + n; n > int64(len(p))-4 {
			return 0, invalid(at, "a list of %d entries in %d words", n, len(p))
		}
		c, err := child(p[3])
		if err != nil {
			return 0, err
		}
		for _, d := range p[4 : 4+n] {
			add(d, c)
		}
	case dt.NodeBlocks, dt.NodeSeq:
		words := int64(2)
		if p[0] == dt.NodeSeq {
			words = 3
		}
		if n > (int64(len(p))-4)/words {
			return 0, invalid(at, "a list of %d entries in %d words", n, len(p))
		}
		length = 4 + words*n
		disps, prefix := p[3:3+n], p[3+n:4+2*n]
		if prefix[0] != 0 {
			return 0, invalid(at, "%d bytes before the first entry", prefix[0])
		}
		for i, d := range disps {
			if prefix[i+1] <= prefix[i] {
				return 0, invalid(at, "entry %d has no bytes", i)
			}
			c := seen{size: prefix[i+1] - prefix[i], hi: prefix[i+1] - prefix[i], segments: 1}
			if p[0] == dt.NodeSeq {
				var err error
				if c, err = child(p[4+2*n+int64(i)]); err != nil {
					return 0, err
				}
				if c.size != prefix[i+1]-prefix[i] {
					return 0, invalid(at, "entry %d is said to have %d bytes and has %d", i,
						prefix[i+1]-prefix[i], c.size)
				}
			}
			add(d, c)
		}
	}
	a.sub(s.hi, s.lo)
	switch {
	case a.overflow:
		return 0, invalid(at, "sizes or displacements do not fit 64 bits")
	case s.size != p[1]:
		return 0, invalid(at, "the node is said to have %d bytes and has %d", p[1], s.size)
	case s.depth > dt.MaxDepth:
		return 0, invalid(at, "more than %d levels", dt.MaxDepth)
	}
	v.nodes[at] = s
	return length, nil
}

// head validates the head against the nodes.
func (v *validator) head() error {
	p := v.prog
	const flags = dt.FlagContiguous | dt.FlagElemContiguous | dt.FlagStrided | dt.FlagOverlap
	if p[dt.HeadFlags]&^flags != 0 {
		return invalid(dt.HeadFlags, "unknown flags %#x", p[dt.HeadFlags])
	}
	want := make([]int64, dt.HeadWords)
	copy(want, p)
	for _, w := range []int{dt.HeadElemSize, dt.HeadTrueLB, dt.HeadTrueUB, dt.HeadDepth, dt.HeadSegments,
		dt.HeadSize, dt.HeadBlock,
		dt.HeadRepeat, dt.HeadStride} {
		want[w] = 0
	}
	want[dt.HeadFlags] = p[dt.HeadFlags] & dt.FlagOverlap
	var a arith
	a.add(p[dt.HeadLB], p[dt.HeadExtent])
	if p[dt.HeadElements] < 0 || p[dt.HeadElements] > p[dt.HeadSize] ||
		(p[dt.HeadElements] == 0) != (p[dt.HeadSize] == 0) {
		return invalid(dt.HeadElements, "%d elements in %d bytes", p[dt.HeadElements], p[dt.HeadSize])
	}
	if root := p[dt.HeadRoot]; root == 0 {
		if len(p) != dt.HeadWords {
			return invalid(dt.HeadRoot, "nodes without a root")
		}
		want[dt.HeadFlags] = dt.FlagContiguous | dt.FlagElemContiguous
		want[dt.HeadOrigin], want[dt.HeadElemOrigin], want[dt.HeadElemRoot], want[dt.HeadElem] = 0, 0, 0, 0
	} else {
		s, ok := v.nodes[root]
		if !ok {
			return invalid(dt.HeadRoot, "%d does not refer to a node", root)
		}
		want[dt.HeadSize], want[dt.HeadSegments], want[dt.HeadDepth] = s.size, s.segments, s.depth
		want[dt.HeadTrueLB], want[dt.HeadTrueUB] = a.add(p[dt.HeadOrigin], s.lo), a.add(p[dt.HeadOrigin], s.hi)
		switch {
		case p[root] == dt.NodeBlock:
			want[dt.HeadFlags] |= dt.FlagStrided
			want[dt.HeadBlock], want[dt.HeadRepeat] = s.size, 1
			if p[dt.HeadExtent] == s.size {
				want[dt.HeadFlags] |= dt.FlagContiguous
			}
		case p[root] == dt.NodeLoop && p[p[root+4]] == dt.NodeBlock:
			want[dt.HeadFlags] |= dt.FlagStrided
			want[dt.HeadBlock], want[dt.HeadRepeat] = p[p[root+4]+1], p[root+2]
			want[dt.HeadStride] = p[root+3]
		}
		if err := v.elements(want, &a); err != nil {
			return err
		}
	}
	if a.overflow {
		return invalid(0, "bounds do not fit 64 bits")
	}
	for i, w := range want {
		if p[i] != w {
			return invalid(int64(i), "%d, where %d belongs", p[i], w)
		}
	}
	return nil
}

// elements validates the second root, dt.HeadElemRoot, and the words of the head that depend on it.
func (v *validator) elements(want []int64, a *arith) error {
	p := v.prog
	if p[dt.HeadElem] == 0 {
		want[dt.HeadElemOrigin], want[dt.HeadElemRoot] = 0, 0
		return nil
	}
	b := dt.BasicOf(uintptr(p[dt.HeadElem]))
	if b == nil {
		return invalid(dt.HeadElem, "%#x is not a predefined datatype", p[dt.HeadElem])
	}
	s, ok := v.nodes[p[dt.HeadElemRoot]]
	switch {
	case !ok:
		return invalid(dt.HeadElemRoot, "%d does not refer to a node", p[dt.HeadElemRoot])
	case a.mul(p[dt.HeadElements], b.Size) != p[dt.HeadSize],
		a.mul(p[dt.HeadElements], b.Extent) != s.size:
		return invalid(dt.HeadElements, "%d elements of %s in %d bytes", p[dt.HeadElements], b.Name,
			p[dt.HeadSize])
	case b.Size == b.Extent && (p[dt.HeadElemRoot] != p[dt.HeadRoot] ||
		p[dt.HeadElemOrigin] != p[dt.HeadOrigin]):
		return invalid(dt.HeadElemRoot, "the elements of %s are not the bytes", b.Name)
	}
	if lo, hi := a.add(p[dt.HeadElemOrigin], s.lo), a.add(p[dt.HeadElemOrigin], s.hi); lo != want[dt.HeadTrueLB] ||
		hi != a.add(want[dt.HeadTrueUB], tail(b)) {
		return invalid(dt.HeadElemRoot, "the elements of %s lie in [%d, %d), the bytes in [%d, %d)", b.Name, lo,
			hi, want[dt.HeadTrueLB], want[dt.HeadTrueUB])
	}
	want[dt.HeadElemSize] = b.Extent
	want[dt.HeadDepth] = max(want[dt.HeadDepth], s.depth)
	if p[p[dt.HeadElemRoot]] == dt.NodeBlock && p[dt.HeadExtent] == s.size {
		want[dt.HeadFlags] |= dt.FlagElemContiguous
	}
	return nil
}

// packed returns the bytes of data of count copies, or of their elements with the gaps; -1 if they do not fit 64 bits.
func (l Layout) packed(count int64, elements bool) int64 {
	var a arith
	n := a.mul(count, l.Size())
	if elements {
		n = a.mul(count, a.mul(l.prog[dt.HeadElements], l.prog[dt.HeadElemSize]))
	}
	if a.overflow {
		return -1
	}
	return n
}

// elemBounds returns the bounds of the elements including the gaps inside them. If the type's elements are pairs that
// end in padding, the upper bound includes this padding.
func (l Layout) elemBounds(count int64) (lo, hi int64, ok bool) {
	lo, hi, ok = l.Bounds(count)
	if lo == hi || !ok || l.prog[dt.HeadElem] == 0 {
		return lo, hi, ok
	}
	var a arith
	hi = a.add(hi, tail(dt.BasicOf(uintptr(l.prog[dt.HeadElem]))))
	return lo, hi, !a.overflow
}

// tail returns the bytes of padding at the end of a pair type.
func tail(b *dt.Basic) int64 {
	if b.Class != dt.Pair {
		return 0
	}
	return b.Extent - b.IndexAt - dt.BasicOf(b.Index).Size
}
