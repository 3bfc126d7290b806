package datatype

import (
	"cmp"
	"slices"
)

// node is one node of the flattened form, before it is written as words of a program. format.go describes the kinds of
// nodes. Nodes are immutable and shared between types.
type node struct {
	kind     int16
	overlap  bool // value of FlagOverlap
	depth    int32
	size     int64 // packed size, > 0
	count    int64 // of a loop: number of copies of the child
	stride   int64 // of a loop: bytes from one copy to the next
	child    *node // of a loop or list
	lo, hi   int64 // lowest byte and one past the highest byte touched, relative to the base
	segments int64
	*entries // never nil: points to noEntries for a block or a loop
}

// entries holds the additional fields of a node that is a list, blocks or seq.
type entries struct {
	disps    []int64
	prefix   []int64 // of blocks and seq: packed size before each entry, and of all entries
	children []*node // of a seq: one for each entry
}

var noEntries entries

// placed is a node with a displacement, which describes the layout of a type. The node n is nil if there are no bytes.
type placed struct {
	disp int64
	n    *node
}

// builder creates nodes in a normal form, so that equal layouts have equal programs.
type builder struct{ arith }

func block(size int64) *node {
	return &node{kind: NodeBlock, size: size, hi: size, segments: 1, depth: 1, entries: &noEntries}
}

// at returns p moved by disp bytes.
func (b *builder) at(p placed, disp int64) placed {
	if p.n == nil {
		return p
	}
	return placed{b.add(p.disp, disp), p.n}
}

// repeat returns count copies of p, stride bytes apart.
func (b *builder) repeat(p placed, count, stride int64) placed {
	switch {
	case count == 0 || p.n == nil:
		return placed{}
	case count == 1:
		return p
	}
	c := p.n
	size := b.mul(c.size, count)
	if c.kind == NodeBlock && stride == c.size {
		return placed{p.disp, block(size)}
	}
	var a arith
	if c.kind == NodeLoop && a.mul(c.stride, c.count) == stride && !a.overflow {
		count, stride, c = b.mul(count, c.count), c.stride, c.child
	}
	last := b.mul(count-1, stride)
	n := &node{
		kind: NodeLoop, size: size, count: count, stride: stride, child: c,
		lo: b.add(c.lo, min(0, last)), hi: b.add(c.hi, max(0, last)),
		segments: b.mul(c.segments, count), depth: c.depth + 1, entries: &noEntries,
	}
	n.overlap = b.loopOverlap(n)
	return placed{p.disp, n}
}

// loopOverlap returns whether the copies of a loop's child can touch a byte twice. In a nest of loops over one block,
// it examines the loops in the order of their strides and not of their nesting. Otherwise it would report an overlap
// for a transposed matrix, whose inner loop has the larger stride.
func (b *builder) loopOverlap(n *node) bool {
	type level struct{ stride, count int64 }
	var nest []level
	c := n
	for ; c.kind == NodeLoop; c = c.child {
		nest = append(nest, level{int64(min(magnitude(c.stride), 1<<63-1)), c.count})
	}
	if c.kind != NodeBlock {
		return n.child.overlap || int64(min(magnitude(n.stride), 1<<63-1)) < n.child.hi-n.child.lo
	}
	slices.SortFunc(nest, func(x, y level) int { return cmp.Compare(x.stride, y.stride) })
	span := c.size
	for _, l := range nest {
		if l.stride < span {
			return true
		}
		// No overflow: the sum is at most hi-lo of the whole nest, which has been checked.
		span += (l.count - 1) * l.stride
	}
	return false
}

// concat places items one after another in typemap order. It may change the slice items.
func (b *builder) concat(items []placed) placed {
	items = b.merge(items)
	if len(items) > 1 && !isSameNode(items) {
		items = b.extend(b.compress(items))
		if flat, ok := inline(items); ok {
			items = b.extend(b.compress(b.merge(flat)))
		}
	}
	switch {
	case len(items) == 0:
		return placed{}
	case len(items) == 1:
		return items[0]
	case !isSameNode(items) && !slices.ContainsFunc(items, func(p placed) bool { return p.n.kind != NodeBlock }):
		disps, sizes := make([]int64, len(items)), make([]int64, len(items))
		for i, it := range items {
			disps[i], sizes[i] = it.disp, it.n.size
		}
		return b.blocks(disps, sizes)
	}
	first := items[0].disp
	n := &node{entries: new(entries)}
	if isSameNode(items) {
		stride := b.sub(items[1].disp, first)
		if isRegular(items, stride) {
			return b.repeat(items[0], int64(len(items)), stride)
		}
		n.kind, n.child, n.size = NodeList, items[0].n, b.mul(items[0].n.size, int64(len(items)))
	} else {
		n.kind, n.prefix, n.children = NodeSeq, make([]int64, len(items)+1), make([]*node, len(items))
		known := map[[3]int64][]*node{}
		for i, it := range items {
			n.size = b.add(n.size, it.n.size)
			n.prefix[i+1] = n.size
			if i > 0 && it.n == items[i-1].n {
				n.children[i] = n.children[i-1]
			} else {
				n.children[i] = intern(known, it.n)
			}
		}
	}
	n.disps = make([]int64, len(items))
	for i, it := range items {
		n.disps[i] = b.sub(it.disp, first)
		n.segments += it.n.segments
		n.depth = max(n.depth, it.n.depth+1)
		n.overlap = n.overlap || it.n.overlap
	}
	b.finish(n, func(i int) byteRange {
		c := items[i].n
		return byteRange{b.add(n.disps[i], c.lo), b.add(n.disps[i], c.hi)}
	})
	return placed{first, n}
}

