package types

import (
	"iter"
	"sort"
	"unsafe"

	"gompirma/core/datatype"
)

// Pack implements datatype.Pack in Go. It interprets the flattened form of a type, and iterates over the data one
// contiguous part at a time. Tests compare the implementation in C with it.
func Pack(dst []byte, address uintptr, count int64, program []int64, position int64) int64 {
	return each(address, count, program, position, int64(len(dst)), func(memory []byte, at int64) {
		copy(dst[at:], memory)
	})
}

// Unpack implements datatype.Unpack in Go.
func Unpack(address uintptr, count int64, program []int64, position int64, src []byte) int64 {
	return each(address, count, program, position, int64(len(src)), func(memory []byte, at int64) {
		copy(memory, src[at:])
	})
}

// each calls f with each contiguous part of the data, from byte `position` of the packed form on, until f has got
// `limit` bytes. The argument `at` of f is the offset of the part in the packed form, relative to `position`. The
// result is the number of bytes that f has got. each panics for a part outside the bounds of the type.
func each(address uintptr, count int64, p []int64, position, limit int64,
	f func(memory []byte, at int64)) (done int64) {
	lo, hi, last := p[datatype.HeadTrueLB], p[datatype.HeadTrueUB], (count-1)*p[datatype.HeadExtent]
	lo, hi = lo+min(last, 0), hi+max(last, 0)
	first := address + uintptr(lo)
	for offset, n := range Segments(p, count, false, position) {
		if n = min(n, limit-done); n == 0 {
			break
		}
		memory := unsafe.Slice(*(**byte)(unsafe.Pointer(&first)), hi-lo)
		f(memory[offset-lo:offset-lo+n], done)
		done += n
	}
	return done
}

// Segments yields offset and length of the contiguous parts of the data of count copies from the packed position on, in
// typemap order. If the argument `elements` is true, gaps inside pair types belong to the data.
func Segments(program []int64, count int64, elements bool, position int64) iter.Seq2[int64, int64] {
	origin, root := program[datatype.HeadOrigin], program[datatype.HeadRoot]
	if elements {
		origin, root = program[datatype.HeadElemOrigin], program[datatype.HeadElemRoot]
	}
	return func(yield func(offset, n int64) bool) {
		if root == 0 {
			return
		}
		w := walk{program, yield}
		w.repeat(root, count, position, func(i int64) int64 { return origin + i*program[datatype.HeadExtent] })
	}
}

type walk struct {
	program []int64
	yield   func(offset, n int64) bool
}

// node iterates over the bytes of the node whose base is `base`, except for the first `skip` bytes. It returns false if
// the consumer stops.
func (w walk) node(node, base, skip int64) bool {
	kind, size, rest := w.program[node], w.program[node+1], w.program[node+2:]
	switch kind {
	case datatype.NodeBlock:
		return w.yield(base+skip, size-skip)
	case datatype.NodeLoop:
		return w.repeat(rest[2], rest[0], skip, func(i int64) int64 { return base + i*rest[1] })
	case datatype.NodeList:
		return w.repeat(rest[1], rest[0], skip, func(i int64) int64 { return base + rest[2+i] })
	}
	n := int(rest[0])
	disps, prefix, children := rest[1:1+n], rest[1+n:2+2*n], rest[2+2*n:]
	for i := sort.Search(n, func(k int) bool { return prefix[k+1] > skip }); i < n; i++ {
		at, before := base+disps[i], max(skip-prefix[i], 0)
		switch {
		case kind == datatype.NodeSeq:
			if !w.node(children[i], at, before) {
				return false
			}
		case !w.yield(at+before, prefix[i+1]-prefix[i]-before):
			return false
		}
	}
	return true
}

// repeat iterates over n copies of a node; the function `base` returns the base of copy i.
func (w walk) repeat(node, n, skip int64, base func(i int64) int64) bool {
	size := w.program[node+1]
	for i := skip / size; i < n; i++ {
		if !w.node(node, base(i), max(skip-i*size, 0)) {
			return false
		}
	}
	return true
}
