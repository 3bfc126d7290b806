package check

import (
	"iter"

	"gompirma/core/abi"
	"gompirma/core/datatype"
)

// typemap is a datatype of the recorded program. The checker constructs it from the arguments of the program's calls,
// which have succeeded, so no value exceeds 64 bits.
type typemap struct {
	basic    *datatype.Basic // description of a predefined type; nil for a derived type
	elem     *datatype.Basic // the predefined type of all elements; nil if they differ or there are none
	parts    []part          // in typemap order, if basic is nil
	elements int64           // number of elements of predefined types
	size     int64
	lb, ub   int64
	align    int64
	// the bounds of the data
	low, high int64
	segments  int64 // number of contiguous ranges of bytes; adjacent ones may count as several
	isResized bool  // lb and ub were set explicitly
	isDense   bool  // the data is one range of bytes, in ascending order
}

// part stands for n > 0 copies of a type. The first copy is at displacement `at`, and the copies begin `step` bytes
// apart.
type part struct {
	t           *typemap
	at, n, step int64
}

// basicTypes holds the typemaps of the predefined types by handle.
var basicTypes = map[uint64]*typemap{}

func init() {
	datatype.Predefined(func(t *datatype.Type) {
		b := t.Basic()
		m := &typemap{basic: b, elem: b, elements: 1, size: b.Size, ub: b.Extent, align: b.Align, high: b.End(),
			segments: t.Segments(), isDense: t.Segments() == 1}
		basicTypes[uint64(b.Handle)] = m
	})
}

func (t *typemap) extent() int64 { return t.ub - t.lb }

// newTypemap returns the type that consists of parts.
func newTypemap(parts ...part) *typemap {
	t := &typemap{align: 1}
	lb, ub, denseEnd := int64(0), int64(0), int64(0)
	for _, p := range parts {
		if p.n <= 0 {
			continue
		}
		first, last := p.at+min(0, (p.n-1)*p.step), p.at+max(0, (p.n-1)*p.step)
		if p.t.isResized && !t.isResized {
			t.lb, t.ub, t.isResized = first+p.t.lb, last+p.t.ub, true
		} else if p.t.isResized {
			t.lb, t.ub = min(t.lb, first+p.t.lb), max(t.ub, last+p.t.ub)
		}
		if p.t.elements == 0 {
			continue
		}
		low, high := first+p.t.low, last+p.t.high
		if t.elements == 0 {
			lb, ub, t.low, t.high, t.elem = first+p.t.lb, last+p.t.ub, low, high, p.t.elem
		}
		lb, ub, t.low, t.high = min(lb, first+p.t.lb), max(ub, last+p.t.ub), min(t.low, low), max(t.high, high)
		if t.elem != p.t.elem {
			t.elem = nil
		}
		switch dense := p.isDense(); {
		case !dense:
			t.segments += p.n * p.t.segments
		case t.elements == 0 || !t.isDense || low != denseEnd:
			t.segments++
		}
		t.isDense = p.isDense() && (t.elements == 0 || t.isDense && low == denseEnd)
		denseEnd = high
		t.elements += p.n * p.t.elements
		t.size += p.n * p.t.size
		t.align = max(t.align, p.t.align)
		t.parts = append(t.parts, p)
	}
	if t.elements > 0 && !t.isResized {
		t.lb, t.ub = lb, lb+(ub-lb+t.align-1)/t.align*t.align
	}
	return t
}

func (p *part) isDense() bool { return p.t.isDense && (p.n == 1 || p.step == p.t.size) }

// times returns n consecutive copies of t.
func (t *typemap) times(n int64) *typemap { return newTypemap(part{t, 0, n, t.extent()}) }

// resized returns t with other bounds.
func (t *typemap) resized(lb, extent int64) *typemap {
	r := newTypemap(part{t, 0, 1, 0})
	r.lb, r.ub, r.isResized = lb, lb+extent, true
	return r
}

// blocks returns blocks of t. Block i has length(i) copies of t at displacement disps[i], in units of `unit` bytes.
func (t *typemap) blocks(length func(i int) int64, disps []int64, unit int64) *typemap {
	parts := make([]part, len(disps))
	for i, d := range disps {
		parts[i] = part{t, d * unit, length(i), t.extent()}
	}
	return newTypemap(parts...)
}

// dimension describes which indices of an array dimension belong to a type: `blocks` blocks of `block` indices each,
// `step` indices apart, the first at index `start`. The last block has only `last` indices.
type dimension struct{ size, start, block, blocks, step, last int64 }

