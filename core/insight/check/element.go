package check

import (
	"cmp"
	"slices"

	"gompirma/core/abi"
	"gompirma/core/datatype"
)

// typedSpan is a range of bytes that consists of elements of one predefined datatype.
type typedSpan struct {
	span
	element uint64 // handle of the predefined datatype
}

// elementOf returns the handle of the predefined type of all elements of datatype h. It returns 0 if h has several
// predefined types.
func (k *rank) elementOf(h uint64) uint64 {
	if t := k.typeOf(h); t != nil && t.elem != nil {
		return uint64(t.elem.Handle)
	}
	return 0
}

// elementsOf returns the bytes of count elements of type h at an address, as ranges that have one predefined type each.
// It returns nil if h has a single predefined type (see elementOf), if the types are unknown, or if there are too many
// ranges.
func (k *rank) elementsOf(address uint64, count int64, h uint64) (all []typedSpan) {
	t := k.typeOf(h)
	if t == nil || t.elem != nil || count <= 0 || t.segments > maxSpans/count {
		return nil
	}
	runs, known := t.signature(count)
	if !known {
		return nil
	}
	i, bytesLeft := 0, int64(0) // bytesLeft: remaining bytes of run i-1
	for at, n := range t.ranges(count, 0) {
		for n > 0 {
			for bytesLeft == 0 {
				if i == len(runs) {
					return nil
				}
				bytesLeft, i = runs[i].n*int64(runs[i].basic.Size), i+1
			}
			step := min(n, bytesLeft)
			low := address + uint64(at)
			all = append(all, typedSpan{span{low, low + uint64(step)}, uint64(runs[i-1].basic.Handle)})
			at, n, bytesLeft = at+step, n-step, bytesLeft-step
		}
	}
	slices.SortFunc(all, func(a, b typedSpan) int { return cmp.Compare(a.low, b.low) })
	return all
}

// typedSpanCount returns the number of ranges of an update whose predefined type is known; 0 if the types are unknown.
func (a *access) typedSpanCount() int {
	if a.element == 0 {
		return len(a.typed)
	}
	return len(a.spans)
}

func (a *access) typedSpanAt(i int) typedSpan {
	if a.element == 0 {
		return a.typed[i]
	}
	return typedSpan{a.spans[i], a.element}
}

// sameElements reports whether two updates agree on the bytes that they share. In both updates, these bytes must belong
// to the same elements, of the same predefined type. Unknown types count as agreement.
func sameElements(a, b *access) bool {
	if a.element != 0 && b.element != 0 && a.element != b.element {
		return false
	}
	for i, k := 0, 0; i < a.typedSpanCount() && k < b.typedSpanCount(); {
		x, y := a.typedSpanAt(i), b.typedSpanAt(k)
		if max(x.low, y.low) < min(x.high, y.high) && !x.sameElements(y) {
			return false
		}
		if x.high < y.high {
			i++
		} else {
			k++
		}
	}
	return true
}

// sameElements reports whether two ranges have the same elements in the bytes that they share: the same type, and the
// same element boundaries. A range begins at the first byte of an element. sameElements does not compare the boundaries
// of elements with gaps.
func (x typedSpan) sameElements(y typedSpan) bool {
	if x.element != y.element {
		return false
	}
	b := datatype.BasicOf(uintptr(x.element))
	if b == nil || b.Size != b.Extent || b.Size == 0 {
		return true
	}
	return (max(x.low, y.low)-min(x.low, y.low))%uint64(b.Size) == 0
}

// onlyReads reports whether an access changes nothing. This includes an accumulate with MPI_NO_OP.
func (a *access) onlyReads() bool {
	return a.kind == reads || a.kind == updates && a.op == abi.MPI_NO_OP
}
