package datatype

import "sort"

// Run is a sequence of N blocks of Block bytes, Stride apart; the first lies at Offset, relative to the buffer's
// address.
type Run struct {
	Offset, Block, N, Stride int64
}

// View says what a cursor iterates over.
type View int

// The views of a type.
const (
	Bytes View = iota // the bytes of data
	// the elements of the one predefined type that the type consists of, with the gaps inside pair types
	Elements
)

// Cursor iterates over the bytes that a number of copies of a type touch, in the order of the typemap, as packing goes.
// It can stop and go on at any byte. A cursor is used by one goroutine; it keeps the program.
type Cursor struct {
	prog   []int64
	origin int64
	root   int64
	one    int64 // packed bytes of one copy
	extent int64
	total  int64 // packed bytes of all copies
	pos    int64 // packed bytes before the next one

	run     Run   // the blocks at hand; N 0: none
	skip    int64 // bytes of the first block of run that were taken
	copyNo  int64 // the copy that the stack is in
	stack   []frame
	initial [8]frame
}

// frame is a node with several children on the path to the current block.
type frame struct {
	node int64 // reference
	i    int64 // current child
	base int64
}

// NewCursor returns a cursor at the first byte of count copies. Precondition: prog is of this process or validated, and
// Bounds and Packed of count are ok.
func NewCursor(prog []int64, count int64, view View) *Cursor {
	c := new(Cursor)
	c.Reset(prog, count, view)
	return c
}

// Reset makes c a cursor at the first byte of count copies.
func (c *Cursor) Reset(prog []int64, count int64, view View) {
	*c = Cursor{prog: prog, extent: prog[HeadExtent], stack: c.stack[:0]}
	if c.stack == nil {
		c.stack = c.initial[:0]
	}
	c.origin, c.root = prog[HeadOrigin], prog[HeadRoot]
	if view == Elements {
		c.origin, c.root = prog[HeadElemOrigin], prog[HeadElemRoot]
	}
	if c.root == 0 || count <= 0 {
		return
	}
	c.one = prog[c.root+1]
	c.total = c.one * count
	c.SeekTo(0)
}

// SeekTo goes to the byte after pos packed bytes in O(depth + log n). pos is at least 0; at total and beyond there is
// nothing more.
func (c *Cursor) SeekTo(pos int64) {
	c.stack, c.run, c.skip = c.stack[:0], Run{}, 0
	if pos >= c.total {
		c.pos = c.total
		return
	}
	c.pos = pos
	if c.prog[c.root] == NodeBlock { // one level: the copies themselves are the run
		k := pos / c.one
		c.run = Run{c.origin + k*c.extent, c.one, c.total/c.one - k, c.extent}
		c.skip = pos % c.one
		if c.extent == c.one {
			c.run = Run{c.run.Offset, c.total - k*c.one, 1, 0}
		}
		c.copyNo = c.total / c.one
		return
	}
	c.copyNo = pos / c.one
	c.descend(c.root, c.origin+c.copyNo*c.extent, pos%c.one)
}

// descend goes from a node down to the block that holds packed byte pos of it, leaving frames on the stack for the way
// back.
func (c *Cursor) descend(node, base, pos int64) {
	p := c.prog
	for {
		switch p[node] {
		case NodeBlock:
			c.run, c.skip = Run{base, p[node+1], 1, 0}, pos
			return
		case NodeLoop:
			child := p[node+4]
			size := p[child+1]
			i := pos / size
			pos -= i * size
			if p[child] == NodeBlock {
				c.run, c.skip = Run{base + i*p[node+3], size, p[node+2] - i, p[node+3]}, pos
				return
			}
			c.stack = append(c.stack, frame{node, i, base})
			node, base = child, base+i*p[node+3]
		case NodeList:
			child := p[node+3]
			size := p[child+1]
			i := pos / size
			pos -= i * size
			c.stack = append(c.stack, frame{node, i, base})
			node, base = child, base+p[node+4+i]
		default: // NodeBlocks, NodeSeq
			n := p[node+2]
			disps, prefix := p[node+3:node+3+n], p[node+3+n:node+4+2*n]
			i := int64(0)
			if pos > 0 {
				i = int64(sort.Search(int(n), func(k int) bool { return prefix[k+1] > pos }))
			}
			pos -= prefix[i]
			c.stack = append(c.stack, frame{node, i, base})
			if p[node] == NodeBlocks {
				c.run, c.skip = Run{base + disps[i], prefix[i+1] - prefix[i], 1, 0}, pos
				return
			}
			node, base = p[node+4+2*n+i], base+disps[i]
		}
	}
}

// advance goes to the run after the current one; at the end there is none.
func (c *Cursor) advance() {
	p := c.prog
	for k := len(c.stack) - 1; k >= 0; k-- {
		f := &c.stack[k]
		if f.i++; f.i == p[f.node+2] {
			continue
		}
		c.stack = c.stack[:k+1]
		switch n := p[f.node+2]; p[f.node] {
		case NodeLoop:
			c.descend(p[f.node+4], f.base+f.i*p[f.node+3], 0)
		case NodeList:
			c.descend(p[f.node+3], f.base+p[f.node+4+f.i], 0)
		case NodeBlocks:
			prefix := p[f.node+3+n+f.i:]
			c.run, c.skip = Run{f.base + p[f.node+3+f.i], prefix[1] - prefix[0], 1, 0}, 0
		default: // NodeSeq
			c.descend(p[f.node+4+2*n+f.i], f.base+p[f.node+3+f.i], 0)
		}
		return
	}
	c.stack, c.run, c.skip = c.stack[:0], Run{}, 0
	if c.copyNo++; c.copyNo < c.total/c.one {
		c.descend(c.root, c.origin+c.copyNo*c.extent, 0)
	}
}

// Next takes up to limit bytes that lie together and returns where; n is 0 at the end. limit is positive.
func (c *Cursor) Next(limit int64) (offset, n int64) {
	if c.run.N == 0 {
		return 0, 0
	}
	offset = c.run.Offset + c.skip
	n = min(limit, c.run.Block-c.skip)
	c.pos += n
	if c.skip += n; c.skip == c.run.Block {
		c.drop(1)
	}
	return offset, n
}

// Run takes as many whole blocks at equal distances as are at hand, of at most limit bytes in all; n.N is 0 at the end,
// and if not even one block fits (then Next takes a part of it). After Next stopped inside a block, the rest of it is a
// run of its own.
func (c *Cursor) Run(limit int64) Run {
	r := c.run
	if r.N == 0 {
		return r
	}
	if c.skip > 0 {
		r = Run{r.Offset + c.skip, r.Block - c.skip, 1, 0}
	}
	if r.N = min(r.N, limit/r.Block); r.N > 0 {
		c.pos += r.N * r.Block
		c.drop(r.N)
	}
	return r
}

// drop leaves n blocks of the run behind.
func (c *Cursor) drop(n int64) {
	c.run.N -= n
	c.run.Offset += n * c.run.Stride
	c.skip = 0
	if c.run.N == 0 {
		c.advance()
	}
}
