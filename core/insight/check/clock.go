package check

import "slices"

// vector says how much of each strand's history something comes after: its events up to a number; of those that it has
// no number for, none. The first strand of each rank has the rank's number.
type vector []uint32

func (v *vector) join(w vector) {
	v.grow(len(w))
	for i, n := range w {
		(*v)[i] = max((*v)[i], n)
	}
}

// grow has v know of at least n strands.
func (v *vector) grow(n int) {
	if n > len(*v) {
		*v = append(*v, make(vector, n-len(*v))...)
	}
}

func (v vector) clone() vector { return slices.Clone(v) }

// before reports whether w comes after all that v does.
func (v vector) before(w vector) bool {
	for i, n := range v {
		if n > 0 && (i >= len(w) || n > w[i]) {
			return false
		}
	}
	return true
}

// moment is an event of a strand.
type moment struct {
	strand int
	at     uint32
}

// before reports whether the event comes before what v is the time of.
func (m moment) before(v vector) bool { return m.strand < len(v) && v[m.strand] >= m.at }