// blocks places a block of sizes[i] bytes at disps[i] for each i. It keeps and changes both slices.
func (b *builder) blocks(disps, sizes []int64) placed {
	k := 0 // number of blocks after merging
	for i, size := range sizes {
		switch {
		case size == 0:
		case k > 0 && disps[k-1]+sizes[k-1] == disps[i] && disps[i] >= disps[k-1]:
			sizes[k-1] = b.add(sizes[k-1], size)
		default:
			disps[k], sizes[k] = disps[i], size
			k++
		}
	}
	disps, sizes = disps[:k], sizes[:k]
	switch k {
	case 0:
		return placed{}
	case 1:
		return placed{disps[0], block(sizes[0])}
	}
	runs, uniform := 0, true
	for i := 0; i < k; runs++ {
		uniform = uniform && sizes[i] == sizes[0]
		i = runEnd(disps, sizes, i)
	}
	first := disps[0]
	if runs*4 <= k { // loops describe runs of constant stride with fewer words than a list
		items := make([]placed, 0, runs)
		for i := 0; i < k; {
			end := runEnd(disps, sizes, i)
			item := placed{disps[i], block(sizes[i])}
			if end > i+1 {
				item = b.repeat(item, int64(end-i), b.sub(disps[i+1], disps[i]))
			}
			items = append(items, item)
			i = end
		}
		if runs == 1 {
			return items[0]
		}
		return b.concat(items)
	}
	n := &node{kind: NodeBlocks, entries: &entries{disps: disps}, segments: int64(k), depth: 1}
	for i, d := range disps {
		disps[i] = b.sub(d, first)
	}
	if uniform {
		n.kind, n.child, n.size, n.depth = NodeList, block(sizes[0]), b.mul(sizes[0], int64(k)), 2
	} else {
		n.prefix = make([]int64, k+1)
		for i, size := range sizes {
			n.prefix[i+1] = b.add(n.prefix[i], size)
		}
		n.size = n.prefix[k]
	}
	b.finish(n, func(i int) byteRange { return byteRange{disps[i], b.add(disps[i], sizes[i])} })
	return placed{first, n}
}

// runEnd returns the end of the run of equal blocks at equal distances that begins at i. A run has at least three
// blocks; without a run, runEnd returns i + 1.
func runEnd(disps, sizes []int64, i int) int {
	j := i + 1
	for j < len(disps) && sizes[j] == sizes[i] && disps[j]-disps[j-1] == disps[i+1]-disps[i] {
		j++
	}
	if j-i < 3 {
		return i + 1
	}
	return j
}

// byteRange is the range of bytes of one entry of a list.
type byteRange struct{ lo, hi int64 }

// finish sets the bounds and the overlap of a list, whose entry i lies in the byte range at(i).
func (b *builder) finish(n *node, at func(i int) byteRange) {
	up, down := true, true
	p := at(0)
	n.lo, n.hi = p.lo, p.hi
	for i := 1; i < len(n.disps); i++ {
		q := at(i)
		up, down = up && p.hi <= q.lo, down && q.hi <= p.lo
		n.lo, n.hi = min(n.lo, q.lo), max(n.hi, q.hi)
		p = q
	}
	if up || down {
		return
	}
	hulls := make([]byteRange, len(n.disps))
	for i := range hulls {
		hulls[i] = at(i)
	}
	slices.SortFunc(hulls, func(p, q byteRange) int { return cmp.Compare(p.lo, q.lo) })
	reach := hulls[0].hi
	for _, q := range hulls[1:] {
		if q.lo < reach {
			n.overlap = true
			return
		}
		reach = max(reach, q.hi)
	}
}

// merge removes items without bytes, and combines adjacent blocks without a gap between them into one block.
func (b *builder) merge(items []placed) []placed {
	out := items[:0:0]
	changed := false
	for i, it := range items {
		if it.n == nil {
			if !changed {
				out, changed = append(out, items[:i]...), true
			}
			continue
		}
		k := i
		if changed {
			k = len(out)
		}
		if k > 0 && it.n.kind == NodeBlock {
			prev := items[i-1]
			if changed {
				prev = out[k-1]
			}
			if prev.n.kind == NodeBlock && prev.disp+prev.n.size == it.disp {
				if !changed {
					out, changed = append(out, items[:i]...), true
				}
				out[k-1].n = block(b.add(prev.n.size, it.n.size))
				continue
			}
		}
		if changed {
			out = append(out, it)
		}
	}
	if changed {
		return out
	}
	return items
}

