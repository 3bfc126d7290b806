package datatype

// writer appends nodes to a program. It writes a node that is used several times only once.
type writer struct {
	prog []int64
	refs map[*node]int64
}

// countWords returns the number of words that n and the nodes below it need in a program. Nodes that are already in
// `seen` need no further words.
func countWords(seen map[*node]bool, n *node) int {
	if n == nil || seen[n] {
		return 0
	}
	seen[n] = true
	sum := 5 + len(n.disps) + len(n.prefix) + len(n.children) + countWords(seen, n.child)
	last := n
	for _, c := range n.children {
		if c != last {
			sum += countWords(seen, c)
			last = c
		}
	}
	return sum
}

// write appends n and the nodes below it, children first, and returns the reference of n.
func (w *writer) write(n *node) int64 {
	if ref, ok := w.refs[n]; ok {
		return ref
	}
	child := int64(0)
	if n.child != nil {
		child = w.write(n.child)
	}
	for _, c := range n.children {
		w.write(c)
	}
	ref := int64(len(w.prog))
	switch n.kind {
	case NodeBlock:
		w.prog = append(w.prog, NodeBlock, n.size)
	case NodeLoop:
		w.prog = append(w.prog, NodeLoop, n.size, n.count, n.stride, child)
	case NodeList:
		w.prog = append(append(w.prog, NodeList, n.size, int64(len(n.disps)), child), n.disps...)
	default:
		w.prog = append(append(w.prog, int64(n.kind), n.size, int64(len(n.disps))), n.disps...)
		w.prog = append(w.prog, n.prefix...)
		for _, c := range n.children {
			w.prog = append(w.prog, w.refs[c])
		}
	}
	w.refs[n] = ref
	return ref
}

// head holds the values from which the head of a program is written.
type head struct {
	elem               uintptr
	elemSize, elements int64
	lb, extent         int64
	bytes, elems       placed
}

// assemble writes the program of a type, into the slice `room` if that is large enough.
func assemble(h head, room []int64) []int64 {
	seen := map[*node]bool{}
	if need := HeadWords + countWords(seen, h.bytes.n) + countWords(seen, h.elems.n); cap(room) < need {
		room = make([]int64, HeadWords, need)
	}
	w := writer{room[:HeadWords], map[*node]int64{}}
	p := w.prog
	clear(p)
	p[HeadMagic] = Magic
	p[HeadElem], p[HeadElemSize], p[HeadElements] = int64(h.elem), h.elemSize, h.elements
	p[HeadLB], p[HeadExtent] = h.lb, h.extent
	if n := h.bytes.n; n == nil {
		p[HeadFlags] = FlagContiguous | FlagElemContiguous
	} else {
		p[HeadSize], p[HeadSegments] = n.size, n.segments
		if n.overlap {
			p[HeadFlags] = FlagOverlap
		}
		p[HeadOrigin], p[HeadRoot] = h.bytes.disp, w.write(n)
		p[HeadTrueLB], p[HeadTrueUB] = h.bytes.disp+n.lo, h.bytes.disp+n.hi
		p[HeadDepth] = int64(n.depth)
		switch {
		case n.kind == NodeBlock:
			p[HeadFlags] |= FlagStrided
			p[HeadBlock], p[HeadRepeat] = n.size, 1
			if h.extent == n.size {
				p[HeadFlags] |= FlagContiguous
			}
		case n.kind == NodeLoop && n.child.kind == NodeBlock:
			p[HeadFlags] |= FlagStrided
			p[HeadBlock], p[HeadRepeat], p[HeadStride] = n.child.size, n.count, n.stride
		}
		if e := h.elems.n; h.elem != 0 {
			p[HeadElemOrigin], p[HeadElemRoot] = h.elems.disp, w.write(e)
			p[HeadDepth] = max(p[HeadDepth], int64(e.depth))
			if e.kind == NodeBlock && h.extent == e.size {
				p[HeadFlags] |= FlagElemContiguous
			}
		}
	}
	p[HeadProgramWords] = int64(len(w.prog))
	return w.prog
}
