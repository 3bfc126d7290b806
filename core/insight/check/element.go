package check

import (
	"cmp"
	"slices"

	"gompirma/core/abi"
	"gompirma/core/datatype/reference"
)

// typed is bytes that are of one predefined datatype.
type typed struct {
	span
	element uint64 // its handle
}

// elementOf returns the handle of the one predefined type that a type consists of, 0: there are several.
func (k *rank) elementOf(h uint64) uint64 {
	if t := k.typeOf(h); t != nil && t.Elem() != nil {
		return uint64(t.Elem().Handle)
	}
	return 0
}

// elementsOf returns of which predefined types the bytes of count elements of a type at an address are, where those are
// several; nil: nothing is known, since there are too many pieces.
func (k *rank) elementsOf(address uint64, count int64, h uint64) (all []typed) {
	t := k.typeOf(h)
	if t == nil || t.Elem() != nil || count <= 0 || t.Layout().Segments() > mostSpans/count {
		return nil
	}
	runs, known := t.Signature(count, mostRuns)
	if !known {
		return nil
	}
	i, left := 0, int64(0) // bytes of run i - 1
	for at, n := range reference.Segments(t.Program(), count, false, 0) {
		for n > 0 {
			for left == 0 {
				if i == len(runs) {
					return nil
				}
				left, i = runs[i].N*int64(runs[i].Basic.Size), i+1
			}
			some := min(n, left)
			low := address + uint64(at)
			all = append(all, typed{span{low, low + uint64(some)}, uint64(runs[i-1].Basic.Handle)})
			at, n, left = at+some, n-some, left-some
		}
	}
	slices.SortFunc(all, func(a, b typed) int { return cmp.Compare(a.low, b.low) })
	return all
}

// typed returns of which predefined types the bytes of an update are, nil: that is not known.
func (a *access) elements() []typed {
	if a.element == 0 {
		return a.typed
	}
	all := make([]typed, len(a.spans))
	for i, s := range a.spans {
		all[i] = typed{s, a.element}
	}
	return all
}

// sameElements reports whether all bytes that two updates have in common are of one predefined type in both, or not
// known to be of two.
func sameElements(a, b *access) bool {
	if a.element != 0 && b.element != 0 {
		return a.element == b.element
	}
	x, y := a.elements(), b.elements()
	for i, k := 0, 0; i < len(x) && k < len(y); {
		if max(x[i].low, y[k].low) < min(x[i].high, y[k].high) && x[i].element != y[k].element {
			return false
		}
		if x[i].high < y[k].high {
			i++
		} else {
			k++
		}
	}
	return true
}

// onlyReads reports whether an access changes nothing: so an accumulate with MPI_NO_OP does.
func (a *access) onlyReads() bool {
	return a.kind == reads || a.kind == updates && a.op == abi.MPI_NO_OP
}