// isSameNode returns whether all items are the same node.
func isSameNode(items []placed) bool {
	for _, it := range items[1:] {
		if !nodesEqual(items[0].n, it.n) {
			return false
		}
	}
	return true
}

// nodesEqual returns true if it can show that two nodes have the same content. It does not compare lists of entries:
// two nodes with such lists are equal only if they are the same object.
func nodesEqual(x, y *node) bool {
	for x != y {
		if x.kind != y.kind || x.size != y.size || x.kind > NodeLoop || x.count != y.count ||
			x.stride != y.stride {
			return false
		}
		if x.kind == NodeBlock {
			return true
		}
		x, y = x.child, y.child
	}
	return true
}

// intern returns a node of `known` that is equal to n. If `known` has no such node, it returns n. It adds n to `known`
// unless n has a list of entries.
func intern(known map[[3]int64][]*node, n *node) *node {
	key := [3]int64{int64(n.kind), n.size, n.stride}
	for _, k := range known[key] {
		if nodesEqual(k, n) {
			return k
		}
	}
	if n.kind <= NodeLoop {
		known[key] = append(known[key], n)
	}
	return n
}

// isRegular returns whether consecutive items are stride bytes apart.
func isRegular(items []placed, stride int64) bool {
	for i := 1; i < len(items); i++ {
		if items[i].disp-items[i-1].disp != stride {
			return false
		}
	}
	return true
}

// compress replaces each run of equal nodes at equal distances by one loop, if this at least halves the number of
// items.
func (b *builder) compress(items []placed) []placed {
	runs := 0
	for i := 0; i < len(items); runs++ {
		i = nodeRunEnd(items, i)
	}
	if runs*2 > len(items) {
		return items
	}
	out := make([]placed, 0, runs)
	for i := 0; i < len(items); {
		end := nodeRunEnd(items, i)
		item := items[i]
		if end > i+1 {
			item = b.repeat(item, int64(end-i), b.sub(items[i+1].disp, item.disp))
		}
		out = append(out, item)
		i = end
	}
	return out
}

// nodeRunEnd returns the end of the run of equal nodes at equal distances that begins at i, like runEnd for blocks.
func nodeRunEnd(items []placed, i int) int {
	j := i + 1
	for j < len(items) && items[j].disp-items[j-1].disp == items[i+1].disp-items[i].disp && nodesEqual(items[j].n,
		items[i].n) {
		j++
	}
	if j-i < 3 {
		return i + 1
	}
	return j
}

// extend joins a loop with adjacent items that continue it at the same stride: one more child, or another loop over the
// same child.
func (b *builder) extend(items []placed) []placed {
	if !slices.ContainsFunc(items, func(p placed) bool { return p.n.kind == NodeLoop }) {
		return items
	}
	out := make([]placed, 1, len(items))
	out[0] = items[0]
	for _, next := range items[1:] {
		last := &out[len(out)-1]
		count, child, stride := loopParts(last.n)
		more, other, step := loopParts(next.n)
		if count == 1 {
			stride = step
		}
		if count+more > 2 && (more == 1 || step == stride) && nodesEqual(child, other) &&
			next.disp == b.add(last.disp, b.mul(count, stride)) {
			*last = b.repeat(placed{last.disp, child}, b.add(count, more), stride)
			continue
		}
		out = append(out, next)
	}
	return out
}

// loopParts returns count, child and stride of a loop. It treats any other node as a loop of one iteration over itself.
func loopParts(n *node) (count int64, child *node, stride int64) {
	if n.kind == NodeLoop {
		return n.count, n.child, n.stride
	}
	return 1, n, 0
}

// inline replaces a child that has a list of entries by these entries, if the list is short or holds more than half of
// all bytes. This results in fewer levels, more blocks to merge, and a bounded depth.
func inline(items []placed) ([]placed, bool) {
	const short = 8
	var total int64
	found := false
	for _, it := range items {
		total += it.n.size
		found = found || it.n.kind >= NodeList
	}
	if !found {
		return nil, false
	}
	var out []placed
	for _, it := range items {
		n := it.n
		if n.kind < NodeList || len(n.disps) > short && n.size <= total/2 {
			out = append(out, it)
			continue
		}
		for i, d := range n.disps {
			out = append(out, placed{it.disp + d, n.entry(i)})
		}
	}
	return out, true
}

// entry returns child i of a list, blocks or seq.
func (n *node) entry(i int) *node {
	switch n.kind {
	case NodeList:
		return n.child
	case NodeBlocks:
		return block(n.prefix[i+1] - n.prefix[i])
	default:
		return n.children[i]
	}
}
