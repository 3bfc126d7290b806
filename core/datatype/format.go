package datatype

// The flattened form of a type is a program: a flat, relocatable []int64 without addresses. C code interprets the
// program; struct gompi_type in capi/datatype/datatype.h is its head. A process sends a program to another process to
// describe a target datatype. A program consists of
//
//	head     HeadWords words, each at the index of its Head constant
//	nodes    one after another; a node refers only to nodes before it, so there are no cycles
//
// A node describes bytes relative to an address, its base. The first byte in typemap order is at the base. A reference
// is the index of the node's first word in the program. The packed size is the number of bytes that a node yields.
//
//	block    NodeBlock  size                                        size bytes at base
//	loop     NodeLoop   size  count  stride  child                  child at base + i*stride, i < count
//	list     NodeList   size  n  child  disp[n]                     child at base + disp[i]
//
//	blocks   NodeBlocks size  n  disp[n]  prefix[n+1]               prefix[i+1]-prefix[i] bytes at base + disp[i]
//	seq      NodeSeq    size  n  disp[n]  prefix[n+1]  child[n]     child[i] at base + disp[i]
//
// The packed size before entry i is prefix[i], that of the node prefix[n]. Every node yields at least one byte and
// every n is at least 2. Each loop and list at least doubles the packed size. A child seq that holds more than half of
// the packed size of its parent seq is inlined: the parent gets the entries of the child. Therefore the depth is less
// than MaxDepth for any type.
//
// Neighbouring bytes are merged into one block, whatever their element types, so that a copy moves as many bytes at
// once as possible. The program describes bytes; only the head has element types, which accumulates need. HeadElem is
// the handle of the predefined type that all elements have, or 0 if they have different types.
//
// Elements of MPI_SHORT_INT, MPI_DOUBLE_INT and other pair types contain gaps, that is, bytes without data. So a type
// with such elements has two roots. HeadRoot describes the bytes (packed size HeadSize). HeadElemRoot describes the
// elements including their gaps (packed size HeadElements*HeadElemSize). For all other types with HeadElem set, both
// are the same node. Without HeadElem, HeadElemRoot is 0.
//
// Magic is the first word of every program; it changes with the format. MaxDepth bounds the number of nodes on a path
// from a root to a block.

// Layout is the description of a type by its program, for a type of this process or of another one. The zero value is
// not valid.
type Layout struct {
	prog []int64
}

// Flag returns whether all given flags are set.
func (l Layout) Flag(f int64) bool { return l.prog[HeadFlags]&f == f }

// Size returns the bytes of data of one copy.
func (l Layout) Size() int64 { return l.prog[HeadSize] }

// Segments returns the number of contiguous parts of one copy.
func (l Layout) Segments() int64 { return l.prog[HeadSegments] }

// Contiguous returns whether count copies are count*Size bytes without a gap, beginning at Origin.
func (l Layout) Contiguous() bool { return l.Flag(FlagContiguous) }

// Origin returns the displacement of the first byte in typemap order.
func (l Layout) Origin() int64 { return l.prog[HeadOrigin] }

// Packed returns the bytes of data of count copies; ok is false if that does not fit 64 bits or count is negative.
func (l Layout) Packed(count int64) (n int64, ok bool) {
	var a arith
	n = a.mul(count, l.prog[HeadSize])
	return n, !a.overflow && count >= 0
}

// Bounds returns the lowest byte and one past the highest byte that count copies touch, relative to the buffer's
// address; both are 0 if the copies have no bytes. It returns ok = false if a bound does not fit 64 bits or count is
// negative.
func (l Layout) Bounds(count int64) (lo, hi int64, ok bool) {
	if count < 0 {
		return 0, 0, false
	}
	if count == 0 || l.prog[HeadSize] == 0 {
		return 0, 0, true
	}
	var a arith
	lo, hi = l.prog[HeadTrueLB], l.prog[HeadTrueUB]
	if last := a.mul(count-1, l.prog[HeadExtent]); last >= 0 {
		hi = a.add(hi, last)
	} else {
		lo = a.add(lo, last)
	}
	return lo, hi, !a.overflow
}
