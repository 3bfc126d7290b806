package datatype

// write appends the nodes below n, children first, and returns the reference of n.
func write(prog *[]int64, known map[*node]int64, n *node) int64 {
	if ref, ok := known[n]; ok {
		return ref
	}
	var words []int64
	switch n.kind {
	case NodeBlock:
		words = []int64{NodeBlock, n.size}
	case NodeLoop:
		words = []int64{NodeLoop, n.size, n.count, n.stride, write(prog, known, n.child)}
	case NodeList:
		words = append([]int64{NodeList, n.size, int64(len(n.disps)), write(prog, known, n.child)}, n.disps...)
	case NodeBlocks:
		words = append([]int64{NodeBlocks, n.size, int64(len(n.disps))}, n.disps...)
		words = append(words, n.prefix...)
	case NodeSeq:
		words = append([]int64{NodeSeq, n.size, int64(len(n.disps))}, n.disps...)
		words = append(words, n.prefix...)
		for _, c := range n.children {
			words = append(words, write(prog, known, c))
		}
	}
	ref := int64(len(*prog))
	*prog = append(*prog, words...)
	known[n] = ref
	return ref
}

// head is what a program says besides its nodes.
type head struct {
	elem               uintptr
	elemSize, elements int64
	lb, extent         int64
	bytes, elems       placed
}

// assemble writes the program of a type.
func assemble(h head) []int64 {
	p := make([]int64, HeadWords, HeadWords+8)
	p[HeadMagic] = Magic
	p[HeadElem], p[HeadElemSize], p[HeadElements] = int64(h.elem), h.elemSize, h.elements
	p[HeadLB], p[HeadExtent] = h.lb, h.extent
	if n := h.bytes.n; n == nil {
		p[HeadFlags] = FlagContiguous | FlagElemContiguous
	} else {
		known := map[*node]int64{}
		p[HeadSize], p[HeadSegments], p[HeadFlags] = n.size, n.segments, n.overlap
		p[HeadOrigin], p[HeadRoot] = h.bytes.disp, write(&p, known, n)
		p[HeadTrueLB], p[HeadTrueUB] = h.bytes.disp+n.lo, h.bytes.disp+n.hi
		p[HeadDepth] = n.depth
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
			p[HeadElemOrigin], p[HeadElemRoot] = h.elems.disp, write(&p, known, e)
			p[HeadDepth] = max(p[HeadDepth], e.depth)
			if e.kind == NodeBlock && h.extent == e.size {
				p[HeadFlags] |= FlagElemContiguous
			}
		}
	}
	p[HeadWords_] = int64(len(p))
	return p
}
