package datatype

// The flattened form of a type is a program: a flat, relocatable []int64 without addresses. It is what the C data path
// interprets (capi/datatype/datatype.h mirrors the head as struct gompi_type) and what describes a target's type to
// another process. A program holds
//
//	head     HeadWords words, in the order of the constants below
//	nodes    one after another; a node refers only to nodes before it, so nothing can be circular
//
// A node describes bytes relative to its base, beginning with the first byte in typemap order at base+0. Reference
// means the index of the node's first word in the program. Packed size is the number of bytes a node yields.
//
//	block    NodeBlock  size                                        size bytes at base
//	loop     NodeLoop   size  count  stride  child                  child at base + i*stride, i < count
//	list     NodeList   size  n  child  disp[n]                     child at base + disp[i]
//	blocks   NodeBlocks size  n  disp[n]  prefix[n+1]               prefix[i+1]-prefix[i] bytes at base + disp[i]
//	seq      NodeSeq    size  n  disp[n]  prefix[n+1]  child[n]     child[i] at base + disp[i]
//
// prefix[i] is the packed size before entry i, prefix[n] the node's. Every node yields at least one byte and every n is
// at least 2. Since each loop and list at least doubles the packed size, and a seq takes in the entries of a child seq
// that holds more than half of it, the depth stays below MaxDepth for any type.
//
// Neighbouring bytes are merged into one block, whatever their element types, so that a copy moves as many bytes at
// once as it can: the program describes bytes. Element types are in the head only, as accumulates need them: Elem is
// the predefined type if all elements of the type are of that one, else 0. Elements of MPI_SHORT_INT, MPI_DOUBLE_INT
// and other pair types have bytes that do not belong to them, so such a type has two roots: HeadRoot describes the
// bytes (packed size HeadSize), HeadElemRoot describes the elements including their gaps (packed size
// HeadElements*HeadElemSize). For all other types with HeadElem set, both are the same node; without HeadElem,
// HeadElemRoot is 0.
const (
	HeadMagic  = iota // Magic
	HeadWords_        // words in the whole program
	HeadFlags         // Flag bits
	HeadElem          // handle of the one predefined element type; 0: several, or none
	// bytes from one element to the next in an array of them (the element's extent); 0 without Elem
	HeadElemSize
	HeadElements   // number of elements of predefined types
	HeadSize       // bytes of data (MPI_Type_size)
	HeadLB         // lower bound
	HeadExtent     // extent: distance of copies
	HeadTrueLB     // lowest byte touched
	HeadTrueUB     // one past the highest byte touched
	HeadDepth      // nodes on the longest path from a root to a block; 0 for an empty type
	HeadSegments   // number of contiguous pieces of one copy
	HeadOrigin     // displacement of the first byte in typemap order, base of Root
	HeadRoot       // reference to the node of all bytes; 0 for an empty type
	HeadElemOrigin // displacement of the first element, base of HeadElemRoot
	HeadElemRoot   // reference to the node of all elements; 0 for an empty type or without Elem
	HeadBlock      // with FlagStrided: bytes of each block
	HeadRepeat     // with FlagStrided: number of blocks
	HeadStride     // with FlagStrided: distance of blocks; 0 if there is one only
	HeadWords      // words of the head
)

// Magic is the first word of every program; it changes with the format.
const Magic = 0x31_45_50_59_54_49_50 // "PITYPE1"

// Bits of HeadFlags.
const (
	// one block, and its copies follow each other without a gap: count*Size bytes at Origin
	FlagContiguous     = 1 << iota
	FlagElemContiguous // the same of HeadElemRoot: count*HeadElements elements at HeadElemOrigin
	FlagStrided        // Repeat blocks of Block bytes, Stride apart, from Origin
	// some byte may be touched twice by one copy; without this flag certainly none is
	FlagOverlap
)

// Kinds of nodes.
const (
	NodeBlock = 1 + iota
	NodeLoop
	NodeList
	NodeBlocks
	NodeSeq
)

// MaxDepth bounds the nodes on a path from a root to a block.
const MaxDepth = 128

// Layout is what a program says of a type; its own and a foreign type share it. The zero value is not valid.
type Layout struct {
	prog []int64
}

// Flag says whether all given flags are set.
func (l Layout) Flag(f int64) bool { return l.prog[HeadFlags]&f == f }

// Size returns the bytes of data of one copy.
func (l Layout) Size() int64 { return l.prog[HeadSize] }

// Segments returns the number of contiguous pieces of one copy.
func (l Layout) Segments() int64 { return l.prog[HeadSegments] }

// Contiguous says whether count copies are count*Size bytes without a gap, beginning at Origin.
func (l Layout) Contiguous() bool { return l.Flag(FlagContiguous) }

// Origin returns the displacement of the first byte in typemap order.
func (l Layout) Origin() int64 { return l.prog[HeadOrigin] }

// Packed returns the bytes of data of count copies; ok is false if that does not fit 64 bits or count is negative.
func (l Layout) Packed(count int64) (n int64, ok bool) {
	var a arith
	n = a.mul(count, l.prog[HeadSize])
	return n, !a.over && count >= 0
}

// Bounds returns the lowest byte and one past the highest byte that count copies touch, relative to the buffer's
// address; both are 0 if they touch none. ok is false if a bound does not fit 64 bits or count is negative.
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
	return lo, hi, !a.over
}
