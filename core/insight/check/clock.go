package check

import "slices"

// vector is a vector clock: for each strand the number of its events that precede; 0 for strands beyond its length. The
// first strand of each rank has the rank's number.
type vector []uint32

func (v *vector) join(w vector) {
	v.grow(len(w))
	for i, n := range w {
		(*v)[i] = max((*v)[i], n)
	}
}

// grow extends v to at least n strands.
func (v *vector) grow(n int) {
	if n > len(*v) {
		*v = append(*v, make(vector, n-len(*v))...)
	}
}

func (v vector) clone() vector { return slices.Clone(v) }

// before reports whether everything in v precedes w.
func (v vector) before(w vector) bool {
	for i, n := range v {
		if n > 0 && (i >= len(w) || n > w[i]) {
			return false
		}
	}
	return true
}

// moment is one event of a strand.
type moment struct {
	strand int
	count  uint32
}

// before reports whether the event precedes v.
func (m moment) before(v vector) bool { return m.strand < len(v) && v[m.strand] >= m.count }