// array returns the part of an array of t that the dimensions select, the fastest-varying dimension last.
func (t *typemap) array(dims []dimension, order int64) *typemap {
	inner, extent := t, t.extent()
	for k := range dims {
		d := dims[k]
		if order == abi.MPI_ORDER_C {
			d = dims[len(dims)-1-k]
		}
		row := newTypemap(part{inner, 0, d.block, extent})
		inner = newTypemap(part{row, d.start * extent, d.blocks - 1, d.step * extent},
			part{inner, (d.start + (d.blocks-1)*d.step) * extent, d.last, extent})
		extent *= d.size
	}
	return inner.resized(0, extent)
}

// darray returns the part of a distributed array of t that belongs to a process of a grid.
func (t *typemap) darray(processes, rank int64, sizes, distribs, dargs, grid []int64, order int64) *typemap {
	dims := make([]dimension, len(sizes))
	for i, size := range sizes {
		processes /= max(grid[i], 1)
		coordinate := rank / max(processes, 1)
		rank %= max(processes, 1)
		block := dargs[i]
		switch {
		case distribs[i] == abi.MPI_DISTRIBUTE_NONE:
			block = size
		case block != abi.MPI_DISTRIBUTE_DFLT_DARG:
		case distribs[i] == abi.MPI_DISTRIBUTE_CYCLIC:
			block = 1
		default:
			block = (size-1)/max(grid[i], 1) + 1
		}
		block = max(block, 1)
		d := dimension{size: size, start: block * coordinate, block: block, step: block * grid[i]}
		if d.start < size {
			d.blocks = (size-1-d.start)/max(d.step, 1) + 1
			d.last = min(block, size-d.start-(d.blocks-1)*d.step)
		}
		dims[i] = d
	}
	return t.array(dims, order)
}

// span returns the bounds of the data of count copies.
func (t *typemap) span(count int64) (low, high int64) {
	last := (count - 1) * t.extent()
	return t.low + min(0, last), t.high + max(0, last)
}

// isContiguous returns whether the data of any number of consecutive copies is one range of bytes.
func (t *typemap) isContiguous() bool { return t.isDense && t.extent() == t.size }

// ranges yields offset and length of the ranges of the data of count copies in typemap order, without the first `skip`
// bytes of data. Adjacent ranges may be separate.
func (t *typemap) ranges(count, skip int64) iter.Seq2[int64, int64] {
	return func(yield func(offset, n int64) bool) {
		(&part{t, 0, count, t.extent()}).each(0, skip, yield)
	}
}

// each yields the ranges of a part, without the first `skip` bytes, which are fewer than all. It returns false if the
// consumer stops.
func (p *part) each(base, skip int64, yield func(offset, n int64) bool) bool {
	base += p.at
	if p.isDense() {
		return yield(base+p.t.low+skip, p.n*p.t.size-skip)
	}
	for i := skip / max(p.t.size, 1); i < p.n; i++ {
		if !p.t.each(base+i*p.step, max(skip-i*p.t.size, 0), yield) {
			return false
		}
	}
	return true
}

func (t *typemap) each(base, skip int64, yield func(offset, n int64) bool) bool {
	if t.isDense {
		return yield(base+t.low+skip, t.size-skip)
	}
	if t.basic != nil { // a pair with a gap between value and index
		value := datatype.BasicOf(t.basic.Value).Size
		if skip < value && !yield(base+skip, value-skip) {
			return false
		}
		skip = max(skip-value, 0)
		return yield(base+t.basic.IndexAt+skip, t.size-value-skip)
	}
	for i := range t.parts {
		p := &t.parts[i]
		if all := p.n * p.t.size; skip >= all {
			skip -= all
			continue
		}
		if !p.each(base, skip, yield) {
			return false
		}
		skip = 0
	}
	return true
}

// run is several elements of one predefined type.
type run struct {
	basic *datatype.Basic
	n     int64
}

// signature returns the basic elements of count copies (MPI-5.0 5.1), as runs of elements of the same predefined type.
// ok is false if there are more than maxRuns runs.
func (t *typemap) signature(count int64) (runs []run, ok bool) { return t.runs(nil, count) }

func (t *typemap) runs(runs []run, count int64) ([]run, bool) {
	if t.elem != nil {
		n := count * t.elements
		if k := len(runs); k > 0 && runs[k-1].basic == t.elem {
			runs[k-1].n += n
		} else if n > 0 {
			runs = append(runs, run{t.elem, n})
		}
		return runs, len(runs) <= maxRuns
	}
	ok := true
	for ; count > 0 && len(t.parts) > 0 && ok; count-- {
		for i := 0; i < len(t.parts) && ok; i++ {
			runs, ok = t.parts[i].t.runs(runs, t.parts[i].n)
		}
	}
	return runs, ok
}
